//! `backhaul endpoint replay`: sends the delivered messages of a time range once more.

use anyhow::bail;
use chrono::{DateTime, Utc};
use clap::Args;
use serde::Serialize;
use store::merchants::accounts::Merchant;
use store::messages::endpoints;
use store::messages::replays::{self, Preview};
use wire::time;

use crate::app::App;
use crate::cli::confirm::Confirmation;
use crate::cli::context::{OfEndpoint, actor};
use crate::cli::moment::moment;
use crate::cli::output::{self, Format, counted};
use crate::flow::messages::replay_messages::{ReplayError, ReplayRequest, check, replay_messages};

#[derive(Args)]
pub(in crate::cli) struct Replay {
    #[command(flatten)]
    endpoint: OfEndpoint,
    /// Messages written at this time or later, such as 2026-11-16T18:00:00Z.
    #[arg(long, value_parser = moment)]
    from: DateTime<Utc>,
    /// Messages written before this time.
    #[arg(long, value_parser = moment)]
    to: DateTime<Utc>,
    /// Messages per second (half of the endpoint's rate unless set).
    #[arg(long)]
    per_second: Option<i32>,
    /// Only show how many messages would be sent.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    confirmation: Confirmation,
}

#[derive(Serialize)]
struct ReplayOut {
    job_id: String,
    interface: String,
    state: &'static str,
    from: String,
    to: String,
    released: i64,
    left_out: i64,
    per_second: i32,
    created_at: String,
    created_by: String,
    ended_at: Option<String>,
}

impl From<replays::Replay> for ReplayOut {
    fn from(replay: replays::Replay) -> Self {
        Self {
            job_id: replay.id.to_string(),
            state: match (replay.cancelled_at, replay.ended_at) {
                (Some(_), _) => "cancelled",
                (None, Some(_)) => "done",
                (None, None) => "at work",
            },
            interface: replay.interface,
            from: time::write(replay.from),
            to: time::write(replay.to),
            released: replay.released,
            left_out: replay.left_out,
            per_second: replay.per_second,
            created_at: time::write(replay.created_at),
            created_by: replay.created_by,
            ended_at: replay.ended_at.map(time::write),
        }
    }
}

/// Shows what would be sent, asks, and starts the replay.
pub(super) async fn start(app: &App, wanted: &Replay, format: Format) -> anyhow::Result<()> {
    let Replay { endpoint: OfEndpoint { merchant, interface }, from, to, per_second, dry_run, confirmation } = wanted;
    let merchant = merchant.find(app).await?;
    let store = app.store(merchant.id);
    check(*interface, *from, *to, app.now())?;
    let endpoint = endpoints::find_for(store, merchant.id, *interface).await?.ok_or(ReplayError::NoEndpoint(*interface))?;
    let told = match replays::preview(store, merchant.id, (endpoint.id, *interface), (*from, *to)).await? {
        Preview::Exact { delivered: 0, .. } => bail!("no message for {interface} was delivered in this range; nothing was started"),
        Preview::Exact { delivered, left_out } => {
            format!("{} would be sent once more; {left_out} would be left out", counted(delivered, "message"))
        }
        Preview::About { delivered } => format!("about {} were delivered in the hours of this range", counted(delivered, "message")),
    };
    let told = format!("{told}. They go to {}.", endpoint.url);
    if *dry_run {
        return output::said(format, &told);
    }
    confirmation.ask(&told, &merchant.handle)?;
    let request = ReplayRequest { interface: *interface, from: *from, to: *to, per_second: *per_second };
    let job = replay_messages(app, &actor(), merchant.id, request).await?;
    let started = replays::list(store, merchant.id, None, Some(job), 1).await?.pop();
    started.map_or(Ok(()), |started| output::one(format, &ReplayOut::from(started)))
}

/// The most replays in a list.
const MOST_LISTED: i64 = 100;

/// Lists the merchant's replays, newest first.
pub(super) async fn list(app: &App, merchant: &Merchant, format: Format) -> anyhow::Result<()> {
    let replays = replays::list(app.store(merchant.id), merchant.id, None, None, MOST_LISTED).await?;
    let rows: Vec<ReplayOut> = replays.into_iter().map(ReplayOut::from).collect();
    let empty = format!("{} has no replays.", merchant.handle);
    output::list(format, &rows, &empty, &["REPLAY", "INTERFACE", "STATE", "FROM", "TO", "SENT", "LEFT OUT", "BY"], |row| {
        vec![
            row.job_id.clone(),
            row.interface.clone(),
            row.state.to_owned(),
            row.from.clone(),
            row.to.clone(),
            row.released.to_string(),
            row.left_out.to_string(),
            row.created_by.clone(),
        ]
    })
}
