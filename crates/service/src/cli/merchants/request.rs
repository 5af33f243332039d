//! `backhaul request …`: what one administrator asks for and another one decides.

use anyhow::Context as _;
use chrono::{DateTime, Utc};
use clap::{Args, Subcommand, ValueEnum};
use domain::merchants::operator::Email;
use domain::merchants::operator::request::Decision;
use domain::messages::message::Interface;
use serde::Serialize;
use store::merchants::operator_requests::{Listed, Which};
use store::merchants::operators;
use store::messages::endpoints;
use store::messages::failure_selection::{self, Selection};
use uuid::Uuid;
use wire::time;

use crate::app::App;
use crate::cli::context::{OfMerchant, actor, operator};
use crate::cli::moment::moment;
use crate::cli::output::{self, Format};
use crate::flow::merchants::erase_shopper::ErasureTarget;
use crate::flow::merchants::operators::requests::{self, Asked};
use crate::platform::keys::Kind;
use crate::show::merchants::named_requests;

/// The most requests in a list.
const MOST_LISTED: i64 = 100;

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// List requests, newest first: those that wait for a decision, unless you say which.
    List {
        /// The requests to list.
        #[arg(long, value_enum, default_value_t = State::Open)]
        state: State,
    },
    /// Ask for the personal data of an order to be erased. This cannot be undone.
    Erase(Erase),
    /// Ask for a group of the failure queue to be discarded, of more messages than one person may.
    Discard(Discard),
    /// Ask for an operator to be made an administrator.
    MakeAdmin {
        /// The operator's e-mail address.
        email: Email,
        #[command(flatten)]
        why: Why,
    },
    /// Ask for the first key of the settings to be used instead of the active one.
    RotateKeys {
        /// The kind of keys: `sealing` or `fingerprint`.
        kind: Kind,
        #[command(flatten)]
        why: Why,
    },
    /// Decide on a request. What is approved is carried out at once.
    Decide {
        /// The request's id.
        id: Uuid,
        /// The decision. Whoever asked can only withdraw.
        #[arg(long, value_enum)]
        decision: DecisionArg,
        /// The reason, which declining needs.
        #[arg(long, default_value = "")]
        reason: String,
    },
}

#[derive(Args)]
pub(in crate::cli) struct Why {
    /// The reason, for the person who decides and for the audit.
    #[arg(long)]
    why: String,
}

#[derive(Args)]
pub(in crate::cli) struct Erase {
    #[command(flatten)]
    merchant: OfMerchant,
    /// The order's identifier.
    order: String,
    /// The order is a drop-ship order.
    #[arg(long)]
    drop_ship: bool,
    #[command(flatten)]
    why: Why,
}

#[derive(Args)]
pub(in crate::cli) struct Discard {
    #[command(flatten)]
    merchant: OfMerchant,
    /// The interface whose messages are discarded.
    #[arg(long)]
    endpoint: Interface,
    /// The reason for which they failed, as `backhaul failures list` shows it, such as 503.
    #[arg(long)]
    reason: String,
    /// Only messages that failed at this time (ISO 8601) or later.
    #[arg(long, value_parser = moment)]
    since: Option<DateTime<Utc>>,
    #[command(flatten)]
    why: Why,
}

/// The state of the requests in a list.
#[derive(Clone, Copy, ValueEnum)]
pub(in crate::cli) enum State {
    /// They wait for a decision.
    Open,
    /// Somebody has decided.
    Decided,
    /// Nobody has decided within 72 hours.
    Lapsed,
}

/// A decision, as an option.
#[derive(Clone, Copy, ValueEnum)]
pub(in crate::cli) enum DecisionArg {
    /// Carry it out.
    Approve,
    /// Refuse it.
    Decline,
    /// Take it back.
    Withdraw,
}

#[derive(Serialize)]
struct RequestOut {
    request_id: String,
    wanted: &'static str,
    merchant: Option<String>,
    things: i64,
    why: String,
    asked_by: String,
    asked_at: String,
    lapses_at: String,
    decision: Option<&'static str>,
    decided_by: Option<String>,
    reason: Option<String>,
    outcome: Option<String>,
}

