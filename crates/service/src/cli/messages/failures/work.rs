//! `backhaul failures note` and `discard`: on one message, or on a part of the queue after a preview.

use anyhow::{Context as _, bail};
use clap::Args;
use domain::merchants::operator::request::MOST_DISCARDED_ALONE;
use domain::messages::message::Kind;
use serde::Serialize;
use store::merchants::accounts::Merchant;
use store::messages::failures;
use store::node::short_ids::Identified;
use uuid::Uuid;

use super::entry::work_on;
use super::part::{Covered, NOTHING, Part};
use crate::app::App;
use crate::cli::confirm::Confirmation;
use crate::cli::context::{OfMerchant, actor};
use crate::cli::id::Id;
use crate::cli::output::{self, Format, counted};
use crate::flow::messages::discard_failures::{Bound, DiscardFailuresError, discard_failures};
use crate::flow::messages::work_on_failure::FailureAction;
use crate::flow::messages::work_on_failures::{MOST, WorkAction, WorkOnFailuresError, work_on_failures};

#[derive(Args)]
pub(in crate::cli) struct AddNote {
    /// The message's id.
    #[arg(required_unless_present = "endpoint", conflicts_with = "endpoint")]
    id: Option<Id>,
    /// The note on this message.
    #[arg(required_unless_present = "endpoint")]
    text: Option<String>,
    #[command(flatten)]
    merchant: OfMerchant,
    #[command(flatten)]
    part: Part,
    /// The note on every message of `--endpoint`.
    #[arg(long, value_name = "TEXT", requires = "endpoint")]
    note: Option<String>,
    #[command(flatten)]
    confirmation: Confirmation,
}

#[derive(Args)]
pub(in crate::cli) struct Discard {
    /// The message's id.
    #[arg(required_unless_present = "endpoint", conflicts_with = "endpoint")]
    id: Option<Id>,
    #[command(flatten)]
    merchant: OfMerchant,
    #[command(flatten)]
    part: Part,
    #[command(flatten)]
    confirmation: Confirmation,
}

/// What was done to a part of the queue.
#[derive(Serialize)]
struct DoneOut {
    interface: &'static str,
    /// noted or discarded.
    done: &'static str,
    messages: usize,
}

/// Adds a note.
pub(super) async fn note(app: &App, asked: AddNote, format: Format) -> anyhow::Result<()> {
    let merchant = asked.merchant.find(app).await?;
    let Some(kind) = asked.part.endpoint else {
        let (id, text) = asked.id.zip(asked.text).context("name a message and write the note")?;
        let id = id.of(app, merchant.id, Identified::Message).await?;
        return work_on(app, &merchant, id, FailureAction::AddNote(text), format).await;
    };
    let note = asked.note.context("write the note with --note")?;
    let covered = asked.part.covered(app, &merchant, kind).await?;
    if covered.count() == 0 {
        return output::said(format, NOTHING);
    }
    if !asked.confirmation.yes {
        covered.preview(&merchant, format)?;
        let preview = format!("{} would get the note “{note}”; of each line above, the oldest {MOST}.", covered.told());
        asked.confirmation.ask(&preview, &merchant.handle)?;
    }
    let mut noted = 0;
    for selection in covered.selections() {
        match work_on_failures(app, &actor(), merchant.id, &selection, &[WorkAction::AddNote(note.clone())]).await {
            Ok(count) => noted += count,
            // Somebody else was faster.
            Err(WorkOnFailuresError::NothingLeft) => {}
            Err(error) => return Err(error.into()),
        }
    }
    output::one(format, &DoneOut { interface: kind.as_str(), done: "noted", messages: noted })
}

/// Discards.
pub(super) async fn discard(app: &App, asked: &Discard, format: Format) -> anyhow::Result<()> {
    let merchant = asked.merchant.find(app).await?;
    match (asked.part.endpoint, &asked.id) {
        (Some(kind), _) => discard_part(app, &merchant, kind, asked, format).await,
        (None, Some(id)) => {
            let id = id.of(app, merchant.id, Identified::Message).await?;
            discard_one(app, &merchant, id, &asked.confirmation, format).await
        }
        (None, None) => bail!("name a message, or an interface with --endpoint"),
    }
}

async fn discard_one(app: &App, merchant: &Merchant, id: Uuid, confirmation: &Confirmation, format: Format) -> anyhow::Result<()> {
    let entry = failures::find(app.store(merchant.id), merchant.id, id).await?;
    if let Some(entry) = entry.filter(|entry| ["open", "contacted"].contains(&entry.state.as_str())) {
        let preview = format!(
            "Discarding {} ({} {}, number {} of its subject) takes it out of the failure queue. It is never delivered, and it cannot be \
             undone.",
            entry.message_id, entry.event, entry.subject, entry.sequence
        );
        confirmation.ask(&preview, &merchant.handle)?;
    }
    work_on(app, merchant, id, FailureAction::Discard, format).await
}

/// Discards what a part covers, if one person may.
async fn discard_part(app: &App, merchant: &Merchant, kind: Kind, asked: &Discard, format: Format) -> anyhow::Result<()> {
    let covered = asked.part.covered(app, merchant, kind).await?;
    let found = covered.count();
    if found == 0 {
        return output::said(format, NOTHING);
    }
    if found > MOST_DISCARDED_ALONE {
        bail!(
            "one person discards at most {MOST_DISCARDED_ALONE} messages at once, and these are {}; nothing was discarded. Name fewer \
             with --reason or --since, or ask a second person: backhaul request discard --merchant {} --endpoint {kind} --reason REASON \
             --why WHY",
            covered.told(),
            merchant.handle
        );
    }
    if !asked.confirmation.yes {
        covered.preview(merchant, format)?;
        let preview = format!(
            "Discarding takes {} out of the failure queue. They are never delivered, and it cannot be undone. Exchange orders that a \
             return waits for are left out.",
            covered.told()
        );
        asked.confirmation.ask(&preview, &merchant.handle)?;
    }
    let discarded = discard_all(app, merchant, &covered).await?;
    if discarded == 0 {
        bail!("nothing was discarded: these messages were retried or discarded meanwhile, or a return waits for them");
    }
    let left = usize::try_from(found)?.saturating_sub(discarded);
    if left > 0 {
        output::note(&format!("{} left: retried or discarded meanwhile, or a return waits for it.", counted(left, "message")));
    }
    output::one(format, &DoneOut { interface: kind.as_str(), done: "discarded", messages: discarded })
}

/// Discards what is covered, but never more than one person may.
async fn discard_all(app: &App, merchant: &Merchant, covered: &Covered) -> anyhow::Result<usize> {
    let most = usize::try_from(MOST_DISCARDED_ALONE)?;
    let mut discarded = 0;
    for selection in covered.selections() {
        if discarded >= most {
            break;
        }
        let bound = Bound { most: i64::try_from(most - discarded)?, expected: None };
        match discard_failures(app, &actor(), merchant.id, &selection, bound).await {
            Ok(count) => discarded += count,
            Err(DiscardFailuresError::NothingLeft) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(discarded)
}
