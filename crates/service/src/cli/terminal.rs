//! The terminal of this process: its size, and whether it shows colours.

use std::io::{IsTerminal as _, stdout};

use crate::http::operator_api::Screen;

/// The terminal that somebody looks at; none if the output goes elsewhere. `COLUMNS` goes before what the terminal says.
pub(super) fn screen(utc: bool) -> Option<Screen> {
    let columns = variable("COLUMNS").and_then(|columns| columns.parse().ok());
    let columns = columns.or(size().map(|(columns, _)| columns))?;
    Some(Screen { columns, utc, coloured: has_colours() })
}

/// The rows of the terminal.
pub(super) fn rows() -> Option<usize> {
    size().map(|(_, rows)| rows)
}

fn size() -> Option<(usize, usize)> {
    let size = rustix::termios::tcgetwinsize(stdout()).ok()?;
    Some((usize::from(size.ws_col), usize::from(size.ws_row))).filter(|(columns, rows)| *columns > 0 && *rows > 0)
}

/// Whether the terminal shows colours, and nobody minds them (no-color.org).
fn has_colours() -> bool {
    let is_unwanted = variable("NO_COLOR").is_some_and(|no| !no.is_empty()) || variable("TERM").is_some_and(|term| term == "dumb");
    stdout().is_terminal() && !is_unwanted
}

/// A variable of the environment that is about the terminal, and no setting.
#[expect(clippy::disallowed_methods, reason = "these variables are about the terminal, and no settings")]
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
