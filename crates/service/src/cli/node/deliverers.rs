//! `backhaul deliverers`: the processes that deliver, with their load.

use serde::Serialize;
use store::messages::health;

use crate::app::App;
use crate::cli::output::{self, Format};
use crate::delivery::LEASE_TERM;
use crate::node::each_cell;

#[derive(Serialize)]
struct DelivererOut {
    /// The cell that it delivers for, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    cell: Option<String>,
    process: String,
    buckets: i64,
    lease_age_seconds: Option<f64>,
    calls: Option<i32>,
    past_due: i64,
    paused_endpoints: i64,
}

pub(in crate::cli) async fn run(app: &App, format: Format) -> anyhow::Result<()> {
    let found = each_cell::each(app, |store| health::deliverers(store, LEASE_TERM.as_secs_f64(), app.now())).await?;
    let in_cells = app.has_several_cells();
    let rows: Vec<DelivererOut> = each_cell::placed(app.cells(), found)
        .into_iter()
        .flatten()
        .map(|(cell, deliverer)| DelivererOut {
            cell: in_cells.then(|| cell.name().to_owned()),
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
    let headers = ["CELL", "PROCESS", "BUCKETS", "LEASE AGE", "CALLS", "PAST DUE", "PAUSED ENDPOINTS"];
    let headers = headers.get(usize::from(!in_cells)..).unwrap_or_default();
    output::list(format, &rows, empty, headers, |row| {
        let shown = [
            row.process.clone(),
            row.buckets.to_string(),
            row.lease_age_seconds.map(|age| format!("{age:.1} s")).unwrap_or_default(),
            row.calls.map(|calls| calls.to_string()).unwrap_or_default(),
            row.past_due.to_string(),
            row.paused_endpoints.to_string(),
        ];
        row.cell.clone().into_iter().chain(shown).collect()
    })
}
