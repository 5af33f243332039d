//! Faults and warnings of orders, as text in a table.

use serde_json::Value;

/// The faults or warnings of a row, one per line.
pub(super) fn faults_text(list: &Value) -> String {
    let word = |entry: &Value, name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let lines = list.as_array().into_iter().flatten().map(|entry| format!("{}: {}", word(entry, "field"), word(entry, "message")));
    lines.collect::<Vec<_>>().join("\n")
}
