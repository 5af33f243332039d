//! `backhaul clock …`: a sandbox's clock.

use clap::Subcommand;
use serde::Serialize;
use store::node::installation::{self, ClockAhead};
use wire::time;

use crate::app::App;
use crate::cli::context::actor;
use crate::cli::output::{self, Format};
use crate::flow::node::advance_clock::advance_clock;
use crate::platform::clock::Span;

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// Advance the sandbox's clock on every node, within a second. Refused in production.
    Advance {
        /// The time to advance by, in days, hours, minutes and seconds: 6h, 30m, 1d12h.
        #[arg(allow_hyphen_values = true)]
        by: Span,
    },
    /// Show the clock, and how far it is ahead of real time.
    Show,
}

#[derive(Serialize)]
struct ClockOut {
    now: String,
    ahead: String,
    real_time: String,
    moved_by: Option<String>,
    moved_at: Option<String>,
}

impl ClockOut {
    fn new(app: &App, clock: ClockAhead) -> Self {
        let real_time = app.clock.wall();
        Self {
            now: time::write(real_time + clock.ahead),
            ahead: Span::of(clock.ahead).to_string(),
            real_time: time::write(real_time),
            moved_by: clock.moved_by,
            moved_at: clock.moved_at.map(time::write),
        }
    }
}

pub(in crate::cli) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    let clock = match command {
        Command::Advance { by } => advance_clock(app, &actor(), by).await?,
        Command::Show => installation::clock(app.home()).await?,
    };
    output::one(format, &ClockOut::new(app, clock))
}
