//! `backhaul deliverers`: the processes that deliver, with their load.

use serde::Serialize;
use store::messages::health;

use crate::app::App;
use crate::cli::output::{self, Format};
use crate::delivery::LEASE_TERM;

#[derive(Serialize)]
struct DelivererOut {
    process: String,
    buckets: i64,
    lease_age_seconds: Option<f64>,
    calls: Option<i32>,
    past_due: i64,
    paused_endpoints: i64,
}

pub(in crate::cli) async fn run(app: &App, format: Format) -> anyhow::Result<()> {
    let rows: Vec<DelivererOut> = health::deliverers(app.cell(), LEASE_TERM.as_secs_f64(), app.now())
        .await?
        .into_iter()
        .map(|deliverer| DelivererOut {
            process: match (deliverer.name, deliverer.id) {
                (Some(name), _) => name,
                (None, Some(id)) => id.to_string(),
                (None, None) => "nobody".to_owned(),
            },
            buckets: deliverer.buckets,
            lease_age_seconds: deliverer.lease_age_seconds,
            calls: deliverer.calls,
            past_due: deliverer.past_due,
            paused_endpoints: deliverer.paused,
        })
        .collect();
    let empty = "No process delivers; start `backhaul serve`.";
    output::list(format, &rows, empty, &["PROCESS", "BUCKETS", "LEASE AGE", "CALLS", "PAST DUE", "PAUSED ENDPOINTS"], |row| {
        vec![
            row.process.clone(),
            row.buckets.to_string(),
            row.lease_age_seconds.map(|age| format!("{age:.1} s")).unwrap_or_default(),
            row.calls.map(|calls| calls.to_string()).unwrap_or_default(),
            row.past_due.to_string(),
            row.paused_endpoints.to_string(),
        ]
    })
}
