//! Writes to standard output, as tables or as JSON, and notes to standard error.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the command line writes here and nowhere else")]

use clap::ValueEnum;
use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

use super::session;

/// The output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A table for people.
    Table,
    /// JSON for scripts.
    Json,
}

/// Prints text unchanged.
pub(super) fn text(text: &str) {
    if !session::keep(|printed| printed.out.push_str(text)) {
        print!("{text}");
    }
}

/// Prints the beginning of a line and flushes it.
#[cfg(feature = "simulators")]
pub(super) fn unfinished(text: &str) {
    print!("{text}");
    // If flushing fails, the text appears with the rest of the line.
    let _ = std::io::Write::flush(&mut std::io::stdout());
}

/// Prints one line.
pub(super) fn line(line: &str) {
    text(&format!("{line}\n"));
}

/// Prints a note beside the output, which stays readable for scripts. An empty note is not printed.
pub(super) fn note(note: &str) {
    if !note.is_empty() && !session::keep(|printed| printed.notes.extend([note, "\n"])) {
        eprintln!("{note}");
    }
}

/// Prints a list: a table with `headers` and a row per item, or a JSON array. An empty table prints `empty` instead.
pub(super) fn list<T: Serialize>(
    format: Format,
    items: &[T],
    empty: &str,
    headers: &[&str],
    row: impl Fn(&T) -> Vec<String>,
) -> anyhow::Result<()> {
    match format {
        Format::Json => line(&serde_json::to_string_pretty(items)?),
        Format::Table if items.is_empty() => line(empty),
        Format::Table => {
            let mut table = Table::new();
            table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled).set_header(headers);
            table.add_rows(items.iter().map(row));
            for row in table.lines() {
                line(row.strip_prefix(' ').unwrap_or(&row).trim_end());
            }
        }
    }
    Ok(())
}

/// Prints one object: a line per field, with a dash for null, or a JSON object.
pub(super) fn one<T: Serialize>(format: Format, item: &T) -> anyhow::Result<()> {
    let value = serde_json::to_value(item)?;
    match (format, value.as_object()) {
        (Format::Table, Some(fields)) => {
            let width = fields.keys().map(String::len).max().unwrap_or_default();
            for (name, value) in fields {
                let value = match value {
                    serde_json::Value::Null => "-".to_owned(),
                    serde_json::Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                line(&format!("{name:width$}  {value}"));
            }
        }
        _ => line(&serde_json::to_string_pretty(&value)?),
    }
    Ok(())
}
