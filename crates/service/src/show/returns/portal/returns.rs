//! The returns of an order as its shopper sees them, with what has happened and what is to come.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::money::Cents;
use domain::returns::label::LabelState;
use domain::returns::rma::bill::{Bill, BilledUnit, bill};
use domain::returns::rma::policy::{EXPIRED, EXPIRES_AFTER};
use domain::returns::rma::{Event, ExchangeState, Method, Receiving, RefundType, Status, Step};
use store::Failed;
use store::orders::refunds::{self, Recorded};
use store::returns::exchange_orders::{self, Exchange};
use store::returns::rma_events::{self, Change};
use store::returns::rmas::{self, Return};
use store::returns::{label_orders, portal_sessions};

use crate::app::App;

/// The most returns of an order that are shown.
const MOST: i64 = 50;

/// A return in the portal.
pub(crate) struct PortalReturn {
    pub(crate) kept: Return,
    pub(crate) exchange: Option<Exchange>,
    pub(crate) label: Option<LabelState>,
    /// The label has a QR code.
    pub(crate) has_code: bool,
    changes: Vec<Change>,
    /// The refunds that cover its units.
    pub(crate) refunds: Vec<Recorded>,
}

/// Where a return is, as far as its shopper is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Cancelled,
    Expired,
    Refunded,
    PartlyRefunded,
    /// The shopper keeps the goods and waits for the refund.
    Kept,
    /// The goods are with the shopper.
    Waiting,
    DroppedOff,
    OnItsWay,
    Arrived,
    /// The parcel goes back to the shopper.
    ComingBack,
    Trouble,
}

/// An entry of a time line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// What happened, as in the keys of texts.
    pub(crate) what: &'static str,
    pub(crate) at: DateTime<Utc>,
    pub(crate) amount: Option<Cents>,
    /// It is bad news.
    pub(crate) bad: bool,
}

/// The identifiers of an order's returns that the session `session` may see, newest first.
pub(crate) async fn list_returns(app: &App, merchant: MerchantId, order: &str, session: &[u8]) -> Result<Vec<String>, Failed> {
    portal_sessions::returns_of(app.store(merchant), merchant, order, session, MOST).await
}

/// The return `identifier` of an order, if the session `session` may see it.
pub(crate) async fn find_return(
    app: &App,
    merchant: MerchantId,
    order: &str,
    identifier: &str,
    session: &[u8],
) -> Result<Option<PortalReturn>, Failed> {
    let store = app.store(merchant);
    let found = rmas::find(store, merchant, identifier).await?.filter(|kept| kept.order == order);
    let Some(kept) = found else { return Ok(None) };
    if kept.gift && !portal_sessions::returns_of(store, merchant, order, session, MOST).await?.contains(&kept.identifier) {
        return Ok(None);
    }
    let covering: BTreeSet<&str> = kept.items.iter().filter_map(|item| item.refund.as_deref()).collect();
    let refunds = async { if covering.is_empty() { Ok(Vec::new()) } else { refunds::list(store, merchant, order).await } };
    let (exchange, label, changes, mut refunds) = tokio::try_join!(
        exchange_orders::find(store, merchant, order),
        label_orders::look(store, merchant, kept.id),
        rma_events::list(store, merchant, kept.id),
        refunds,
    )?;
    let exchange = exchange.filter(|exchange| exchange.rma == kept.id);
    let (label, has_code) = label.map_or((None, false), |label| (Some(label.state), label.has_code));
    refunds.retain(|refund| covering.contains(refund.identifier.as_str()));
    Ok(Some(PortalReturn { kept, exchange, label, has_code, changes, refunds }))
}

impl PortalReturn {
    pub(crate) fn progress(&self) -> Progress {
        let kept = &self.kept;
        match kept.rma.status {
            Status::Cancelled if kept.cancel_reason.as_deref() == Some(EXPIRED) => return Progress::Expired,
            Status::Cancelled => return Progress::Cancelled,
            Status::Refunded => return Progress::Refunded,
            Status::PartialRefund => return Progress::PartlyRefunded,
            Status::Created => {}
        }
        if kept.rma.method == Method::CustomerKeep {
            return Progress::Kept;
        }
        let words: BTreeSet<&str> = kept.rma.units.iter().filter_map(|unit| unit.parcel.as_str()).collect();
        let received = kept.rma.units.iter().any(|unit| unit.receiving == Some(Receiving::Received));
        if received || words.contains("DELIVERED") {
            return Progress::Arrived;
        }
        for (word, progress) in [
            ("FAILURE", Progress::Trouble),
            ("RETURNED", Progress::ComingBack),
            ("TRANSIT", Progress::OnItsWay),
            ("ACCEPTED", Progress::DroppedOff),
        ] {
            if words.contains(word) {
                return progress;
            }
        }
        Progress::Waiting
    }

