//! Long tables are shown by a pager, so that their beginning does not scroll away.

use std::io::{IsTerminal as _, Write as _};
use std::process::{Command, Stdio};

use super::terminal;

/// Shows the text by the program `PAGER`, or `less`, if it has more lines than the terminal. Returns whether it did.
pub(super) fn page(text: &str, lines: usize) -> bool {
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() || terminal::rows().is_none_or(|rows| lines < rows) {
        return false;
    }
    let own = terminal::variable("PAGER").filter(|pager| !pager.trim().is_empty());
    let mut words = own.as_deref().unwrap_or("less -FRX").split_whitespace();
    let Some(program) = words.next() else { return false };
    let Ok(mut pager) = Command::new(program).args(words).stdin(Stdio::piped()).spawn() else { return false };
    // Whoever has seen enough closes the pager, and the rest goes nowhere.
    let _ = pager.stdin.take().map(|mut stdin| stdin.write_all(text.as_bytes()));
    let _ = pager.wait();
    true
}
