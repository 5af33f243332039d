//! `backhaul failures …`: support's view of the failure queue.

mod bulk;

use anyhow::{Context as _, bail};
use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};
use domain::id::{EndpointId, MerchantId};
use domain::messages::message::Kind;
use serde::Serialize;
use store::messages::failures::{self, Entry, Group, MOST_COUNTED, Of};
use store::messages::unsent::{self, Unsent};
use store::messages::{attempts, endpoints, failure_notes, log};
use uuid::Uuid;
use wire::time;

use crate::app::App;
use crate::cli::context::{OfMerchant, actor};
use crate::cli::messages::commands::{Retried, mask};
use crate::cli::output::{self, Format};
use crate::flow::messages::retry_failures::cancel_retries;
use crate::flow::messages::retry_message::{Asker, retry_message};
use crate::flow::messages::work_on_failure::{FailureAction, work_on_failure};
use crate::show::messages::deliveries;

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// List what is open: grouped by endpoint and reason, or message by message with --interface.
    List(List),
    /// Show a failed message with every attempt, its owner and its note.
    Show(OfMessage),
    /// Retry single messages, or with --endpoint everything of an endpoint after a preview.
    Retry(bulk::Retry),
    /// List the jobs that retry everything of an endpoint, newest first.
    Jobs {
        #[command(flatten)]
        merchant: OfMerchant,
        /// Show this job's progress until it ends.
        #[arg(long, value_name = "ID")]
        follow: Option<Uuid>,
    },
    /// Cancel a retry job; messages that it has already released are still delivered.
    Cancel {
        /// The job's id.
        job: Uuid,
        #[command(flatten)]
        merchant: OfMerchant,
    },
    /// Set the note on a failed message.
    Note {
        #[command(flatten)]
        message: OfMessage,
        text: String,
    },
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
    /// Discard a message: it leaves the failure queue and is never delivered.
    Discard(OfMessage),
}

#[derive(Args)]
pub(in crate::cli) struct OfMessage {
    /// The message's id.
    id: Uuid,
    #[command(flatten)]
    merchant: OfMerchant,
}

#[derive(Args)]
pub(in crate::cli) struct List {
    #[command(flatten)]
    merchant: OfMerchant,
    /// List the messages of this interface's endpoint one by one, instead of groups by endpoint and reason. `mail` and
    /// `operator_hook` are internal work.
    #[arg(long)]
    interface: Option<Kind>,
    /// List failed internal work instead, which is not sent to the merchant's systems: mails, operator webhooks and the like.
    #[arg(long, conflicts_with = "interface")]
    internal: bool,
    /// Continue the list after this message.
    #[arg(long, value_name = "ID", requires = "interface")]
    after: Option<Uuid>,
    /// The most messages to show.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(i64).range(1..=1_000))]
    limit: i64,
}

#[derive(Serialize)]
struct GroupOut {
    interface: String,
    endpoint: &'static str,
    reason: String,
    count: i64,
    oldest: String,
    newest: String,
}

