//! `backhaul failures …`: the failure queue, as support works on it.

mod bulk;

use anyhow::{Context as _, bail};
use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};
use domain::id::{EndpointId, Handle, MerchantId};
use domain::message::Kind;
use serde::Serialize;
use store::failures::{self, Entry, Group, MOST_COUNTED, Of};
use store::{attempts, endpoints, messages};
use uuid::Uuid;
use wire::time;

use super::messages::Retried;
use super::output::{self, Format};
use super::{actor, merchant};
use crate::app::App;
use crate::flow::retry_failures::cancel_retries;
use crate::flow::retry_message::{Asker, retry_message};
use crate::flow::work_on_failure::{Deed, work_on_failure};
use crate::outbound::view;

#[derive(Subcommand)]
pub(super) enum Command {
    /// What is to be worked on: by endpoint and reason, or message by message with --interface.
    List(List),
    /// Show a message of the failure queue with every call, its owner and note.
    Show(Named),
    /// Try again: some messages, or everything of an endpoint with --endpoint, after a preview.
    Retry(bulk::Retry),
    /// List the jobs that try everything of an endpoint again, newest first.
    Jobs {
        /// Whose they are.
        #[arg(long)]
        merchant: Handle,
        /// Follow this job until it ends.
        #[arg(long, value_name = "ID")]
        follow: Option<Uuid>,
    },
    /// Call a job off; what it released already is delivered all the same.
    Cancel {
        /// The job.
        job: Uuid,
        /// Whose it is.
        #[arg(long)]
        merchant: Handle,
    },
    /// Note down what is worth knowing.
    Note {
        #[command(flatten)]
        named: Named,
        /// The note.
        text: String,
    },
    /// Say who works on it.
    Owner {
        #[command(flatten)]
        named: Named,
        /// Who.
        name: String,
    },
    /// Note down that the merchant's technical contact was told.
    Contacted(Named),
    /// Give a message up for good: it leaves the failure queue without being delivered.
    Discard(Named),
}

#[derive(Args)]
pub(super) struct Named {
    /// The message's id.
    id: Uuid,
    /// Whose it is.
    #[arg(long)]
    merchant: Handle,
}

#[derive(Args)]
pub(super) struct List {
    /// Whose they are.
    #[arg(long)]
    merchant: Handle,
    /// Message by message, of the endpoint of this interface; without it, by endpoint and reason. `mail` and `operator_hook` are
    /// work of our own.
    #[arg(long)]
    interface: Option<Kind>,
    /// Work of our own that was given up, which is not the merchant's business: mails, and what your own systems are told.
    #[arg(long, conflicts_with = "interface")]
    internal: bool,
    /// Go on after this message of the list.
    #[arg(long, value_name = "ID", requires = "interface")]
    after: Option<Uuid>,
    /// How many messages to show.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(i64).range(1..=1_000))]
    limit: i64,
}

#[derive(Serialize)]
struct GroupShown {
    interface: String,
    endpoint: &'static str,
    reason: String,
    count: i64,
    oldest: String,
    newest: String,
}

#[derive(Serialize)]
struct EntryShown {
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

impl From<Entry> for EntryShown {
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

pub(super) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::List(wanted) => {
            let whose = merchant(app, &wanted.merchant).await?.id;
            match wanted.interface {
                None => {
                    let of = if wanted.internal { Of::Internal } else { Of::Merchant };
                    show_groups(&failures::groups(app.store(whose), whose, of, None).await?, format)
                }
                Some(kind) => list(app, whose, kind, &wanted, format).await,
            }
        }
        Command::Show(named) => show(app, &named, format).await,
        Command::Retry(retry) => bulk::run(app, retry, format).await,
        Command::Jobs { merchant: handle, follow } => {
            let whose = merchant(app, &handle).await?.id;
            match follow {
                Some(job) => bulk::follow(app, &handle, whose, job, format).await,
                None => bulk::list(app, &handle, whose, format).await,
            }
        }
        Command::Cancel { job, merchant: handle } => {
            let whose = merchant(app, &handle).await?.id;
            cancel_retries(app, &actor(), whose, job).await?;
            bulk::list(app, &handle, whose, format).await
        }
        Command::Note { named, text } => work(app, &named, Deed::Noted(text), format).await,
        Command::Owner { named, name } => work(app, &named, Deed::Owned(name), format).await,
        Command::Contacted(named) => work(app, &named, Deed::Contacted, format).await,
        Command::Discard(named) => work(app, &named, Deed::Discarded, format).await,
    }
}