impl From<Listed> for RequestOut {
    fn from(listed: Listed) -> Self {
        let request = listed.request;
        Self {
            request_id: request.id.to_string(),
            wanted: request.wanted.as_str(),
            merchant: listed.merchant.map(|(handle, _)| handle),
            things: request.things,
            why: request.why,
            asked_by: listed.asked_by_email,
            asked_at: time::write(request.standing.asked_at),
            lapses_at: time::write(request.standing.lapses_at()),
            decision: request.standing.decision.map(Decision::as_str),
            decided_by: listed.decided_by,
            reason: request.reason,
            outcome: request.outcome,
        }
    }
}

pub(in crate::cli) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::List { state } => list(app, state, format).await,
        Command::Erase(Erase { merchant, order, drop_ship, why }) => {
            let merchant = merchant.find(app).await?.id;
            let target = if drop_ship { ErasureTarget::DropShipOrder(order) } else { ErasureTarget::Order(order) };
            ask(app, Asked::EraseShopper { merchant, orders: vec![target] }, &why, format).await
        }
        Command::Discard(discard) => {
            let asked = failures(app, &discard).await?;
            ask(app, asked, &discard.why, format).await
        }
        Command::MakeAdmin { email, why } => {
            let account = operators::find(app.home(), email.as_str()).await?;
            let account = account.with_context(|| format!("there is no operator {email}; `backhaul operator list` lists all"))?;
            ask(app, Asked::MakeAdmin(account.operator.id), &why, format).await
        }
        Command::RotateKeys { kind, why } => ask(app, Asked::RotateKeys(kind), &why, format).await,
        Command::Decide { id, decision, reason } => {
            let decision = match decision {
                DecisionArg::Approve => Decision::Approved,
                DecisionArg::Decline => Decision::Refused,
                DecisionArg::Withdraw => Decision::Withdrawn,
            };
            requests::decide(app, &operator()?, &actor(), id, decision, &reason).await?;
            show(app, id, format).await
        }
    }
}

async fn list(app: &App, state: State, format: Format) -> anyhow::Result<()> {
    let which = match state {
        State::Open => Which::Open,
        State::Decided => Which::Decided,
        State::Lapsed => Which::Lapsed,
    };
    let listed = named_requests::list(app, Some(which), None, MOST_LISTED, app.now()).await?;
    let rows: Vec<RequestOut> = listed.into_iter().map(RequestOut::from).collect();
    let headers = ["REQUEST", "WANTED", "MERCHANT", "THINGS", "ASKED BY", "ASKED", "LAPSES", "DECISION"];
    output::list(format, &rows, "There are no such requests.", &headers, |row| {
        vec![
            row.request_id.clone(),
            row.wanted.to_owned(),
            row.merchant.clone().unwrap_or_default(),
            row.things.to_string(),
            row.asked_by.clone(),
            row.asked_at.clone(),
            row.lapses_at.clone(),
            row.decision.unwrap_or_default().to_owned(),
        ]
    })
}

async fn show(app: &App, id: Uuid, format: Format) -> anyhow::Result<()> {
    let found = named_requests::list(app, None, Some(id), 1, app.now()).await?.pop();
    output::one(format, &RequestOut::from(found.context("the request is gone")?))
}

/// Asks another administrator, and shows the request.
async fn ask(app: &App, asked: Asked, why: &Why, format: Format) -> anyhow::Result<()> {
    let id = requests::ask(app, &operator()?, &actor(), &asked, &why.why).await?;
    show(app, id, format).await
}

/// The failures of a group that are there now.
async fn failures(app: &App, discard: &Discard) -> anyhow::Result<Asked> {
    let merchant = discard.merchant.find(app).await?.id;
    let store = app.store(merchant);
    let endpoint = endpoints::find_for(store, merchant, discard.endpoint).await?;
    let endpoint = endpoint.with_context(|| format!("{} has no endpoint for {}", discard.merchant, discard.endpoint))?.id;
    let selection = Selection::Group { endpoint, reason: discard.reason.clone(), since: discard.since, until: app.now() };
    let count = failure_selection::count(store, merchant, &selection).await?.open;
    Ok(Asked::DiscardFailures { merchant, selection, count })
}
