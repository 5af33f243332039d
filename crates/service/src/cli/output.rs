//! How commands write to standard output.
#![expect(clippy::print_stdout, reason = "this is where the command line writes")]

use clap::ValueEnum;
use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

/// For people or for scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A table for people.
    Table,
    /// JSON for scripts.
    Json,
}

/// Text as it is.
pub(super) fn text(text: &str) {
    print!("{text}");
}

/// The beginning of a line, which is shown before it ends.
pub(super) fn unfinished(text: &str) {
    print!("{text}");
    // What cannot be shown now is shown with the rest.
    let _ = std::io::Write::flush(&mut std::io::stdout());
}

/// One line for people.
pub(super) fn line(line: &str) {
    println!("{line}");
}

/// A list: a table with `headers`, a row per item; or a JSON array. An empty table says so in the words of `empty`.
pub(super) fn list<T: Serialize>(
    format: Format,
    items: &[T],
    empty: &str,
    headers: &[&str],
    row: impl Fn(&T) -> Vec<String>,
) -> anyhow::Result<()> {
    match format {
        Format::Json => println!("{}", serde_json::to_string_pretty(items)?),
        Format::Table if items.is_empty() => println!("{empty}"),
        Format::Table => {
            let mut table = Table::new();
            table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled).set_header(headers);
            table.add_rows(items.iter().map(row));
            for line in table.lines() {
                println!("{}", line.strip_prefix(' ').unwrap_or(&line).trim_end());
            }
        }
    }
    Ok(())
}

/// One thing: its fields below each other, a dash where there is nothing; or a JSON object.
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
                println!("{name:width$}  {value}");
            }
        }
        _ => println!("{}", serde_json::to_string_pretty(&value)?),
    }
    Ok(())
}