#[derive(Serialize)]
struct EntryOut {
    message_id: String,
    failed_at: String,
    event: String,
    subject: String,
    sequence: i64,
    attempts: i16,
    reason: String,
    state: String,
    owner: Option<String>,
    note: Option<String>,
    contacted_at: Option<String>,
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

pub(in crate::cli) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::List(options) => {
            let merchant = options.merchant.find(app).await?.id;
            match options.interface {
                None => {
                    let of = if options.internal { Of::Internal } else { Of::Merchant };
                    show_groups(&failures::groups(app.store(merchant), merchant, of, None).await?, format)?;
                    if of == Of::Merchant {
                        unsent::list(app.store(merchant), merchant).await?.iter().for_each(|unsent| output::note(&unsent_note(unsent)));
                    }
                    Ok(())
                }
                Some(kind) => list(app, merchant, kind, &options, format).await,
            }
        }
        Command::Show(message) => show(app, &message, format).await,
        Command::Retry(retry) => bulk::run(app, retry, format).await,
        Command::Jobs { merchant, follow } => {
            let id = merchant.find(app).await?.id;
            match follow {
                Some(job) => bulk::follow(app, &merchant, id, job, format).await,
                None => bulk::list(app, &merchant, id, format).await,
            }
        }
        Command::Cancel { job, merchant } => {
            let id = merchant.find(app).await?.id;
            cancel_retries(app, &actor(), id, job).await?;
            bulk::list(app, &merchant, id, format).await
        }
        Command::Note { message, text } => work(app, &message, FailureAction::AddNote(text), format).await,
        Command::Owner { message, name } => work(app, &message, FailureAction::AssignOwner(name), format).await,
        Command::Notes(message) => notes(app, &message, format).await,
        Command::Contacted(message) => work(app, &message, FailureAction::MarkContacted, format).await,
        Command::Discard(message) => work(app, &message, FailureAction::Discard, format).await,
    }
}

/// The endpoint for messages of a kind.
async fn endpoint_of(app: &App, merchant: MerchantId, kind: Kind) -> anyhow::Result<EndpointId> {
    if let Kind::Internal(internal) = kind {
        return Ok(internal.endpoint_of(merchant));
    }
    let endpoints = endpoints::list(app.store(merchant), merchant).await?;
    let found = endpoints.into_iter().find(|endpoint| endpoint.interface == kind.as_str());
    Ok(found.with_context(|| format!("the merchant has no endpoint for {kind}; `backhaul endpoint list` shows its endpoints"))?.id)
}

/// A count for tables. The database stops counting at [`MOST_COUNTED`].
fn count(counted: i64) -> String {
    if counted >= MOST_COUNTED { format!("{MOST_COUNTED} or more") } else { counted.to_string() }
}

/// Tells about messages that are not in the failure queue, because they were never sent.
fn unsent_note(Unsent { interface, waiting, dropped }: &Unsent) -> String {
    let waiting = (*waiting > 0).then(|| format!("{waiting} messages for {interface} are unsent, because there was no endpoint when they were written; `backhaul endpoint set {interface} --send-waiting` sends them."));
    let dropped = (*dropped > 0).then(|| format!("{dropped} messages for {interface} were dropped after 30 days without being sent."));
    [waiting, dropped].into_iter().flatten().collect::<Vec<_>>().join("\n")
}

fn show_groups(groups: &[Group], format: Format) -> anyhow::Result<()> {
    let rows: Vec<GroupOut> = groups
        .iter()
        .map(|group| GroupOut {
            interface: group.interface.clone(),
            endpoint: if group.removed { "removed" } else { "there" },
            reason: group.reason.clone(),
            count: group.count,
            oldest: time::write(group.oldest),
            newest: time::write(group.newest),
        })
        .collect();
    output::list(format, &rows, "The failure queue is empty.", &["INTERFACE", "ENDPOINT", "REASON", "COUNT", "OLDEST", "NEWEST"], |row| {
        let GroupOut { interface, endpoint, reason, count: counted, oldest, newest } = row;
        vec![interface.clone(), (*endpoint).to_owned(), reason.clone(), count(*counted), oldest.clone(), newest.clone()]
    })
}

async fn list(app: &App, merchant: MerchantId, kind: Kind, options: &List, format: Format) -> anyhow::Result<()> {
    let endpoint = endpoint_of(app, merchant, kind).await?;
    let after: (DateTime<Utc>, Uuid) = match options.after {
        None => (DateTime::UNIX_EPOCH, Uuid::nil()),
        Some(id) => {
            let entry = failures::find(app.store(merchant), merchant, id).await?;
            (entry.with_context(|| format!("the message {id} was never in the failure queue"))?.failed_at, id)
        }
    };
    let entries = failures::list(app.store(merchant), merchant, endpoint, after, options.limit).await?;
    let rows: Vec<EntryOut> = entries.into_iter().map(EntryOut::from).collect();
    let headers = ["MESSAGE", "FAILED", "EVENT", "SUBJECT", "SEQUENCE", "ATTEMPTS", "REASON", "STATE", "OWNER"];
    output::list(format, &rows, "The failure queue has no messages of this endpoint.", &headers, |row| {
        vec![
            row.message_id.clone(),
            row.failed_at.clone(),
            row.event.clone(),
            row.subject.clone(),
            row.sequence.to_string(),
            row.attempts.to_string(),
            row.reason.clone(),
            row.state.clone(),
            row.owner.clone().unwrap_or_default(),
        ]
    })
}

