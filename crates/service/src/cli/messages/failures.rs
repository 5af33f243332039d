//! `backhaul failures …`: support's view of the failure queue.

mod bulk;

use anyhow::{Context as _, bail};
use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};
use domain::id::MerchantId;
use domain::messages::message::Kind;
use serde::Serialize;
use store::merchants::accounts::Merchant;
use store::messages::failures::{self, Entry, Group, MOST_COUNTED, Of};
use store::messages::unsent::{self, Unsent};
use store::messages::{attempts, endpoints, failure_notes, log};
use store::node::short_ids::Identified;
use uuid::Uuid;
use wire::time;

use crate::app::App;
use crate::cli::confirm::Confirmation;
use crate::cli::context::{OfMerchant, actor};
use crate::cli::id::Id;
use crate::cli::messages::commands::{Retried, mask, show_message};
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
        follow: Option<Id>,
    },
    /// Cancel a retry job; messages that it has already released are still delivered.
    Cancel {
        /// The job's id.
        job: Id,
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
    ///
    /// Shows what follows and asks first.
    Discard {
        #[command(flatten)]
        message: OfMessage,
        #[command(flatten)]
        confirmation: Confirmation,
    },
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

#[derive(Args)]
pub(in crate::cli) struct List {
    #[command(flatten)]
    merchant: OfMerchant,
    /// List the messages of this interface one by one, also those of endpoints that were removed, instead of groups by endpoint and
    /// reason. `mail` and `operator_hook` are internal work.
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
                        let unsent = unsent::list(app.store(merchant), merchant).await?;
                        unsent.iter().for_each(|unsent| output::note(&unsent_note(&options.merchant, unsent)));
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
                Some(job) => bulk::follow(app, &merchant, id, job.of(app, id, Identified::RetryJob).await?, format).await,
                None => bulk::list(app, &merchant, id, format).await,
            }
        }
        Command::Cancel { job, merchant } => {
            let id = merchant.find(app).await?.id;
            cancel_retries(app, &actor(), id, job.of(app, id, Identified::RetryJob).await?).await?;
            bulk::list(app, &merchant, id, format).await
        }
        Command::Note { message, text } => work(app, &message, FailureAction::AddNote(text), format).await,
        Command::Owner { message, name } => work(app, &message, FailureAction::AssignOwner(name), format).await,
        Command::Notes(message) => notes(app, &message, format).await,
        Command::Contacted(message) => work(app, &message, FailureAction::MarkContacted, format).await,
        Command::Discard { message, confirmation } => {
            let (merchant, id) = message.find(app).await?;
            let entry = failures::find(app.store(merchant.id), merchant.id, id).await?;
            if let Some(entry) = entry.filter(|entry| ["open", "contacted"].contains(&entry.state.as_str())) {
                let preview = format!(
                    "Discarding {} ({} {}, number {} of its subject) takes it out of the failure queue. It is never delivered, and it \
                     cannot be undone.",
                    entry.message_id, entry.event, entry.subject, entry.sequence
                );
                confirmation.ask(&preview, message.merchant.handle.as_str())?;
            }
            work(app, &message, FailureAction::Discard, format).await
        }
    }
}

/// Checks that there is an endpoint for messages of a kind.
async fn require_endpoint(app: &App, merchant: MerchantId, kind: Kind) -> anyhow::Result<()> {
    let endpoints = endpoints::list(app.store(merchant), merchant).await?;
    if !matches!(kind, Kind::Internal(_)) && !endpoints.iter().any(|endpoint| endpoint.interface == kind.as_str()) {
        bail!("the merchant has no endpoint for {kind}; `backhaul endpoint list` shows its endpoints");
    }
    Ok(())
}

/// A count for tables. The database stops counting at [`MOST_COUNTED`].
fn count(counted: i64) -> String {
    if counted >= MOST_COUNTED { format!("{MOST_COUNTED} or more") } else { counted.to_string() }
}