/// The endpoint for messages of a kind.
async fn endpoint_of(app: &App, whose: MerchantId, kind: Kind) -> anyhow::Result<EndpointId> {
    if let Kind::Internal(internal) = kind {
        return Ok(internal.endpoint_of(whose));
    }
    let endpoints = endpoints::list(app.store(whose), whose).await?;
    let found = endpoints.into_iter().find(|endpoint| endpoint.interface == kind.as_str());
    Ok(found.with_context(|| format!("the merchant has no endpoint for {kind}; `backhaul endpoint list` shows those that there are"))?.id)
}

/// A count as people read it: it ends somewhere.
fn count(counted: i64) -> String {
    if counted >= MOST_COUNTED { format!("{MOST_COUNTED} or more") } else { counted.to_string() }
}

fn show_groups(groups: &[Group], format: Format) -> anyhow::Result<()> {
    let rows: Vec<GroupShown> = groups
        .iter()
        .map(|group| GroupShown {
            interface: group.interface.clone(),
            endpoint: if group.removed { "removed" } else { "there" },
            reason: group.reason.clone(),
            count: group.count,
            oldest: time::write(group.oldest),
            newest: time::write(group.newest),
        })
        .collect();
    output::list(format, &rows, "The failure queue is empty.", &["INTERFACE", "ENDPOINT", "REASON", "COUNT", "OLDEST", "NEWEST"], |row| {
        let GroupShown { interface, endpoint, reason, count: counted, oldest, newest } = row;
        vec![interface.clone(), (*endpoint).to_owned(), reason.clone(), count(*counted), oldest.clone(), newest.clone()]
    })
}

async fn list(app: &App, whose: MerchantId, kind: Kind, wanted: &List, format: Format) -> anyhow::Result<()> {
    let endpoint = endpoint_of(app, whose, kind).await?;
    let after: (DateTime<Utc>, Uuid) = match wanted.after {
        None => (DateTime::UNIX_EPOCH, Uuid::nil()),
        Some(id) => {
            let entry = failures::find(app.store(whose), whose, id).await?;
            (entry.with_context(|| format!("the failure queue never had the message {id}"))?.failed_at, id)
        }
    };
    let entries = failures::list(app.store(whose), whose, endpoint, after, wanted.limit).await?;
    let rows: Vec<EntryShown> = entries.into_iter().map(EntryShown::from).collect();
    let headers = ["MESSAGE", "FAILED", "EVENT", "SUBJECT", "SEQUENCE", "ATTEMPTS", "REASON", "STATE", "OWNER"];
    output::list(format, &rows, "The failure queue has nothing of this endpoint.", &headers, |row| {
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
struct Shown {
    #[serde(flatten)]
    entry: EntryShown,
    technical_contact: Option<String>,
    message: wire::message::MessageOut,
}

async fn show(app: &App, named: &Named, format: Format) -> anyhow::Result<()> {
    let whose = merchant(app, &named.merchant).await?;
    let entry = failures::find(app.store(whose.id), whose.id, named.id).await?;
    let entry =
        entry.with_context(|| format!("the failure queue never had the message {}; `backhaul messages show` knows more", named.id))?;
    let found = messages::find(app.store(whose.id), whose.id, named.id).await?.context("the message is gone")?;
    let message = view::message(found, attempts::list(app.store(whose.id), whose.id, named.id).await?);
    let shown = Shown { entry: entry.into(), technical_contact: whose.technical_contact, message };
    output::one(format, &shown)
}

/// Notes down what was done, and shows the entry.
async fn work(app: &App, named: &Named, deed: Deed, format: Format) -> anyhow::Result<()> {
    let whose = merchant(app, &named.merchant).await?.id;
    work_on_failure(app, &actor(), whose, named.id, deed).await?;
    let entry = failures::find(app.store(whose), whose, named.id).await?.context("the entry is gone")?;
    output::one(format, &EntryShown::from(entry))
}

/// Tries these messages again, each by itself.
async fn retry_each(app: &App, whose: MerchantId, ids: &[Uuid], format: Format) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    let mut refused = Vec::new();
    for id in ids {
        match retry_message(app, Asker::Operator(&actor()), whose, *id).await {
            Ok(retried) => rows.push(Retried { message_id: id.to_string(), attempt: retried.attempt, warning: retried.warning() }),
            Err(error) => refused.push(format!("{id}: {error}")),
        }
    }
    app.forward_signals_now().await;
    output::list(format, &rows, "Nothing is tried again.", &["MESSAGE", "ATTEMPT", "WARNING"], |row| {
        vec![row.message_id.clone(), row.attempt.to_string(), row.warning.unwrap_or_default().to_owned()]
    })?;
    if refused.is_empty() { Ok(()) } else { bail!("{}", refused.join("\n")) }
}
