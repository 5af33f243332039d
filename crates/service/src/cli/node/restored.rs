//! `backhaul restored`: prepares a database that was restored from a backup.

use serde::Serialize;

use crate::app::App;
use crate::cli::output::{self, Format};
use crate::flow::node::take_over_restored::take_over_restored;

#[derive(Serialize)]
struct Restored {
    /// The epoch that begins now, of messages that have no position in the feed yet.
    feed_epoch: i32,
    /// Messages that are owed, up to 10,000. Those that arrived after the moment of the backup are sent again with the same id.
    owed_messages: i64,
    next: &'static str,
}

const NEXT: &str = "Start the service. Readers of the feed who had read further than the backup are told to read again from the beginning. Ask merchants to send orders again that they changed since the moment of the backup, and erase again the shoppers who were erased since.";

pub(in crate::cli) async fn run(app: &App, format: Format) -> anyhow::Result<()> {
    let restored = take_over_restored(app).await?;
    output::one(format, &Restored { feed_epoch: restored.feed_epoch, owed_messages: restored.owed, next: NEXT })
}
