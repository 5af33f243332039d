//! The plans that PostgreSQL reports for the statements it has run.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use sqlx::{AssertSqlSafe, PgConnection};
use tracing::field::{Field, Visit};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt as _};

/// From now on, every new connection to `database` is sent the plan of each statement it runs.
pub async fn switch_on(connection: &mut PgConnection, database: &str) {
    let settings = [
        ("session_preload_libraries", "auto_explain"),
        ("auto_explain.log_min_duration", "0"),
        ("auto_explain.log_analyze", "on"),
        ("auto_explain.log_buffers", "on"),
        ("auto_explain.log_timing", "off"),
        ("auto_explain.log_format", "json"),
        ("auto_explain.log_level", "notice"),
    ];
    for (name, value) in settings {
        let setting = AssertSqlSafe(format!("alter database {database} set {name} = '{value}'"));
        sqlx::raw_sql(setting).execute(&mut *connection).await.unwrap();
    }
}

/// Collects the plans that are sent to the connections of this thread.
pub struct Explained {
    plans: Arc<Mutex<Vec<Plan>>>,
    _guard: DefaultGuard,
}

impl Explained {
    pub fn listen() -> Self {
        let plans: Arc<Mutex<Vec<Plan>>> = Arc::default();
        let guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(PlanCollector(Arc::clone(&plans))));
        Self { plans, _guard: guard }
    }

    /// The plans since the last call, without those of the statement that every connection starts with.
    pub fn take(&self) -> Vec<Plan> {
        let mut plans = std::mem::take(&mut *self.plans.lock().unwrap());
        plans.retain(|plan| !plan.0["Query Text"].as_str().unwrap().contains("note_system"));
        plans
    }
}

struct PlanCollector(Arc<Mutex<Vec<Plan>>>);

impl<S: Subscriber> Layer<S> for PlanCollector {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == "sqlx::postgres::notice" {
            let mut notice = Notice::default();
            event.record(&mut notice);
            self.0.lock().unwrap().extend(notice.0.split_once("plan:\n").map(|(_, plan)| Plan(serde_json::from_str(plan).unwrap())));
        }
    }
}

/// The text of a notice.
#[derive(Default)]
struct Notice(String);

impl Visit for Notice {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            value.clone_into(&mut self.0);
        }
    }
}

/// Stands in for an index where a table is read in full.
pub const ALL: &str = "all";

/// The plan of a statement that was run.
pub struct Plan(Value);

impl Plan {
    fn nodes(&self) -> Vec<&Value> {
        let mut nodes = vec![&self.0["Plan"]];
        let mut at = 0;
        while let Some(node) = nodes.get(at) {
            nodes.extend(node["Plans"].as_array().into_iter().flatten());
            at += 1;
        }
        nodes
    }

    /// The scans, each as `index of table`. A partition counts as its table. Small tables that belong to no merchant are
    /// left out.
    pub fn scans(&self) -> BTreeSet<String> {
        let scan = |node: &&Value| {
            let kind = node["Node Type"].as_str().unwrap();
            let table = node["Relation Name"].as_str().filter(|_| kind.ends_with("Scan"))?;
            // A bitmap is built from an index by the node below.
            let bitmap = node["Plans"][0]["Index Name"].as_str().filter(|_| kind == "Bitmap Heap Scan");
            let index = node["Index Name"].as_str().or(bitmap).unwrap_or(ALL);
            let scan = format!("{index} of {table}");
            (!["delivery_bucket", "deliverer", "installation", "merchant"].contains(&table)).then(|| without_day(&scan))
        };
        self.nodes().iter().filter_map(scan).collect()
    }

    /// The largest number of rows that were sorted, or were expected to be.
    pub fn most_sorted(&self) -> u64 {
        let sorts = self.nodes().into_iter().filter(|node| node["Node Type"].as_str().unwrap().ends_with("Sort"));
        sorts.map(|node| whole(&node["Plan Rows"]).max(whole(&node["Actual Rows"]))).max().unwrap_or(0)
    }

    /// True for a plan made without knowing the values: a condition still names a parameter.
    pub fn is_generic(&self) -> bool {
        let named = |node: &&Value| node["Index Cond"].as_str().is_some_and(|condition| condition.contains("<= $"));
        self.nodes().iter().any(named)
    }

    /// The number of pages touched.
    pub fn pages(&self) -> u64 {
        ["Shared Hit Blocks", "Shared Read Blocks"].iter().map(|name| whole(&self.0["Plan"][*name])).sum()
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.0)
    }
}

/// A count, which newer versions write with decimals.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
fn whole(value: &Value) -> u64 {
    value.as_f64().unwrap_or(0.0) as u64
}

/// Turns `message_20260301_pkey` into `message_pkey`.
fn without_day(text: &str) -> String {
    let word = |word: &str| word.split('_').filter(|part| part.parse::<u32>().is_err()).collect::<Vec<_>>().join("_");
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}
