//! Writes to standard output, as tables or as JSON, and notes to standard error.
//!
//! Much of what is written comes from merchants' systems and from callers, and a terminal obeys some characters. So nothing is
//! written but through [`plain`], and nothing is written elsewhere.
//!
//! Whoever reads may leave before the end, such as `head`, and a terminal may be closed. Then the rest is dropped, and the command
//! goes on to its end.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::sync::OnceLock;

use clap::ValueEnum;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::Notify;

use super::table::{self, View};
use super::{pager, session};
use crate::http::operator_api::Screen;

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

/// The colours of tables and of `backhaul dev`.
const COLOURS: [&str; 6] = ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m"];

/// The same, with our own colours in place.
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

/// The first failure to write to standard output. Nothing is written any more after it.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Wakes a command without an end when nobody can read any more.
static NOBODY_READS: Notify = Notify::const_new();

/// Writes to standard output, up to the first failure.
fn write_out(text: &str) {
    if LOST.get().is_some() {
        return;
    }
    let mut out = io::stdout().lock();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        let _ = LOST.set(error);
        NOBODY_READS.notify_one();
    }
}

/// Writes a line to standard error. If that is closed, there is nobody to tell.
fn write_error(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// The reason that some of the output is missing. A reader who left had enough, which is no failure.
pub(super) fn lost() -> Option<&'static io::Error> {
    LOST.get().filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
}

/// Waits until nobody can read any more.
pub(super) async fn nobody_reads() {
    NOBODY_READS.notified().await;
}

/// Prints text.
pub(super) fn text(text: &str) {
    let text = plain(text);
    if !session::keep(|printed| printed.out.push_str(&text)) {
        write_out(&text);
    }
}

/// Prints what a command printed elsewhere, with its colours.
pub(super) fn received(text: &str) {
    let shown = coloured(text);
    if !pager::page(&shown, shown.lines().count()) {
        write_out(&shown);
    }
}

/// Prints text with the colours of `backhaul dev`.
#[cfg(feature = "simulators")]
pub(super) fn painted(text: &str) {
    write_out(&coloured(text));
}

/// Prints the beginning of a line with colours, which the next line replaces.
#[cfg(feature = "simulators")]
pub(super) fn unfinished(text: &str) {
    write_out(&format!("{}\r", coloured(text)));
}

/// Prints a line to standard error, for whoever watches at a terminal.
pub(super) fn progress(line: &str) {
    write_error(&format!("{}\n", plain(line)));
}

/// Prints a question to standard error, and leaves the rest of the line for the answer.
pub(super) fn ask(question: &str) {
    write_error(&format!("{} ", plain(question)));
}

/// Prints that a command has done its work: a sentence, or a JSON object with it as `message`.
pub(super) fn said(format: Format, sentence: &str) -> anyhow::Result<()> {
    match format {
        Format::Table => line(sentence),
        Format::Json => line(&serde_json::to_string_pretty(&serde_json::json!({ "message": sentence }))?),
    }
    Ok(())
}

/// Prints one line.
pub(super) fn line(line: &str) {
    text(&format!("{line}\n"));
}

/// Prints a sentence for people, in lines that fit the terminal.
pub(super) fn sentence(text: &str) {
    let room = session::view().map_or(usize::MAX, |view| view.screen.columns);
    table::wrap_words(text, room).iter().for_each(|part| line(part));
}

/// Prints a note beside the output, which stays readable for scripts. An empty note is not printed.
pub(super) fn note(note: &str) {
    let note = plain(note);
    if !note.is_empty() && !session::keep(|printed| printed.notes.extend([&note, "\n"])) {
        write_error(&format!("{note}\n"));
    }
}

/// An error with its causes, each told once: some errors repeat their cause.
pub(super) fn told(error: &anyhow::Error) -> String {
    error
        .chain()
        .map(ToString::to_string)
        .reduce(|told, cause| if told.contains(&cause) { told } else { format!("{told}: {cause}") })
        .unwrap_or_default()
}

/// A number of things in words: `1 message`, `2 messages`.
pub(super) fn counted<N: std::fmt::Display + PartialEq + From<u8> + Copy>(count: N, thing: &str) -> String {
    let end = if count == N::from(1) { "" } else { "s" };
    format!("{count} {thing}{end}")
}

/// A page of a list, as everywhere in the APIs.
#[derive(Serialize)]
struct Listed<'a, T> {
    items: &'a [T],
    /// The cursor of the next page; `None` on the last one.
    next: Option<&'a str>,
}