/// Tells about messages that are not in the failure queue, because they were never sent.
fn unsent_note(merchant: &OfMerchant, Unsent { interface, waiting, dropped }: &Unsent) -> String {
    let (messages, are) = if *waiting == 1 { ("message", "is") } else { ("messages", "are") };
    let waiting = (*waiting > 0).then(|| {
        format!(
            "{waiting} {messages} for {interface} {are} unsent, because there was no endpoint at the time; `backhaul endpoint set --merchant {merchant} {interface} --send-waiting` sends what waits."
        )
    });
    let (messages, were) = if *dropped == 1 { ("message", "was") } else { ("messages", "were") };
    let dropped = (*dropped > 0).then(|| format!("{dropped} {messages} for {interface} {were} dropped after 30 days without being sent."));
    [waiting, dropped].into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// The columns of groups.
const GROUP_HEADERS: [&str; 6] = ["INTERFACE", "ENDPOINT", "REASON", "COUNT", "OLDEST", "NEWEST"];

impl GroupOut {
    fn all(groups: &[Group]) -> Vec<Self> {
        let shown = |group: &Group| Self {
            interface: group.interface.clone(),
            endpoint: if group.removed { "removed" } else { "current" },
            reason: group.reason.clone(),
            count: group.count,
            oldest: time::write(group.oldest),
            newest: time::write(group.newest),
        };
        groups.iter().map(shown).collect()
    }

    fn cells(&self) -> Vec<String> {
        let Self { interface, endpoint, reason, count: counted, oldest, newest } = self;
        vec![interface.clone(), (*endpoint).to_owned(), reason.clone(), count(*counted), oldest.clone(), newest.clone()]
    }
}

fn show_groups(groups: &[Group], format: Format) -> anyhow::Result<()> {
    output::list(format, &GroupOut::all(groups), "The failure queue is empty.", &GROUP_HEADERS, GroupOut::cells)
}

/// The groups for whoever is asked to confirm.
fn groups_table(groups: &[Group]) -> String {
    output::table(&GroupOut::all(groups), &GROUP_HEADERS, GroupOut::cells)
}

async fn list(app: &App, merchant: MerchantId, kind: Kind, options: &List, format: Format) -> anyhow::Result<()> {
    let after: (DateTime<Utc>, Uuid) = match options.after {
        None => (DateTime::UNIX_EPOCH, Uuid::nil()),
        Some(id) => {
            let entry = failures::find(app.store(merchant), merchant, id).await?;
            (entry.with_context(|| format!("the message {id} was never in the failure queue"))?.failed_at, id)
        }
    };
    let entries = failures::list(app.store(merchant), merchant, kind, after, options.limit).await?;
    let rows: Vec<EntryOut> = entries.into_iter().map(EntryOut::from).collect();
    let headers = ["MESSAGE", "FAILED", "EVENT", "SUBJECT", "SEQUENCE", "ATTEMPTS", "REASON", "STATE", "OWNER"];
    output::list(format, &rows, "The failure queue has no messages of this interface.", &headers, |row| {
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
    let (merchant, id) = message.find(app).await?;
    let entry = failures::find(app.store(merchant.id), merchant.id, id).await?;
    let entry = entry.with_context(|| format!("the message {id} was never in the failure queue; try `backhaul messages show`"))?;
    let found = log::find(app.store(merchant.id), merchant.id, id).await?.context("the message no longer exists")?;
    let mut page = attempts::page(app.store(merchant.id), merchant.id, id, None, attempts::MOST_LISTED).await?;
    mask(app, merchant.id, &mut page.attempts).await?;
    let message = deliveries::message(found, page);
    let mut shown = FailureOut { entry: entry.into(), technical_contact: merchant.technical_contact, message };
    if format == Format::Json {
        return output::one(format, &shown);
    }
    let attempts = std::mem::take(&mut shown.message.attempts);
    output::one(format, &shown.entry)?;
    output::one(format, &Contact { technical_contact: shown.technical_contact.as_deref() })?;
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
    let notes = failure_notes::list(app.store(merchant.id), merchant.id, &[id]).await?;
    let note =
        |note: failure_notes::Note| NoteOut { made_at: time::write(note.made_at), actor: note.actor, kind: note.kind, text: note.text };
    let rows: Vec<NoteOut> = notes.into_iter().map(note).collect();
    output::list(format, &rows, "Nobody has worked on this message.", &["AT", "BY", "WHAT", "TEXT"], |row| {
        vec![row.made_at.clone(), row.actor.clone(), row.kind.clone(), row.text.clone().unwrap_or_default()]
    })
}

/// Records the support action, and shows the entry.
async fn work(app: &App, message: &OfMessage, action: FailureAction, format: Format) -> anyhow::Result<()> {
    let (merchant, id) = message.find(app).await?;
    work_on_failure(app, &actor(), merchant.id, id, action).await?;
    let entry = failures::find(app.store(merchant.id), merchant.id, id).await?.context("the entry no longer exists")?;
    output::one(format, &EntryOut::from(entry))
}

/// Retries these messages one by one, and reports those that cannot be retried at the end.
async fn retry_each(app: &App, merchant: MerchantId, ids: &[Id], format: Format) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    let mut refused = Vec::new();
    for id in ids {
        let id = id.of(app, merchant, Identified::Message).await?;
        match retry_message(app, Asker::Operator(&actor()), merchant, id).await {
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
