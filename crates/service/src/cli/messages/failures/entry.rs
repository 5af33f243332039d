//! An entry of the failure queue, and work on it.

use anyhow::Context as _;
use serde::Serialize;
use store::merchants::accounts::Merchant;
use store::messages::failures::{self, Entry};
use uuid::Uuid;
use wire::time;

use crate::app::App;
use crate::cli::context::actor;
use crate::cli::output::{self, Format};
use crate::flow::messages::work_on_failure::{FailureAction, work_on_failure};

/// An entry as it is printed.
#[derive(Serialize)]
pub(super) struct EntryOut {
    pub(super) message_id: String,
    pub(super) failed_at: String,
    pub(super) event: String,
    pub(super) subject: String,
    pub(super) sequence: i64,
    pub(super) attempts: i16,
    pub(super) reason: String,
    pub(super) state: String,
    pub(super) owner: Option<String>,
    pub(super) note: Option<String>,
    pub(super) contacted_at: Option<String>,
}

impl From<Entry> for EntryOut {
    fn from(entry: Entry) -> Self {
        Self {
            message_id: entry.message_id.to_string(),
            failed_at: time::write(entry.failed_at),
            event: entry.event,
            subject: entry.subject,
            sequence: entry.sequence,
            attempts: entry.attempts,
            reason: entry.reason,
            state: entry.state,
            owner: entry.owner,
            note: entry.note,
            contacted_at: entry.contacted_at.map(time::write),
        }
    }
}

/// Records the support action, and shows the entry.
pub(super) async fn work_on(app: &App, merchant: &Merchant, id: Uuid, action: FailureAction, format: Format) -> anyhow::Result<()> {
    work_on_failure(app, &actor(), merchant.id, id, action).await?;
    let entry = failures::find(app.store(merchant.id), merchant.id, id).await?.context("the entry no longer exists")?;
    output::one(format, &EntryOut::from(entry))
}
