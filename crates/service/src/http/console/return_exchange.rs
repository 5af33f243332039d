//! The exchange of a return and its ways out: retry it, record it as placed, or convert it into refunds.

use askama::Template;
use axum::response::Response;
use domain::money::Cents;
use domain::returns::rma::{ExchangeState, RefundType};
use serde::Deserialize;
use store::merchants::accounts::Merchant;
use store::messages::log::{self, State};
use store::returns::exchange_orders;
use store::returns::rmas::Return;
use uuid::Uuid;
use wire::returns::exchange_order::is_identifier;

use super::amount::{Currency, currency_of, sum};
use super::by::{By, Permission, Support};
use super::error::ConsoleError;
use super::form::{Form, Path, Query};
use super::frame::{Frame, Notice, Section};
use super::merchant_head::{Head, Tab, unprocessable};
use super::messages::state;
use super::page::render;
use super::question::Question;
use super::return_found::{At, find, return_at};
use crate::flow::returns::convert_exchange::{ConvertExchangeError, convert_exchange};
use crate::flow::returns::record_exchange::{RecordExchangeError, record_exchange};
use crate::http::pages::see;

/// The exchange of a return, as its page shows it.
pub(super) struct Exchange {
    pub(super) state: (&'static str, &'static str),
    pub(super) message: Uuid,
    /// The state of the message, unless it has been deleted after its time.
    pub(super) asked: Option<(&'static str, &'static str)>,
    pub(super) order: Option<String>,
    pub(super) total: Option<String>,
    pub(super) gift_card: Option<(String, String)>,
    pub(super) can_retry: bool,
    pub(super) can_record: bool,
    pub(super) can_convert: bool,
    /// What happens next, and why a way out is closed.
    pub(super) advice: &'static str,
}

/// The exchange of a return, if it has one.
pub(super) async fn look<P: Permission>(
    by: &By<P>,
    merchant: &Merchant,
    kept: &Return,
    currency: &Currency,
) -> Result<Option<Exchange>, ConsoleError> {
    let store = by.app.store(merchant.id);
    let Some(exchange) = exchange_orders::find(store, merchant.id, &kept.order).await?.filter(|found| found.rma == kept.id) else {
        return Ok(None);
    };
    let asked = log::find(store, merchant.id, exchange.message).await?.map(|message| message.state());
    let order = exchange.placed.as_ref().and_then(|placed| placed.order_identifier.clone());
    let failed = asked == Some(State::Failed);
    let (can_retry, can_record, can_convert, advice) = match (exchange.state, order.is_some()) {
        (ExchangeState::Pending, _) if failed => (
            true,
            true,
            true,
            "The merchant's system did not take the exchange order, and it is not tried again by itself. Ask the merchant if the order exists: then record it. If not, try again, send it to another address, or refund the units instead.",
        ),
        (ExchangeState::Pending, _) => (
            false,
            true,
            false,
            "The exchange order is owed and tried again by itself. It can be retried or converted once it is in the failure queue. If the merchant has placed it by hand, record it.",
        ),
        (ExchangeState::Placed, false) => (
            false,
            true,
            true,
            "The merchant has placed the order without naming it. Ask for its number and record it, or refund the units instead if there is no such order.",
        ),
        (ExchangeState::Placed, true) => (false, false, false, "The merchant has placed the order. Nothing is left to do."),
        (ExchangeState::Converted, _) => (false, false, false, "The units are refunded instead. Nothing is left to do."),
    };
    let is_open = kept.rma.is_live();
    Ok(Some(Exchange {
        state: shown(exchange.state),
        message: exchange.message,
        asked: asked.map(state),
        total: exchange.placed.as_ref().and_then(|placed| placed.total).map(|total| currency.tell(total)),
        gift_card: exchange.gift_card.map(|(value, bonus)| (currency.tell(value), currency.tell(bonus))),
        order,
        can_retry,
        can_record,
        can_convert: can_convert && is_open,
        advice,
    }))
}

const fn shown(state: ExchangeState) -> (&'static str, &'static str) {
    match state {
        ExchangeState::Pending => ("run", "Pending"),
        ExchangeState::Placed => ("ok", "Placed"),
        ExchangeState::Converted => ("off", "Converted into refunds"),
    }
}

#[derive(Deserialize, Default)]
pub(super) struct Placed {
    #[serde(default)]
    order: String,
}

#[derive(Template)]
#[template(path = "console/return-exchange-placed.html")]
struct PlacedPage {
    frame: Frame,
    merchant: Merchant,
    rma: String,
    here: String,
    original: String,
    order: String,
    command: String,
}

fn placed_page(
    by: &By<Support>,
    (merchant, kept): (Merchant, Return),
    order: String,
    notice: Option<Notice>,
) -> Result<Response, ConsoleError> {
    let named = if order.is_empty() { "IDENTIFIER" } else { &order };
    render(&PlacedPage {
        frame: by.frame(Section::Returns, "Record the exchange as placed?").with(notice),
        here: return_at(&merchant.handle, &kept.identifier),
        command: format!("backhaul returns exchange-placed --merchant {} {} --order {named}", merchant.handle, kept.identifier),
        rma: kept.identifier,
        original: kept.order,
        order,
        merchant,
    })
}

pub(super) async fn ask_what_was_placed(by: By<Support>, Path(at): Path<At>) -> Result<Response, ConsoleError> {
    let found = with_exchange(&by, &at).await?;
    placed_page(&by, found, String::new(), None)
}