#[derive(Serialize)]
struct FailureOut {
    #[serde(flatten)]
    entry: EntryOut,
    technical_contact: Option<String>,
    message: wire::messages::message::MessageOut,
}

async fn show(app: &App, message: &OfMessage, format: Format) -> anyhow::Result<()> {
    let merchant = message.merchant.find(app).await?;
    let entry = failures::find(app.store(merchant.id), merchant.id, message.id).await?;
    let entry =
        entry.with_context(|| format!("the message {} was never in the failure queue; try `backhaul messages show`", message.id))?;
    let found = log::find(app.store(merchant.id), merchant.id, message.id).await?.context("the message no longer exists")?;
    let mut page = attempts::page(app.store(merchant.id), merchant.id, message.id, None, attempts::MOST_LISTED).await?;
    mask(app, merchant.id, &mut page.attempts).await?;
    let message = deliveries::message(found, page);
    let shown = FailureOut { entry: entry.into(), technical_contact: merchant.technical_contact, message };
    output::one(format, &shown)
}

#[derive(Serialize)]
struct NoteOut {
    made_at: String,
    actor: String,
    kind: String,
    text: Option<String>,
}

async fn notes(app: &App, message: &OfMessage, format: Format) -> anyhow::Result<()> {
    let merchant = message.merchant.find(app).await?.id;
    let notes = failure_notes::list(app.store(merchant), merchant, &[message.id]).await?;
    let note =
        |note: failure_notes::Note| NoteOut { made_at: time::write(note.made_at), actor: note.actor, kind: note.kind, text: note.text };
    let rows: Vec<NoteOut> = notes.into_iter().map(note).collect();
    output::list(format, &rows, "Nobody has worked on this message.", &["AT", "BY", "WHAT", "TEXT"], |row| {
        vec![row.made_at.clone(), row.actor.clone(), row.kind.clone(), row.text.clone().unwrap_or_default()]
    })
}

/// Records the support action, and shows the entry.
async fn work(app: &App, message: &OfMessage, action: FailureAction, format: Format) -> anyhow::Result<()> {
    let merchant = message.merchant.find(app).await?.id;
    work_on_failure(app, &actor(), merchant, message.id, action).await?;
    let entry = failures::find(app.store(merchant), merchant, message.id).await?.context("the entry no longer exists")?;
    output::one(format, &EntryOut::from(entry))
}

/// Retries these messages one by one, and reports those that cannot be retried at the end.
async fn retry_each(app: &App, merchant: MerchantId, ids: &[Uuid], format: Format) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    let mut refused = Vec::new();
    for id in ids {
        match retry_message(app, Asker::Operator(&actor()), merchant, *id).await {
            Ok(retried) => rows.push(Retried { message_id: id.to_string(), attempt: retried.attempt, warning: retried.warning() }),
            Err(error) => refused.push(format!("{id}: {error}")),
        }
    }
    app.forward_signals_now().await;
    output::list(format, &rows, "No message is retried.", &["MESSAGE", "ATTEMPT", "WARNING"], |row| {
        vec![row.message_id.clone(), row.attempt.to_string(), row.warning.unwrap_or_default().to_owned()]
    })?;
    if refused.is_empty() { Ok(()) } else { bail!("{}", refused.join("\n")) }
}
