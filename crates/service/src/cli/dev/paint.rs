//! How `backhaul dev` looks: bold and colours on a terminal, plain text everywhere else.

use std::io::{self, IsTerminal as _};

use crate::cli::output;
use crate::clock::Clock;

/// Puts colours around text, where they can be seen.
#[derive(Clone, Copy)]
pub(super) struct Paint {
    on: bool,
}

impl Paint {
    /// Colours for a terminal whose user has not asked to be spared them (`NO_COLOR`).
    pub(super) fn of_stdout() -> Self {
        let spared = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { on: io::stdout().is_terminal() && !spared }
    }

    pub(super) fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub(super) fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    pub(super) fn good(self, text: &str) -> String {
        self.wrap("32", text)
    }

    pub(super) fn odd(self, text: &str) -> String {
        self.wrap("33", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Shows what is being started, and how long each took.
pub(super) struct Steps {
    pub(super) paint: Paint,
    pub(super) clock: Clock,
}

impl Steps {
    /// Does `work`, and says so: on a terminal before it is done, and with its time when it is.
    pub(super) async fn take<T>(&self, what: &str, work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
        let Self { paint, clock } = self;
        if paint.on {
            output::unfinished(&format!("  {} {what} …", paint.dim("·")));
        }
        let begun = clock.uptime();
        let done = work.await;
        let seconds = format!("{:.1} s", clock.uptime().saturating_sub(begun).as_secs_f64());
        let back = if paint.on { "\r" } else { "" };
        let (sign, end) = match &done {
            Ok(_) => (paint.good(if paint.on { "✓" } else { "-" }), paint.dim(&seconds)),
            Err(_) => (paint.odd(if paint.on { "✗" } else { "-" }), paint.odd("failed")),
        };
        output::line(&format!("{back}  {sign} {what} … {end}"));
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_for_a_terminal_is_plain() {
        let plain = Paint { on: false };
        assert_eq!([plain.bold("a"), plain.dim("b"), plain.good("c"), plain.odd("d")].concat(), "abcd");
        assert_eq!(Paint { on: true }.bold("a"), "\x1b[1ma\x1b[0m");
    }
}
