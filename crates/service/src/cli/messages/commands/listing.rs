//! `backhaul messages list`: of one merchant, or of all.

use anyhow::bail;
use chrono::{DateTime, Utc};
use clap::{Args, ValueEnum};
use domain::messages::message::Kind;
use serde::Serialize;
use store::merchants::accounts::Merchant;
use store::messages::log::State;
use store::messages::message_pages::{self, Filter, Listed, MOST_LISTED};
use uuid::Uuid;
use wire::time;

use crate::app::App;
use crate::cli::context::OfMerchants;
use crate::cli::moment::moment;
use crate::cli::output::{self, Format};
use crate::cli::page::PageArgs;
use crate::show::messages::across::{self, Wanted};

#[derive(Args)]
pub(in crate::cli) struct List {
    #[command(flatten)]
    merchants: OfMerchants,
    /// Only messages about this return, order, ASN number or unit, of one merchant.
    #[arg(long, conflicts_with = "all_merchants")]
    subject: Option<String>,
    /// Only messages of this interface, such as `rma`. Trials (`endpoint_test`) and internal work (such as `mail` and
    /// `operator_hook`) are listed only when named here.
    #[arg(long)]
    interface: Option<Kind>,
    /// Only messages with this event, such as `rma.created`.
    #[arg(long)]
    event: Option<String>,
    /// Only messages in this state.
    #[arg(long, value_enum)]
    state: Option<StateArg>,
    /// Only messages created at this time (ISO 8601) or later.
    #[arg(long, value_parser = moment)]
    from: Option<DateTime<Utc>>,
    /// Only messages created before this time (ISO 8601).
    #[arg(long, value_parser = moment)]
    to: Option<DateTime<Utc>>,
    #[command(flatten)]
    page: PageArgs,
}

/// The state of a message, as an option.
#[derive(Clone, Copy, ValueEnum)]
enum StateArg {
    /// Still to be delivered.
    Owed,
    /// In the failure queue.
    Failed,
    /// Discarded by support, never to be delivered.
    Discarded,
    /// Never sent: there was no endpoint for it.
    Unsent,
    /// Accepted by the merchant's system.
    Delivered,
}

impl From<StateArg> for State {
    fn from(state: StateArg) -> Self {
        match state {
            StateArg::Owed => Self::Owed,
            StateArg::Failed => Self::Failed,
            StateArg::Discarded => Self::Discarded,
            StateArg::Unsent => Self::Unsent,
            StateArg::Delivered => Self::Delivered,
        }
    }
}

#[derive(Serialize)]
struct Row {
    /// The merchant's handle.
    merchant: String,
    message_id: String,
    created_at: String,
    interface: String,
    event: String,
    subject: String,
    sequence: i64,
    state: &'static str,
}

/// Lists the messages that are asked for.
pub(super) async fn run(app: &App, options: &List, format: Format) -> anyhow::Result<()> {
    match &options.merchants {
        OfMerchants::One(merchant) => list(app, &merchant.find(app).await?, options, format).await,
        OfMerchants::All => list_all(app, options, format).await,
    }
}

/// Lists messages. The store may return short pages, so this reads on until there are enough or no more.
async fn list(app: &App, merchant: &Merchant, options: &List, format: Format) -> anyhow::Result<()> {
    let filter = Filter {
        subject: options.subject.clone(),
        kind: options.interface.map(|kind| kind.as_str().to_owned()),
        event: options.event.clone(),
        state: options.state.map(State::from),
        from: options.from,
        to: options.to,
    };
    let (mut rows, mut before, most) = (Vec::new(), options.page.place::<Uuid>()?, options.page.limit());
    loop {
        let store = app.store(merchant.id);
        let page = message_pages::list(store, merchant.id, &filter, before, (most - rows.len()).min(MOST_LISTED)).await?;
        rows.extend(page.messages.into_iter().map(|message| Row::new(merchant.handle.clone(), message)));
        before = page.next;
        if before.is_none() || rows.len() >= most {
            break;
        }
    }
    let empty = format!("No messages of {} match.", merchant.handle);
    output::page(format, &rows, before.map(|id| id.to_string()).as_deref(), &empty, &HEADERS, Row::cells)
}

/// The merchants that a list of all looks at, by handle.
const MOST_MERCHANTS: usize = 500;
/// The pages that a list of all reads before it stops, however few messages fit.
const MOST_PAGES: usize = 20;

/// Lists the messages of all merchants.
async fn list_all(app: &App, options: &List, format: Format) -> anyhow::Result<()> {
    let interface = match options.interface {
        Some(Kind::Of(interface)) => Some(interface.as_str()),
        None => None,
        Some(kind) => bail!("messages of {kind} are listed of one merchant only; name it with --merchant"),
    };
    let state = options.state.map(State::from);
    let wanted = Wanted { state, interface, event: options.event.as_deref(), from: options.from, to: options.to };
    let (mut rows, mut before, most) = (Vec::new(), options.page.place::<Uuid>()?, options.page.limit());
    let mut some_merchants = false;
    for _page in 0..MOST_PAGES {
        let page = across::newest(app, &wanted, before, (MOST_MERCHANTS, MOST_LISTED)).await?;
        rows.extend(page.messages.into_iter().map(|(account, message)| Row::new(account.handle, message)));
        (before, some_merchants) = (page.next, page.some_merchants);
        if before.is_none() || rows.len() >= most {
            break;
        }
    }
    if rows.len() > most {
        rows.truncate(most);
        before = rows.last().and_then(|row| row.message_id.parse().ok());
    }
    let next = before.map(|id| id.to_string());
    output::page(format, &rows, next.as_deref(), "No messages match here.", &HEADERS_OF_ALL, Row::cells_of_all)?;
    if some_merchants {
        output::note(&format!("Only the first {MOST_MERCHANTS} merchants by handle were looked at; name another with --merchant."));
    }
    Ok(())
}

/// The columns of a merchant's messages.
const HEADERS: [&str; 7] = ["MESSAGE", "CREATED", "INTERFACE", "EVENT", "SUBJECT", "SEQUENCE", "STATE"];
/// The columns of messages of several merchants.
const HEADERS_OF_ALL: [&str; 8] = ["MERCHANT", "MESSAGE", "CREATED", "INTERFACE", "EVENT", "SUBJECT", "SEQUENCE", "STATE"];

impl Row {
    fn new(merchant: String, message: Listed) -> Self {
        Self {
            merchant,
            message_id: message.id.to_string(),
            created_at: time::write(message.written_at()),
            interface: message.kind,
            event: message.event,
            subject: message.subject,
            sequence: message.sequence,
            state: message.state.as_str(),
        }
    }

    fn cells(&self) -> Vec<String> {
        let Self { message_id, created_at, interface, event, subject, sequence, state, .. } = self;
        vec![
            message_id.clone(),
            created_at.clone(),
            interface.clone(),
            event.clone(),
            subject.clone(),
            sequence.to_string(),
            (*state).to_owned(),
        ]
    }

    fn cells_of_all(&self) -> Vec<String> {
        [vec![self.merchant.clone()], self.cells()].concat()
    }
}
