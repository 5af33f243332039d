//! `/r/{merchant}/returns/{rma}`: what has happened to a return, and what is to come.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use domain::money::Cents;
use domain::returns::rma::{ExchangeState, Method, Receiving, RefundType};

use super::bill::BillView;
use super::session::Follower;
use super::view::{Day, Goods, amount, joined};
use crate::app::App;
use crate::http::pages::error::PageError;
use crate::http::pages::frame::{Frame, Reader};
use crate::http::pages::render;
use crate::show::returns::portal::{Entry, PortalOrder, PortalReturn, Progress};

#[derive(Template)]
#[template(path = "portal/status.html")]
struct Status {
    frame: Frame,
    rma: String,
    order: Option<String>,
    heading: String,
    lede: String,
    /// The class of the seal, if there is one.
    seal: Option<&'static str>,
    entries: Vec<TimeEntry>,
    /// `None` once nothing is to come, or if nothing was refunded.
    bill: Option<BillView>,
    /// The code or label can be shown.
    ticket: Option<Ticket>,
    cancel: Option<String>,
    /// Why it cannot be cancelled any more; empty if it can, or is over.
    too_late: String,
    /// Something else can come back, or the same again.
    more: bool,
    again: bool,
    sold_out: bool,
    units: Vec<UnitLine>,
    goods: Vec<Goods>,
}

/// The way to the code or the label.
struct Ticket {
    path: String,
    words: String,
    icon: &'static str,
}

/// An entry of the time line.
struct TimeEntry {
    /// `done`, `now`, `todo` or `bad`.
    class: &'static str,
    /// The word for it, for those who do not see the colour.
    label: String,
    words: String,
    day: Option<Day>,
    note: String,
}

/// A unit of a return that is refunded in part.
struct UnitLine {
    goods: Goods,
    chip: Chip,
}

/// The state of something in a word.
pub(super) struct Chip {
    pub(super) class: &'static str,
    pub(super) words: String,
}

impl Chip {
    pub(super) fn of(reader: &Reader, progress: Progress) -> Self {
        let class = match progress {
            Progress::Refunded => "chip ok",
            Progress::Waiting | Progress::PartlyRefunded => "chip warn",
            Progress::ComingBack | Progress::Trouble => "chip bad",
            Progress::Cancelled | Progress::Expired | Progress::Kept | Progress::DroppedOff | Progress::OnItsWay | Progress::Arrived => {
                "chip"
            }
        };
        Self { class, words: reader.text(&format!("chip-{}", key(progress))) }
    }
}

