//! How far an import has come, for whoever waits: a bar on a terminal, a line now and then elsewhere.

use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{HumanBytes, HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use store::imports::Counts;

use crate::clock::Clock;

/// How often there is a line where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// What is known while an import runs.
pub(super) struct Progress {
    clock: Clock,
    started: Duration,
    /// How large the file is, if that is known.
    size: Option<u64>,
    read: AtomicU64,
    /// Lines stored by this run, and how many of them were refused.
    stored: AtomicU64,
    refused: AtomicU64,
    /// When the last line was written, in milliseconds since the start.
    told: AtomicU64,
    bar: ProgressBar,
    terminal: bool,
}

impl Progress {
    /// Begins to show progress through a file of `size` bytes; `done` lines of it were done before.
    pub(super) fn start(clock: Clock, size: Option<u64>, done: u64) -> Self {
        let bar = match size {
            Some(size) => ProgressBar::with_draw_target(Some(size), ProgressDrawTarget::stderr())
                .with_style(style("{bar:30} {bytes}/{total_bytes}  {msg}  {eta} left")),
            None => ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style("{spinner} {bytes}  {msg}")),
        };
        if done > 0 {
            eprintln!("Skipping the first {} lines, which are done.", HumanCount(done));
        }
        let started = clock.uptime();
        let zero = || AtomicU64::new(0);
        let terminal = std::io::stderr().is_terminal();
        Self { clock, started, size, read: zero(), stored: zero(), refused: zero(), told: zero(), bar, terminal }
    }

    /// So many more bytes were read.
    pub(super) fn read(&self, bytes: u64) {
        self.read.fetch_add(bytes, Ordering::Relaxed);
        self.bar.inc(bytes);
    }

    /// A chunk was stored.
    pub(super) fn stored(&self, counts: Counts) {
        let Counts { created, updated, unchanged, stale, refused, .. } = counts;
        let lines = (created + updated + unchanged + stale + refused).unsigned_abs();
        let stored = self.stored.fetch_add(lines, Ordering::Relaxed) + lines;
        let refused = self.refused.fetch_add(refused.unsigned_abs(), Ordering::Relaxed) + refused.unsigned_abs();
        let elapsed = self.clock.uptime().saturating_sub(self.started);
        let rate = stored * 1_000 / u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX).max(1);
        let refused = if refused == 0 { String::new() } else { format!(" ({} refused)", HumanCount(refused)) };
        let told = format!("{} orders{refused}, {}/s", HumanCount(stored), HumanCount(rate));
        if self.terminal {
            self.bar.set_message(told);
        } else {
            self.tell(&told, elapsed);
        }
    }

    /// A line, if the last one is some time ago.
    fn tell(&self, told: &str, elapsed: Duration) {
        let now = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        let last = self.told.load(Ordering::Relaxed);
        if u128::from(now.saturating_sub(last)) < LINE_EVERY.as_millis() {
            return;
        }
        self.told.store(now, Ordering::Relaxed);
        let read = self.read.load(Ordering::Relaxed);
        let Some(size) = self.size else { return eprintln!("{}, {told}", HumanBytes(read)) };
        let left = elapsed.as_millis() * u128::from(size.saturating_sub(read)) / u128::from(read.max(1));
        let left = Duration::from_millis(u64::try_from(left).unwrap_or(u64::MAX));
        eprintln!("{} of {}, {told}, {} left", HumanBytes(read), HumanBytes(size), HumanDuration(left));
    }

    /// No more is to come.
    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
