//! The settings of a session. They are sent as the first statement of every connection, because a pooler between the service
//! and the database refuses settings that it does not know in the start-up message.

use std::fmt::Write as _;
use std::time::Duration;

/// The planner's settings for the delivery engine. Its hot table is normally almost empty, and a plan made for an empty table
/// is disastrous in a burst. So each statement is planned when it runs, using indexes only.
pub(crate) const ENGINE_PLANS: [(&str, &str); 6] = [
    ("plan_cache_mode", "force_custom_plan"),
    ("jit", "off"),
    ("enable_seqscan", "off"),
    ("enable_bitmapscan", "off"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
];

/// The planner's settings for flows. What is waiting and what was just added comes and goes faster than the statistics follow, and a plan
/// that was made when a table was empty is kept. So no table that has an index is read as a whole.
pub(crate) const FLOW_PLANS: [(&str, &str); 2] = [("jit", "off"), ("enable_seqscan", "off")];

/// The planner's settings for reading due messages: those of the engine, but planned only once.
pub(crate) const READER_PLANS: [(&str, &str); 6] = [
    ("plan_cache_mode", "force_generic_plan"),
    ("jit", "off"),
    ("enable_seqscan", "off"),
    ("enable_bitmapscan", "off"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
];

/// The planner's settings for reading the feed. A page is the start of an index range, so nothing needs sorting. The query
/// names a table with many partitions, so it is planned only once.
pub const FEED_PLANS: [(&str, &str); 5] = [
    ("plan_cache_mode", "force_generic_plan"),
    ("jit", "off"),
    ("enable_seqscan", "off"),
    ("enable_bitmapscan", "off"),
    ("enable_sort", "off"),
];

/// Lets the server notice within a minute that our host has vanished, and end its side of the connection.
const KEEPALIVE: [(&str, &str); 4] =
    [("tcp_keepalives_idle", "15"), ("tcp_keepalives_interval", "5"), ("tcp_keepalives_count", "3"), ("tcp_user_timeout", "30000")];

/// Notes the database system. The function exists in the schema from the first migration on. Only a version that knew no cells goes by it,
/// so nothing is noted at the node of a cluster that holds a cell (`crates/store/src/placement.rs`), where many connections begin at once
/// when a cell has moved.
const NOTE_SYSTEM: &str = "do $$ begin \
    if current_setting('backhaul.path', true) is null and to_regprocedure('note_system()') is not null then perform note_system(); end if; \
    end $$";

/// The first statement of a connection, one round trip for all of it.
pub(crate) fn statement(statement: Duration, lock: Duration, plans: &[(&str, &str)]) -> String {
    format!("{}; {NOTE_SYSTEM}", settings(statement, lock, plans))
}

/// The first statement of a connection to a server that does not hold the cell.
pub(crate) fn settings(statement: Duration, lock: Duration, plans: &[(&str, &str)]) -> String {
    let millis = |time: Duration| format!("{}ms", time.as_millis());
    let (statement, lock, idle) = (millis(statement), millis(lock), millis(statement * 2));
    let limits = [("statement_timeout", statement.as_str()), ("lock_timeout", &lock), ("idle_in_transaction_session_timeout", &idle)];
    let mut settings = String::new();
    for (name, value) in limits.iter().chain(&KEEPALIVE).chain(plans) {
        let comma = if settings.is_empty() { "" } else { ", " };
        let _ = write!(settings, "{comma}set_config('{name}', '{value}', false)");
    }
    format!("select {settings}")
}