/// `GET /r/{merchant}/returns/{rma}`.
pub(super) async fn show(
    State(app): State<App>,
    Follower(shopper): Follower,
    Path((_, rma)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let (one, order) = shopper.find_return_and_order(&app, &rma).await?;
    let reader = &shopper.reader;
    let progress = one.progress();
    let bill = one.bill();
    let path = |page: &str| reader.path(&format!("returns/{}{page}", one.kept.identifier));
    let titles = |line: &str| named(reader, &order, &one, line, String::new()).title;
    let bonus = one.bonus();
    let open = one.is_open();
    let more = shopper.session.proof.allows_order() && order.lines.iter().any(|line| line.units > 0);
    let again = matches!(progress, Progress::Cancelled | Progress::Expired);
    render(&Status {
        frame: reader.frame("status-title"),
        rma: one.kept.identifier.clone(),
        // Who comes by the link in a mail about a gift was not told the order.
        order: (shopper.session.proof.allows_order() || !one.kept.gift)
            .then(|| reader.text_with("order-heading", [("order", one.kept.order.as_str().into())])),
        heading: heading(reader, &one, progress),
        lede: lede(reader, &order, &one, progress),
        seal: match progress {
            Progress::Refunded => Some("seal"),
            Progress::Cancelled | Progress::Expired => Some("seal calm"),
            Progress::ComingBack | Progress::Trouble => Some("seal warn"),
            Progress::PartlyRefunded
            | Progress::Kept
            | Progress::Waiting
            | Progress::DroppedOff
            | Progress::OnItsWay
            | Progress::Arrived => None,
        },
        entries: entries(reader, &order, &one, progress),
        bill: (!one.kept.gift && (open || progress == Progress::Refunded))
            .then(|| BillView::of(reader, &order.currency, &bill, bonus, titles))
            .filter(|bill| bill.total.is_some() || bill.gift_card.is_some()),
        ticket: (progress == Progress::Waiting).then(|| Ticket {
            path: path("/done"),
            words: reader.text(&format!("status-ticket-{}", one.kept.rma.method)),
            icon: if one.kept.rma.method == Method::ExpressReturns { "code" } else { "printer" },
        }),
        cancel: one.can_cancel().then(|| path("/cancel")),
        too_late: match progress {
            Progress::Waiting if !one.can_cancel() => reader.text("status-exchanged"),
            Progress::DroppedOff | Progress::OnItsWay | Progress::Arrived => reader.text("status-too-late"),
            Progress::Cancelled
            | Progress::Expired
            | Progress::Refunded
            | Progress::PartlyRefunded
            | Progress::Kept
            | Progress::Waiting
            | Progress::ComingBack
            | Progress::Trouble => String::new(),
        },
        more: more && !again,
        again: more && again,
        sold_out: one.exchange_state() == Some(ExchangeState::Converted),
        units: if progress == Progress::PartlyRefunded { units(reader, &order, &one) } else { Vec::new() },
        goods: goods(reader, &order, &one),
    })
}

/// The key of a progress in texts.
const fn key(progress: Progress) -> &'static str {
    match progress {
        Progress::Cancelled => "cancelled",
        Progress::Expired => "expired",
        Progress::Refunded => "refunded",
        Progress::PartlyRefunded => "partly",
        Progress::Kept => "kept",
        Progress::Waiting => "waiting",
        Progress::DroppedOff => "dropped-off",
        Progress::OnItsWay => "on-its-way",
        Progress::Arrived => "arrived",
        Progress::ComingBack => "coming-back",
        Progress::Trouble => "trouble",
    }
}

fn heading(reader: &Reader, one: &PortalReturn, progress: Progress) -> String {
    match (progress, one.exchange_state(), one.kept.rma.method) {
        (Progress::Waiting, Some(ExchangeState::Converted), _) => reader.text("status-sold-out-heading"),
        (Progress::Waiting, _, Method::ExpressReturns) => reader.text("status-waiting-drop-heading"),
        (progress, ..) => reader.text(&format!("status-{}-heading", key(progress))),
    }
}

fn lede(reader: &Reader, order: &PortalOrder, one: &PortalReturn, progress: Progress) -> String {
    let words = reader.words();
    let told = |sum| amount(reader, &order.currency, one.kept.gift, sum);
    let refunded = one.refunds.iter().fold(Cents::default(), |sum, refund| sum.plus(refund.refund.total));
    match (progress, one.deadline()) {
        (Progress::Waiting, Some(deadline)) => reader.text_with("status-waiting-lede", [("day", words.weekday(deadline).into())]),
        (Progress::Refunded, _) if refunded > Cents::default() => reader.text_with("status-refunded-lede", told(refunded)),
        (Progress::PartlyRefunded, _) => reader.text_with("status-partly-lede", told(refunded)),
        (Progress::Kept, _) => reader.text_with("status-kept-lede", told(one.bill().refund)),
        (Progress::Waiting | Progress::Refunded, _) => String::new(),
        (progress, _) => reader.text(&format!("status-{}-lede", key(progress))),
    }
}