/// Prints a whole list: a table with `headers` and a row per item, or JSON. An empty table prints `empty` instead.
pub(super) fn list<T: Serialize>(
    format: Format,
    items: &[T],
    empty: &str,
    headers: &[&str],
    row: impl Fn(&T) -> Vec<String>,
) -> anyhow::Result<()> {
    page(format, items, None, empty, headers, row)
}

/// Prints a page of a list, and the cursor with which the `next` one begins.
pub(super) fn page<T: Serialize>(
    format: Format,
    items: &[T],
    next: Option<&str>,
    empty: &str,
    headers: &[&str],
    row: impl Fn(&T) -> Vec<String>,
) -> anyhow::Result<()> {
    match format {
        Format::Json => line(&serde_json::to_string_pretty(&Listed { items, next })?),
        Format::Table if items.is_empty() => line(empty),
        Format::Table => {
            let lines = table_lines(items, headers, row, session::view());
            let shown = coloured(&(lines.join("\n") + "\n"));
            if !session::keep(|printed| printed.out.push_str(&shown)) && !pager::page(&shown, lines.len()) {
                write_out(&shown);
            }
        }
    }
    if let (Some(next), Format::Table) = (next, format) {
        line(&format!("There may be more. To continue, add --cursor {next}"));
    }
    Ok(())
}

/// A table with `headers` and a row per item, without colours.
pub(super) fn table<T>(items: &[T], headers: &[&str], row: impl Fn(&T) -> Vec<String>) -> String {
    let view = session::view().map(|view| View { screen: Screen { coloured: false, ..view.screen }, ..view });
    table_lines(items, headers, row, view).join("\n") + "\n"
}

fn table_lines<T>(items: &[T], headers: &[&str], row: impl Fn(&T) -> Vec<String>, view: Option<View>) -> Vec<String> {
    // Escaped here already, so that the columns are as wide as what is shown.
    let rows = items.iter().map(|item| row(item).iter().map(|cell| plain(cell).into_owned()).collect()).collect();
    table::lines(headers, rows, view.as_ref())
}

/// Prints one object: a line per field, with a dash for null and a table for a list of objects, or a JSON object.
pub(super) fn one<T: Serialize>(format: Format, item: &T) -> anyhow::Result<()> {
    let value = serde_json::to_value(item)?;
    if format == Format::Json || !value.is_object() {
        line(&serde_json::to_string_pretty(&value)?);
        return Ok(());
    }
    let (mut lines, mut tables) = (Vec::new(), Vec::new());
    spread("", value, &mut lines, &mut tables);
    facts(&lines);
    for (name, rows) in tables {
        line(&format!("\n{name}"));
        let headers: Vec<&str> =
            rows.first().and_then(Value::as_object).into_iter().flat_map(|row| row.keys().map(String::as_str)).collect();
        let upper: Vec<String> = headers.iter().map(|header| header.replace('_', " ").to_uppercase()).collect();
        let upper: Vec<&str> = upper.iter().map(String::as_str).collect();
        text(&table(&rows, &upper, |row| headers.iter().map(|header| cell(row.get(header).unwrap_or(&Value::Null))).collect()));
    }
    Ok(())
}

/// Prints a line per fact, in this order: its name and its value.
pub(super) fn facts<N: AsRef<str>>(facts: &[(N, String)]) {
    let width = facts.iter().map(|(name, _)| name.as_ref().len()).max().unwrap_or_default();
    // Long values go on below their beginning.
    let room = session::view().map_or(usize::MAX, |view| view.screen.columns.saturating_sub(width + 2).max(20));
    for (name, value) in facts {
        let mut wrapped = table::wrap_words(&plain(value), room).into_iter();
        line(&format!("{:width$}  {}", name.as_ref(), wrapped.next().unwrap_or_default()));
        wrapped.for_each(|more| line(&format!("{:width$}  {more}", "")));
    }
}

/// Spreads an object into lines by the names of its fields, and lists of objects into tables.
fn spread(above: &str, value: Value, lines: &mut Vec<(String, String)>, tables: &mut Vec<(String, Vec<Value>)>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let under = |name: &str| if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") };
            for (name, value) in fields {
                spread(&under(&name), value, lines, tables);
            }
        }
        Value::Array(rows) if rows.first().is_some_and(Value::is_object) => tables.push((above.to_owned(), rows)),
        other => lines.push((above.to_owned(), cell(&other))),
    }
}

/// A value on one line: a dash if there is none.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(values) if values.is_empty() => "-".to_owned(),
        Value::Array(values) if !values.iter().any(|value| value.is_object() || value.is_array()) => {
            values.iter().map(cell).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
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
