//! `GET /system/retention`: what is stored, how much of it, and what ends it.

use askama::Template;
use axum::response::Response;
use store::node::tables;

use super::by::{By, Viewer};
use super::count::grouped;
use super::error::ConsoleError;
use super::frame::{Frame, Section};
use super::page::render;
use crate::node::each_cell;

/// What the documentation says of every table; a test compares it with the schema.
const DOCUMENT: &str = include_str!("../../../../../docs/retention.md");

struct Row {
    name: String,
    rows: String,
    size: String,
    grows_with: String,
    ends: String,
}

#[derive(Template)]
#[template(path = "console/retention.html")]
struct Page {
    frame: Frame,
    rows: Vec<Row>,
    total: String,
}

/// The line of the document on a table: what it grows with, and what ends its rows.
fn documented(table: &str) -> Option<(String, String)> {
    let line = DOCUMENT.lines().find_map(|line| line.strip_prefix(&format!("| `{table}` | ")))?;
    let (grows_with, ends) = line.strip_suffix(" |")?.split_once(" | ")?;
    Some((plain(grows_with), plain(ends)))
}

/// The text of a cell without its markup.
fn plain(cell: &str) -> String {
    let mut text = String::new();
    for (at, piece) in cell.split('[').enumerate() {
        // A link keeps its words.
        match piece.split_once("](").and_then(|(words, link)| Some((words, link.split_once(')')?.1))) {
            Some((words, after)) if at > 0 => text.extend([words, after]),
            _ => text.push_str(piece),
        }
    }
    text.replace('`', "")
}

/// So many bytes in words.
pub(super) fn size(bytes: i64) -> String {
    const MIB: i64 = 1024 * 1024;
    match bytes {
        0 => "none".to_owned(),
        ..MIB => "below 1 MiB".to_owned(),
        _ if bytes < 10 * 1024 * MIB => format!("{} MiB", grouped(bytes / MIB)),
        _ => format!("{} GiB", grouped(bytes / (1024 * MIB))),
    }
}

/// The tables of all cells, by name.
fn summed(of_cells: Vec<Vec<tables::Table>>) -> Vec<tables::Table> {
    let mut of_cells = of_cells.into_iter();
    let mut all = of_cells.next().unwrap_or_default();
    for more in of_cells.flatten() {
        if let Some(table) = all.iter_mut().find(|table| table.name == more.name) {
            table.rows += more.rows;
            table.bytes += more.bytes;
        }
    }
    all
}

pub(super) async fn show(by: By<Viewer>) -> Result<Response, ConsoleError> {
    let tables = summed(each_cell::each(&by.app, tables::list).await?);
    let total = size(tables.iter().map(|table| table.bytes).sum());
    let row = |table: tables::Table| {
        let (grows_with, ends) = documented(&table.name).unwrap_or_default();
        Row { rows: grouped(table.rows), size: size(table.bytes), name: table.name, grows_with, ends }
    };
    render(&Page { frame: by.frame(Section::System, "Retention"), rows: tables.into_iter().map(row).collect(), total })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_told_in_plain_words() {
        assert_eq!(documented("warning_day"), Some(("merchants, days and fields with warnings".to_owned(), "after 400 days".to_owned())));
        assert_eq!(documented("nothing"), None);
        assert_eq!(plain("with `a` [link](to.md#there) and [another](x.md)"), "with a link and another");
        assert_eq!([0, 1, 3 << 20, 12 << 30].map(size), ["none", "below 1 MiB", "3 MiB", "12 GiB"]);
    }
}
