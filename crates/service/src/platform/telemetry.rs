//! Logs on standard output: one line for every request that failed, and another for every internal error. Successes are counted
//! in metrics, and logged at debug level only.
//!
//! Our own code never logs personal data. Dependencies cannot know what is personal (a protocol library prints headers at TRACE),
//! so they never log below INFO.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

use crate::platform::config::{Log, LogFormat};

/// The crates of this project.
const OWN: [&str; 5] = ["backhaul", "domain", "sandbox", "store", "wire"];

/// The filter for `level`, one of the five level names. Security events are always logged.
#[must_use]
pub fn filter(level: &str) -> EnvFilter {
    let others = match level {
        "error" | "warn" => level,
        _ => "info",
    };
    let own: Vec<String> = OWN.iter().map(|name| format!("{name}={level}")).collect();
    EnvFilter::new(format!("{others},security=info,{}", own.join(",")))
}

/// Starts logging, once per process.
pub fn start(log: &Log) {
    start_with(log, filter(&log.level));
}

/// Starts logging warnings and errors only, once per process: for somebody at a terminal who wants to read something else there.
pub fn start_quietly(log: &Log) {
    start_with(log, EnvFilter::new("warn"));
}

fn start_with(log: &Log, filter: EnvFilter) {
    // A line that cannot be written is lost. Saying so on standard error would panic if that is closed too.
    let lines = tracing_subscriber::fmt().with_env_filter(filter).log_internal_errors(false);
    match log.format {
        LogFormat::Json => lines.json().flatten_event(true).with_current_span(true).with_span_list(false).init(),
        LogFormat::Text => lines.with_ansi(std::io::stdout().is_terminal()).compact().init(),
    }
}