    /// Everything that has happened, oldest first.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let entry = |what, at, bad| Entry { what, at, amount: None, bad };
        let mut entries = vec![entry("confirmed", self.kept.created_at, false)];
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for change in &self.changes {
            for parcel in &change.parcels {
                if seen.insert(parcel)
                    && let Some((what, bad)) = parcel_words(parcel, self.kept.rma.method)
                {
                    entries.push(entry(what, change.happened_at, bad));
                }
            }
            if let Some((what, bad)) = self.event_words(change.event, &seen) {
                entries.push(entry(what, change.happened_at, bad));
            }
        }
        let refund =
            |refund: &Recorded| Entry { what: "refunded", at: refund.refund.refunded_at, amount: Some(refund.refund.total), bad: false };
        entries.extend(self.refunds.iter().map(refund));
        entries.sort_by_key(|entry| entry.at);
        entries
    }

    /// The words for a change beyond what its parcels tell. Refunds have entries of their own.
    fn event_words(&self, event: Event, seen: &BTreeSet<&str>) -> Option<(&'static str, bool)> {
        match event {
            Event::Received if !seen.contains("DELIVERED") => Some(("received", false)),
            Event::Cancelled if self.progress() == Progress::Expired => Some(("expired", true)),
            Event::Cancelled => Some(("cancelled", false)),
            Event::ExchangePlaced => Some(("exchange-placed", false)),
            Event::ExchangeConverted => Some(("exchange-converted", true)),
            Event::Created
            | Event::Received
            | Event::TrackingUpdated
            | Event::ReceivingClosed
            | Event::RefundRecorded
            | Event::PartiallyRefunded
            | Event::Refunded
            | Event::ExchangeIdentified
            | Event::Resent => None,
        }
    }

    /// The money of the return, line by line.
    pub(crate) fn bill(&self) -> Bill<'_> {
        bill(self.kept.units().map(|(unit, item)| BilledUnit {
            line: &unit.line,
            refund_type: unit.refund_type,
            money: item.money,
            financials: item.financials,
        }))
    }

    /// What is still to be refunded.
    pub(crate) fn still_to_come(&self) -> Cents {
        let open = self.kept.units().filter(|(_, item)| item.refund.is_none());
        open.fold(Cents::default(), |sum, (_, item)| sum.plus(item.financials.shopper))
    }

    /// The last moment to hand the goods over; `None` once that is done, or if there is nothing to hand over.
    pub(crate) fn deadline(&self) -> Option<DateTime<Utc>> {
        self.kept.wakes_at.map(|_| self.kept.created_at + EXPIRES_AFTER)
    }

    /// The bonus on top of its gift card.
    pub(crate) fn bonus(&self) -> Cents {
        self.exchange.as_ref().and_then(|exchange| exchange.gift_card).map_or_else(Cents::default, |(_, bonus)| bonus)
    }

    /// Something is still to come.
    pub(crate) fn is_open(&self) -> bool {
        match self.kept.rma.status {
            Status::Created | Status::PartialRefund => true,
            Status::Refunded | Status::Cancelled => false,
        }
    }

    pub(crate) fn can_cancel(&self) -> bool {
        self.kept.rma.clone().cancel().is_ok_and(|step| step != Step::Unchanged)
    }

    pub(crate) fn exchange_state(&self) -> Option<ExchangeState> {
        self.exchange.as_ref().map(|exchange| exchange.state)
    }

    /// What the shopper gets in exchange, as the texts tell it apart: `goods`, a gift `card`, or `both`.
    pub(crate) fn exchanged_for(&self) -> &'static str {
        let has = |wanted| self.kept.rma.units.iter().any(|unit| unit.refund_type == wanted);
        match (has(RefundType::EvenExchange), has(RefundType::UnevenExchange)) {
            (true, true) => "both",
            (false, true) => "card",
            (_, false) => "goods",
        }
    }

    /// The parcel's number, if there is one for all units.
    pub(crate) fn tracking_number(&self) -> Option<String> {
        self.kept.rma.units.iter().find_map(|unit| unit.parcel.number()).map(ToString::to_string)
    }
}

/// The words for a parcel's state, and whether it is bad news.
fn parcel_words(parcel: &str, method: Method) -> Option<(&'static str, bool)> {
    match (parcel, method) {
        ("PRE_TRANSIT", Method::ExpressReturns) => Some(("code-made", false)),
        ("PRE_TRANSIT", _) => Some(("label-made", false)),
        ("ACCEPTED", _) => Some(("dropped-off", false)),
        ("TRANSIT", _) => Some(("on-its-way", false)),
        ("DELIVERED", _) => Some(("arrived", false)),
        ("RETURNED", _) => Some(("coming-back", true)),
        ("FAILURE", _) => Some(("trouble", true)),
        _ => None,
    }
}
