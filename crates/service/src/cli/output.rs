//! Writes to standard output, as tables or as JSON, and notes to standard error.
//!
//! Much of what is written comes from merchants' systems and from callers, and a terminal obeys some characters. So nothing is
//! written but through [`plain`], and nothing is written elsewhere.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the command line writes here and nowhere else")]

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Write as _;

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

/// True for a character that a terminal obeys or that changes the order of others. Ends of lines are not among them.
fn is_order(letter: char) -> bool {
    letter != '\n' && (letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
}

/// The text with every character escaped that a terminal obeys. They are written as in JSON, where they mean the same.
fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(is_order) {
        return text.into();
    }
    let mut plain = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_order(letter) {
            let _ = write!(plain, "\\u{:04x}", u32::from(letter));
        } else {
            plain.push(letter);
        }
    }
    plain.into()
}

/// The colours of `backhaul dev`.
#[cfg(feature = "simulators")]
pub(super) const COLOURS: [&str; 5] = ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[33m"];

/// The same, with the colours of `backhaul dev` in place.
#[cfg(feature = "simulators")]
fn coloured(mut text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    while let Some(at) = text.find('\x1b') {
        let (before, rest) = text.split_at(at);
        shown.push_str(&plain(before));
        let colour = COLOURS.into_iter().find(|colour| rest.starts_with(colour));
        shown.push_str(colour.unwrap_or("\\u001b"));
        text = rest.get(colour.map_or(1, str::len)..).unwrap_or_default();
    }
    shown + &plain(text)
}

/// Prints text.
pub(super) fn text(text: &str) {
    let text = plain(text);
    if !session::keep(|printed| printed.out.push_str(&text)) {
        print!("{text}");
    }
}

/// Prints text with the colours of `backhaul dev`.
#[cfg(feature = "simulators")]
pub(super) fn painted(text: &str) {
    print!("{}", coloured(text));
}

/// Prints the beginning of a line with colours, which the next line replaces.
#[cfg(feature = "simulators")]
pub(super) fn unfinished(text: &str) {
    print!("{}\r", coloured(text));
    // If flushing fails, the text appears with the rest of the line.
    let _ = std::io::stdout().flush();
}

/// Prints a line to standard error, for whoever watches at a terminal.
pub(super) fn progress(line: &str) {
    eprintln!("{}", plain(line));
}

/// Prints a question to standard error, and leaves the rest of the line for the answer.
pub(super) fn ask(question: &str) -> std::io::Result<()> {
    eprint!("{} ", plain(question));
    std::io::stderr().flush()
}

/// Prints one line.
pub(super) fn line(line: &str) {
    text(&format!("{line}\n"));
}

/// Prints a note beside the output, which stays readable for scripts. An empty note is not printed.
pub(super) fn note(note: &str) {
    let note = plain(note);
    if !note.is_empty() && !session::keep(|printed| printed.notes.extend([&note, "\n"])) {
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
            // Escaped here already, so that the columns are as wide as what is shown.
            table.add_rows(items.iter().map(|item| row(item).iter().map(|cell| plain(cell).into_owned()).collect::<Vec<_>>()));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_gives_a_terminal_orders() {
        assert_eq!(plain("one\ntwo äöü"), "one\ntwo äöü");
        assert_eq!(plain("a\x1b[2J\r\u{9b}m\u{7f}\u{202e}b"), "a\\u001b[2J\\u000d\\u009bm\\u007f\\u202eb");
        for letter in ('\0'..='\u{ffff}').filter(|letter| letter.is_control() && *letter != '\n') {
            assert!(!plain(&letter.to_string()).contains(letter), "{letter:?}");
        }
    }

    #[test]
    fn escaped_json_means_the_same() {
        let value = serde_json::json!({ "subject": "\x1b[2J\u{9b}\u{202e}" });
        let read: serde_json::Value = serde_json::from_str(&plain(&value.to_string())).expect("JSON");
        assert_eq!(read, value);
    }

    #[test]
    fn only_our_own_colours_are_shown() {
        assert_eq!(coloured("\x1b[1ma\x1b[0m \x1b[2J\x1b]0;x\x07"), "\x1b[1ma\x1b[0m \\u001b[2J\\u001b]0;x\\u0007");
    }
}
