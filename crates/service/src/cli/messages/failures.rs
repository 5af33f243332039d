//! `backhaul failures …`: support's view of the failure queue.

mod bulk;
mod entry;
mod listing;
mod part;
mod work;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use domain::id::MerchantId;
use serde::Serialize;
use store::merchants::accounts::Merchant;
use store::messages::{attempts, failure_notes, failures, log};
use store::node::short_ids::Identified;
use uuid::Uuid;
use wire::time;

use self::entry::{EntryOut, work_on};
use crate::app::App;
use crate::cli::context::{OfMerchant, actor};
use crate::cli::id::Id;
use crate::cli::messages::commands::{mask, show_message};
use crate::cli::output::{self, Format};
use crate::flow::messages::retry_failures::cancel_retries;
use crate::flow::messages::work_on_failure::FailureAction;
use crate::show::messages::deliveries;

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// List what is open, of a merchant or of all merchants: grouped by endpoint and reason, or message by message with --interface.
    List(listing::List),
    /// Show a failed message with every attempt, its owner, and who did what about it.
    Show(OfMessage),
    /// Retry single messages, or with --endpoint everything of an endpoint after a preview.
    Retry(bulk::Retry),
    /// List the jobs that retry everything of an endpoint, newest first.
    Jobs {
        #[command(flatten)]
        merchant: OfMerchant,
        /// Show this job's progress until it ends.
        #[arg(long, value_name = "ID")]
        follow: Option<Id>,
    },
    /// Cancel a retry job; messages that it has already released are still delivered.
    Cancel {
        /// The job's id.
        job: Id,
        #[command(flatten)]
        merchant: OfMerchant,
    },
    /// Add a note to a failed message, or with --endpoint to everything of an endpoint after a preview.
    Note(work::AddNote),
    /// Set the owner: the person who works on a failed message.
    Owner {
        #[command(flatten)]
        message: OfMessage,
        /// The person's name.
        name: String,
    },
    /// List what was done about a failed message, and by whom, newest first.
    Notes(OfMessage),
    /// Record that the merchant's technical contact was informed.
    Contacted(OfMessage),
    /// Discard a message, or with --endpoint everything of an endpoint: it leaves the failure queue and is never delivered.
    ///
    /// Shows what follows and asks first. One person discards at most 100 messages at once; more take a second person (`backhaul
    /// request discard`).
    Discard(work::Discard),
}

#[derive(Args)]
pub(in crate::cli) struct OfMessage {
    /// The message's id.
    id: Id,
    #[command(flatten)]
    merchant: OfMerchant,
}

impl OfMessage {
    /// The merchant and the message's whole id.
    async fn find(&self, app: &App) -> anyhow::Result<(Merchant, Uuid)> {
        let merchant = self.merchant.find(app).await?;
        let id = self.id.of(app, merchant.id, Identified::Message).await?;
        Ok((merchant, id))
    }
}

pub(in crate::cli) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::List(options) => listing::run(app, &options, format).await,
        Command::Show(message) => show(app, &message, format).await,
        Command::Retry(retry) => bulk::run(app, retry, format).await,
        Command::Jobs { merchant, follow } => {
            let id = merchant.find(app).await?.id;
            match follow {
                Some(job) => bulk::follow(app, &merchant, id, job.of(app, id, Identified::RetryJob).await?, format).await,
                None => bulk::list(app, &merchant, id, format).await,
            }
        }
        Command::Cancel { job, merchant } => {
            let id = merchant.find(app).await?.id;
            cancel_retries(app, &actor(), id, job.of(app, id, Identified::RetryJob).await?).await?;
            bulk::list(app, &merchant, id, format).await
        }
        Command::Note(asked) => work::note(app, asked, format).await,
        Command::Owner { message, name } => {
            let (merchant, id) = message.find(app).await?;
            work_on(app, &merchant, id, FailureAction::AssignOwner(name), format).await
        }
        Command::Notes(message) => notes(app, &message, format).await,
        Command::Contacted(message) => {
            let (merchant, id) = message.find(app).await?;
            work_on(app, &merchant, id, FailureAction::MarkContacted, format).await
        }
        Command::Discard(asked) => work::discard(app, &asked, format).await,
    }
}

#[derive(Serialize)]
struct FailureOut {
    #[serde(flatten)]
    entry: EntryOut,
    technical_contact: Option<String>,
    /// Who did what about it, newest first.
    notes: Vec<NoteOut>,
    message: wire::messages::message::MessageOut,
}

async fn show(app: &App, message: &OfMessage, format: Format) -> anyhow::Result<()> {
    let (merchant, id) = message.find(app).await?;
    let entry = failures::find(app.store(merchant.id), merchant.id, id).await?;
    let entry = entry.with_context(|| format!("the message {id} was never in the failure queue; try `backhaul messages show`"))?;
    let found = log::find(app.store(merchant.id), merchant.id, id).await?.context("the message no longer exists")?;
    let mut page = attempts::page(app.store(merchant.id), merchant.id, id, None, attempts::MOST_LISTED).await?;
    mask(app, merchant.id, &mut page.attempts).await?;
    let message = deliveries::message(found, page);
    let notes = notes_of(app, merchant.id, id).await?;
    let mut shown = FailureOut { entry: entry.into(), technical_contact: merchant.technical_contact, notes, message };
    if format == Format::Json {
        return output::one(format, &shown);
    }
    let attempts = std::mem::take(&mut shown.message.attempts);
    output::one(format, &shown.entry)?;
    output::one(format, &Contact { technical_contact: shown.technical_contact.as_deref() })?;
    output::line("");
    show_notes(&shown.notes, Format::Table)?;
    output::line("");
    show_message(shown.message, &attempts)
}

/// Whom to tell about a failure.
#[derive(Serialize)]
struct Contact<'a> {
    technical_contact: Option<&'a str>,
}

#[derive(Serialize)]
struct NoteOut {
    made_at: String,
    actor: String,
    kind: String,
    text: Option<String>,
}

async fn notes(app: &App, message: &OfMessage, format: Format) -> anyhow::Result<()> {
    let (merchant, id) = message.find(app).await?;
    show_notes(&notes_of(app, merchant.id, id).await?, format)
}

/// The history of the work on a message, newest first.
async fn notes_of(app: &App, merchant: MerchantId, message: Uuid) -> anyhow::Result<Vec<NoteOut>> {
    let notes = failure_notes::list(app.store(merchant), merchant, &[message]).await?;
    let note =
        |note: failure_notes::Note| NoteOut { made_at: time::write(note.made_at), actor: note.actor, kind: note.kind, text: note.text };
    Ok(notes.into_iter().map(note).collect())
}

fn show_notes(notes: &[NoteOut], format: Format) -> anyhow::Result<()> {
    output::list(format, notes, "Nobody has worked on this message.", &["AT", "BY", "WHAT", "TEXT"], |row| {
        vec![row.made_at.clone(), row.actor.clone(), row.kind.clone(), row.text.clone().unwrap_or_default()]
    })
}
