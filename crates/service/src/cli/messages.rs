//! `backhaul messages …`: what merchants' systems were sent or are owed.

use anyhow::Context as _;
use chrono::{DateTime, Utc};
use clap::{Args, Subcommand, ValueEnum};
use domain::id::Handle;
use domain::message::Kind;
use serde::Serialize;
use store::attempts;
use store::message_pages::{self, Filter, MOST_LISTED};
use store::messages::{self, State};
use uuid::Uuid;
use wire::message::{AttemptOut, MessageOut};
use wire::time;

use super::output::{self, Format};
use super::{actor, merchant};
use crate::app::App;
use crate::flow::retry_message::{Asker, retry_message};
use crate::outbound::view;

#[derive(Subcommand)]
pub(super) enum Command {
    /// List messages, newest first.
    List(List),
    /// Show a message: what is sent, where it stands, and what became of each call.
    Show(Named),
    /// Send a message once more that was delivered or has failed: the same id and bytes.
    Retry(Named),
}

#[derive(Args)]
pub(super) struct Named {
    /// The message's id, as `webhook-id` has it.
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
    /// Only of this return, order, ASN number or unit.
    #[arg(long)]
    subject: Option<String>,
    /// Only of this interface, such as `rma`; `endpoint_test` for trials and `mail` or `operator_hook` for work of our own, which
    /// are left out otherwise.
    #[arg(long)]
    interface: Option<Kind>,
    /// Only with this event, such as `rma.created`.
    #[arg(long)]
    event: Option<String>,
    /// Only in this state.
    #[arg(long, value_enum)]
    state: Option<Stands>,
    /// Only those written at this time (ISO 8601) or later.
    #[arg(long, value_parser = moment)]
    from: Option<DateTime<Utc>>,
    /// Only those written before this time (ISO 8601).
    #[arg(long, value_parser = moment)]
    to: Option<DateTime<Utc>>,
    /// Go on before this message.
    #[arg(long, value_name = "ID")]
    before: Option<Uuid>,
    /// How many to show.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    limit: u32,
}

/// A time as people write it.
pub(super) fn moment(text: &str) -> Result<DateTime<Utc>, String> {
    time::read(text).ok_or_else(|| "a time is written as 2026-03-01T12:00:00Z".to_owned())
}

/// Where a message stands.
#[derive(Clone, Copy, ValueEnum)]
enum Stands {
    /// Still to be delivered.
    Owed,
    /// In the failure queue.
    Failed,
    /// Given up for good.
    Discarded,
    /// There was no endpoint for it.
    Unsent,
    /// Answered with success.
    Delivered,
}

impl From<Stands> for State {
    fn from(stands: Stands) -> Self {
        match stands {
            Stands::Owed => Self::Owed,
            Stands::Failed => Self::Failed,
            Stands::Discarded => Self::Discarded,
            Stands::Unsent => Self::Unsent,
            Stands::Delivered => Self::Delivered,
        }
    }
}

#[derive(Serialize)]
struct Row {
    message_id: String,
    created_at: String,
    interface: String,
    event: String,
    subject: String,
    sequence: i64,
    state: &'static str,
}

#[derive(Serialize)]
pub(super) struct Retried {
    pub(super) message_id: String,
    pub(super) attempt: i16,
    pub(super) warning: Option<&'static str>,
}

pub(super) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::List(wanted) => list(app, wanted, format).await,
        Command::Show(Named { id, merchant: handle }) => {
            let whose = merchant(app, &handle).await?.id;
            let found = messages::find(app.store(whose), whose, id).await?;
            let found = found.with_context(|| format!("{handle} has no message {id}; messages are kept for 30 days"))?;
            show(view::message(found, attempts::list(app.store(whose), whose, id).await?), format)
        }
        Command::Retry(Named { id, merchant: handle }) => {
            let whose = merchant(app, &handle).await?.id;
            let retried = retry_message(app, Asker::Operator(&actor()), whose, id).await?;
            app.forward_signals_now().await;
            output::one(format, &Retried { message_id: id.to_string(), attempt: retried.attempt, warning: retried.warning() })
        }
    }
}

/// Lists messages. A page of the store can be short, so that it goes on until there is enough or no more.
async fn list(app: &App, wanted: List, format: Format) -> anyhow::Result<()> {
    let whose = merchant(app, &wanted.merchant).await?.id;
    let filter = Filter {
        subject: wanted.subject,
        kind: wanted.interface.map(|kind| kind.as_str().to_owned()),
        event: wanted.event,
        state: wanted.state.map(State::from),
        from: wanted.from,
        to: wanted.to,
    };
    let (mut rows, mut before, most) = (Vec::new(), wanted.before, wanted.limit as usize);
    loop {
        let page = message_pages::list(app.store(whose), whose, &filter, before, (most - rows.len()).min(MOST_LISTED)).await?;
        rows.extend(page.messages.into_iter().map(|message| Row {
            message_id: message.id.to_string(),
            created_at: time::write(message.written_at()),
            interface: message.kind,
            event: message.event,
            subject: message.subject,
            sequence: message.sequence,
            state: message.state.as_str(),
        }));
        before = page.next;
        if before.is_none() || rows.len() >= most {
            break;
        }
    }
    let empty = format!("{} has no such messages.", wanted.merchant);
    output::list(format, &rows, &empty, &["MESSAGE", "CREATED", "INTERFACE", "EVENT", "SUBJECT", "SEQUENCE", "STATE"], |row| {
        let Row { message_id, created_at, interface, event, subject, sequence, state } = row;
        vec![
            message_id.clone(),
            created_at.clone(),
            interface.clone(),
            event.clone(),
            subject.clone(),
            sequence.to_string(),
            (*state).to_owned(),
        ]
    })?;
    if let (Some(before), Format::Table) = (before, format) {
        output::line(&format!("There may be more: go on with --before {before}"));
    }
    Ok(())
}

fn show(mut message: MessageOut, format: Format) -> anyhow::Result<()> {
    if format == Format::Json {
        return output::one(format, &message);
    }
    let attempts = std::mem::take(&mut message.attempts);
    output::one(format, &message)?;
    output::line("");
    output::list(format, &attempts, "It was not tried yet.", &["ATTEMPT", "STARTED", "TOOK MS", "OUTCOME", "ANSWER"], |attempt| {
        let AttemptOut { number, started_at, took_ms, outcome, reason, answer, answer_base64, .. } = attempt;
        let said = reason.as_ref().or(answer.as_ref()).or(answer_base64.as_ref()).cloned().unwrap_or_default();
        vec![number.to_string(), started_at.clone(), took_ms.to_string(), outcome.clone(), said]
    })
}