fn entries(reader: &Reader, order: &PortalOrder, one: &PortalReturn, progress: Progress) -> Vec<TimeEntry> {
    let words = reader.words();
    let told = |sum: Cents| amount(reader, &order.currency, one.kept.gift, sum);
    let label = |class: &str| reader.text(&format!("time-{class}"));
    let happened = one.entries();
    let entry = |happened: &Entry| {
        let class = if happened.bad { "bad" } else { "done" };
        let said = match happened.amount {
            Some(refunded) => reader.text_with("time-refunded-amount", told(refunded)),
            None => reader.text_with(&format!("event-{}", happened.what), [("what", one.exchanged_for().into())]),
        };
        TimeEntry { class, label: label(class), words: said, day: Some(Day::with_time(words, happened.at)), note: String::new() }
    };
    let mut entries: Vec<TimeEntry> = happened.iter().map(entry).collect();
    let ahead = |class: &'static str, words: String, note: String| TimeEntry { class, label: label(class), words, day: None, note };
    if one.exchange_state() == Some(ExchangeState::Pending) && one.is_open() {
        let pending = reader.text_with("time-exchange-pending", [("what", one.exchanged_for().into())]);
        entries.push(ahead("now", pending, String::new()));
    }
    let by = |deadline| reader.text_with("by-day", [("day", words.day(deadline).into())]);
    let refund = one.still_to_come();
    let about = (refund > Cents::default()).then(|| reader.text_with("time-refund-about", told(refund)));
    let to_you = reader.text_with("time-refund-note", told(refund));
    match progress {
        Progress::Waiting => {
            let action = if one.kept.rma.method == Method::ExpressReturns { "time-drop-off" } else { "time-send" };
            entries.push(ahead("now", reader.text(action), one.deadline().map(by).unwrap_or_default()));
            entries.push(ahead("todo", reader.text("time-arrives"), String::new()));
            entries.extend(about.map(|about| ahead("todo", about, to_you)));
        }
        Progress::DroppedOff | Progress::OnItsWay => {
            entries.push(ahead("todo", reader.text("time-arrives"), String::new()));
            entries.extend(about.map(|about| ahead("todo", about, to_you)));
        }
        Progress::Arrived | Progress::Kept => entries.extend(about.map(|about| ahead("todo", about, to_you))),
        Progress::Cancelled
        | Progress::Expired
        | Progress::Refunded
        | Progress::PartlyRefunded
        | Progress::ComingBack
        | Progress::Trouble => {}
    }
    entries
}

/// The goods of a return, with what the shopper gets for them.
pub(super) fn goods(reader: &Reader, order: &PortalOrder, one: &PortalReturn) -> Vec<Goods> {
    let bill = one.bill();
    let shown = bill.lines.iter().map(|line| {
        let key = match (one.progress(), line.refund_type) {
            (Progress::Cancelled | Progress::Expired, _) => "instead-kept",
            (_, RefundType::Refund) if one.kept.gift => "instead-gift-card",
            (_, RefundType::Refund) => "instead-refund",
            (_, RefundType::EvenExchange) => "instead-exchanged",
            (_, RefundType::UnevenExchange) => "instead-gift-card",
        };
        let units = if line.units > 1 { reader.text_with("units", [("units", line.units.into())]) } else { String::new() };
        named(reader, order, one, line.line, joined([reader.text(key), units]))
    });
    shown.collect()
}

/// Each unit, with what has become of it.
fn units(reader: &Reader, order: &PortalOrder, one: &PortalReturn) -> Vec<UnitLine> {
    let unit = |(unit, item): (&domain::returns::rma::Unit, &store::returns::rmas::Item)| {
        let (class, key) = match (item.refund.is_some(), unit.receiving) {
            (true, _) => ("chip ok", "unit-refunded"),
            (false, Some(Receiving::NotReceived)) => ("chip warn", "unit-not-arrived"),
            (false, _) if unit.refund_type != RefundType::Refund => ("chip", "unit-exchanged"),
            (false, _) => ("chip", "unit-waiting"),
        };
        UnitLine { goods: named(reader, order, one, &unit.line, String::new()), chip: Chip { class, words: reader.text(key) } }
    };
    one.kept.units().map(unit).collect()
}

/// The goods of a line. The return knows their name even if the order has changed.
fn named(reader: &Reader, order: &PortalOrder, one: &PortalReturn, line: &str, note: String) -> Goods {
    let goods = Goods::of_item(reader, order, line, note);
    let item = one.kept.units().find(|(unit, _)| unit.line == line).map(|(_, item)| item);
    let title = item.map(|item| item.title.clone().unwrap_or_else(|| item.sku.clone()));
    Goods { title: title.unwrap_or(goods.title), ..goods }
}