pub(super) async fn place(by: By<Support>, Path(at): Path<At>, Form(form): Form<Placed>) -> Result<Response, ConsoleError> {
    let (merchant, kept) = with_exchange(&by, &at).await?;
    let order = form.order.trim().to_owned();
    if !is_identifier(&order) || order.contains('\0') {
        let notice = Notice::bad("The order was not recorded.", "An order identifier has 1 to 255 characters.");
        return unprocessable(placed_page(&by, (merchant, kept), order, Some(notice)));
    }
    record_exchange(&by.app, &by.actor(), merchant.id, &kept.order, &order).await?;
    Ok(see(&return_at(&merchant.handle, &kept.identifier)))
}

/// The return, which has an exchange.
pub(super) async fn with_exchange(by: &By<Support>, at: &At) -> Result<(Merchant, Return), ConsoleError> {
    let (merchant, kept) = find(by, at).await?;
    let exchange = exchange_orders::find(by.app.store(merchant.id), merchant.id, &kept.order).await?;
    if exchange.is_none_or(|exchange| exchange.rma != kept.id) {
        return Err(ConsoleError::Refused(format!("The return {} has no exchange.", kept.identifier)));
    }
    Ok((merchant, kept))
}

#[derive(Deserialize)]
pub(super) struct Conversion {
    /// Somebody has checked that the order does not exist, or is cancelled.
    #[serde(default)]
    confirmed: bool,
}

/// The preview of a conversion. With a doubt, it is a second one that says so.
async fn conversion(by: &By<Support>, merchant: &Merchant, kept: &Return, doubt: Option<String>) -> Result<Response, ConsoleError> {
    let currency = currency_of(by, merchant, &kept.order).await?;
    let exchanged = kept.units().filter(|(unit, _)| unit.refund_type != RefundType::Refund);
    let (units, cents) = exchanged.fold((0, Cents::default()), |(units, cents), (_, item)| (units + 1, sum([cents, item.money.estimated])));
    let units = if units == 1 { "1 unit".to_owned() } else { format!("{units} units") };
    let here = return_at(&merchant.handle, &kept.identifier);
    let mut facts = vec![
        (
            "Refunded",
            format!(
                "{units} of {}, which the shopper wanted to exchange: {} in all, less the fee for the way back if it is deducted",
                kept.identifier,
                currency.tell(cents)
            ),
        ),
        ("The exchange", "its order is not asked for any more, and its message leaves the failure queue".to_owned()),
        ("The merchant", "is told with the next message on the return, and owes the refund".to_owned()),
        ("Undone", "It cannot be undone.".to_owned()),
    ];
    if let Some(doubt) = &doubt {
        facts.insert(0, ("Ask the merchant first", format!("{doubt}. If the order exists, the shopper gets both.")));
    }
    let confirmed = if doubt.is_some() { "?confirmed=true" } else { "" };
    let asks = if doubt.is_some() { "Refund the units although the order may exist?" } else { "Refund the units instead?" };
    Question {
        frame: by.frame(Section::Returns, asks),
        head: Head::new(merchant, Tab::Overview, by),
        asks: asks.to_owned(),
        facts,
        action: format!("{here}/exchange/convert{confirmed}"),
        does: format!("Refund {units}"),
        is_grave: true,
        command: format!("backhaul returns convert-exchange --merchant {} {}", merchant.handle, kept.identifier),
        back: here,
    }
    .show()
}

pub(super) async fn ask_to_convert(by: By<Support>, Path(at): Path<At>) -> Result<Response, ConsoleError> {
    let (merchant, kept) = with_exchange(&by, &at).await?;
    conversion(&by, &merchant, &kept, None).await
}

pub(super) async fn convert(
    by: By<Support>,
    Path(at): Path<At>,
    Query(Conversion { confirmed }): Query<Conversion>,
) -> Result<Response, ConsoleError> {
    let (merchant, kept) = with_exchange(&by, &at).await?;
    match convert_exchange(&by.app, &by.actor(), merchant.id, &kept.identifier, confirmed).await {
        Err(ConvertExchangeError::Unconfirmed(doubt)) => conversion(&by, &merchant, &kept, Some(sentence(&doubt.to_string()))).await,
        done => {
            done?;
            Ok(see(&return_at(&merchant.handle, &kept.identifier)))
        }
    }
}

/// The text with its first letter in upper case.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

impl From<RecordExchangeError> for ConsoleError {
    fn from(error: RecordExchangeError) -> Self {
        match error {
            RecordExchangeError::Failed(failed) => failed.into(),
            RecordExchangeError::NoExchange(_) => Self::NotFound,
            RecordExchangeError::OtherOrder(_) | RecordExchangeError::Converted => {
                Self::Conflict(format!("{}.", sentence(&error.to_string())))
            }
        }
    }
}

impl From<ConvertExchangeError> for ConsoleError {
    fn from(error: ConvertExchangeError) -> Self {
        match error {
            ConvertExchangeError::Failed(failed) => failed.into(),
            ConvertExchangeError::NoSuchReturn => Self::NotFound,
            ConvertExchangeError::Ended(_) | ConvertExchangeError::StillOwed => {
                Self::Conflict(format!("{}. Nothing was done.", sentence(&error.to_string())))
            }
            ConvertExchangeError::NoExchange | ConvertExchangeError::Settled | ConvertExchangeError::Unconfirmed(_) => {
                Self::Refused(format!("{}. Nothing was done.", sentence(&error.to_string())))
            }
        }
    }
}
