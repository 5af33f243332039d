//! The progress of an import: a bar on a terminal, otherwise a line every few seconds.

use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{HumanBytes, HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use store::orders::imports::Counts;

use crate::cli::output;
use crate::platform::clock::Clock;

/// The time between two lines when standard error is not a terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// The progress of a running import.
pub(super) struct Progress {
    clock: Clock,
    started: Duration,
    /// The file's size in bytes, if it is known.
    size: Option<u64>,
    read: AtomicU64,
    /// The lines processed by this run, including the refused ones.
    stored: AtomicU64,
    refused: AtomicU64,
    /// The time of the last line, in milliseconds since the start.
    printed_at: AtomicU64,
    bar: ProgressBar,
    terminal: bool,
}

impl Progress {
    /// Starts showing progress through a file of `size` bytes, of which an earlier run processed `done` lines.
    pub(super) fn start(clock: Clock, size: Option<u64>, done: u64) -> Self {
        let bar = match size {
            Some(size) => ProgressBar::with_draw_target(Some(size), ProgressDrawTarget::stderr())
                .with_style(style("{bar:30} {bytes}/{total_bytes}  {msg}  {eta} left")),
            None => ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style("{spinner} {bytes}  {msg}")),
        };
        if done > 0 {
            output::progress(&format!("Skipping the first {} lines, which are already stored.", HumanCount(done)));
        }
        let started = clock.uptime();
        let zero = || AtomicU64::new(0);
        let terminal = std::io::stderr().is_terminal();
        Self { clock, started, size, read: zero(), stored: zero(), refused: zero(), printed_at: zero(), bar, terminal }
    }

    /// Records that `bytes` more bytes were read.
    pub(super) fn read(&self, bytes: u64) {
        self.read.fetch_add(bytes, Ordering::Relaxed);
        self.bar.inc(bytes);
    }

    /// Records that a chunk with these results was stored.
    pub(super) fn stored(&self, counts: Counts) {
        let Counts { created, updated, unchanged, stale, refused, .. } = counts;
        let lines = (created + updated + unchanged + stale + refused).unsigned_abs();
        let stored = self.stored.fetch_add(lines, Ordering::Relaxed) + lines;
        let refused = self.refused.fetch_add(refused.unsigned_abs(), Ordering::Relaxed) + refused.unsigned_abs();
        let elapsed = self.clock.uptime().saturating_sub(self.started);
        let rate = stored * 1_000 / u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX).max(1);
        let refused = if refused == 0 { String::new() } else { format!(" ({} refused)", HumanCount(refused)) };
        let summary = format!("{} orders{refused}, {}/s", HumanCount(stored), HumanCount(rate));
        if self.terminal {
            self.bar.set_message(summary);
        } else {
            self.print(&summary, elapsed);
        }
    }

    /// Prints a line, unless the last one is too recent.
    fn print(&self, summary: &str, elapsed: Duration) {
        let now = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        let last = self.printed_at.load(Ordering::Relaxed);
        if u128::from(now.saturating_sub(last)) < LINE_EVERY.as_millis() {
            return;
        }
        self.printed_at.store(now, Ordering::Relaxed);
        let read = self.read.load(Ordering::Relaxed);
        let Some(size) = self.size else { return output::progress(&format!("{}, {summary}", HumanBytes(read))) };
        let left = elapsed.as_millis() * u128::from(size.saturating_sub(read)) / u128::from(read.max(1));
        let left = Duration::from_millis(u64::try_from(left).unwrap_or(u64::MAX));
        output::progress(&format!("{} of {}, {summary}, {} left", HumanBytes(read), HumanBytes(size), HumanDuration(left)));
    }

    /// Removes the bar.
    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
