//! The colours of `backhaul dev`'s output: used on a terminal only.

use std::io::{self, IsTerminal as _};

use crate::cli::output;
use crate::platform::clock::Clock;

/// Colours text, if the output is a terminal.
#[derive(Clone, Copy)]
pub(super) struct Paint {
    on: bool,
}

impl Paint {
    /// Colours are on if standard output is a terminal and `NO_COLOR` is not set.
    pub(super) fn of_stdout() -> Self {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { on: io::stdout().is_terminal() && !no_color }
    }

    /// True at a terminal that shows colours.
    pub(super) fn is_on(self) -> bool {
        self.on
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

/// Prints each startup step and its duration.
pub(super) struct Steps {
    pub(super) paint: Paint,
    pub(super) clock: Clock,
}

impl Steps {
    /// Runs `work` and prints its name and duration. On a terminal, the name appears before the work is done.
    pub(super) async fn take<T>(&self, what: &str, work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
        let Self { paint, clock } = self;
        if paint.on {
            output::unfinished(&format!("  {} {what} …", paint.dim("·")));
        }
        let begun = clock.uptime();
        let done = work.await;
        let seconds = format!("{:.1} s", clock.uptime().saturating_sub(begun).as_secs_f64());
        let (sign, end) = match &done {
            Ok(_) => (paint.good(if paint.on { "✓" } else { "-" }), paint.dim(&seconds)),
            Err(_) => (paint.odd(if paint.on { "✗" } else { "-" }), paint.odd("failed")),
        };
        output::painted(&format!("  {sign} {what} … {end}\n"));
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_plain_without_a_terminal() {
        let plain = Paint { on: false };
        assert_eq!([plain.bold("a"), plain.dim("b"), plain.good("c"), plain.odd("d")].concat(), "abcd");
        assert_eq!(Paint { on: true }.bold("a"), "\x1b[1ma\x1b[0m");
    }
}
