//! `GET /cases`: the work lists of all merchants as one, by kind. `POST /cases/{merchant}/{id}` closes a case.

use askama::Template;
use axum::response::Response;
use domain::id::Handle;
use domain::returns::work::WorkKind;
use serde::Deserialize;
use store::merchants::accounts;
use store::returns::open_cases::{self, OpenCase};
use uuid::Uuid;

use super::by::{By, Support, Viewer};
use super::count::{Count, MOST_COUNTED};
use super::error::ConsoleError;
use super::form::{Path, Query};
use super::frame::{Frame, Notice, Section};
use super::page::render;
use super::stamp::Stamp;
use crate::flow::returns::close_case::{Case, close_case};
use crate::http::pages::see;
use crate::node::each_cell;

/// The rows of a page.
const PAGE: usize = 50;

#[derive(Deserialize)]
pub(super) struct Filter {
    kind: Option<String>,
    after: Option<Uuid>,
    #[serde(default)]
    closed: bool,
}

struct Row {
    case: OpenCase,
    opened: Stamp,
}

#[derive(Template)]
#[template(path = "console/cases.html")]
struct Page {
    frame: Frame,
    kind: WorkKind,
    kinds: Vec<(WorkKind, &'static str)>,
    rows: Vec<Row>,
    /// The query of the next page.
    more: Option<Uuid>,
    advice: &'static str,
}

/// The cases of a kind in words, after their number.
pub(super) const fn what(kind: WorkKind, one: bool) -> &'static str {
    match (kind, one) {
        (WorkKind::RefundInQuestion, true) => "refund is in question",
        (WorkKind::RefundInQuestion, false) => "refunds are in question",
        (WorkKind::LabelRefused, true) => "label was refused by the carrier",
        (WorkKind::LabelRefused, false) => "labels were refused by the carrier",
        (WorkKind::ExchangeUnidentified, true) => "exchange order has no identifier",
        (WorkKind::ExchangeUnidentified, false) => "exchange orders have no identifier",
        (WorkKind::ExchangeAfterConversion, true) => "exchange was placed after its conversion",
        (WorkKind::ExchangeAfterConversion, false) => "exchanges were placed after their conversion",
        (WorkKind::WithdrawalUnmatched, true) => "withdrawal matches no order",
        (WorkKind::WithdrawalUnmatched, false) => "withdrawals match no order",
    }
}

/// The name of a kind.
const fn name(kind: WorkKind) -> &'static str {
    match kind {
        WorkKind::RefundInQuestion => "Refunds in question",
        WorkKind::LabelRefused => "Labels refused",
        WorkKind::ExchangeUnidentified => "Exchanges without an identifier",
        WorkKind::ExchangeAfterConversion => "Exchanges after conversion",
        WorkKind::WithdrawalUnmatched => "Unmatched withdrawals",
    }
}

/// What to do about cases of a kind.
const fn advice(kind: WorkKind) -> &'static str {
    match kind {
        WorkKind::RefundInQuestion => {
            "Ask the merchant if the refund is the shopper's money, then confirm it: backhaul returns confirm-refund --merchant HANDLE RETURN. Another refund closes the case by itself."
        }
        WorkKind::LabelRefused => {
            "The reason is the carrier's. Mend the address or the carrier account, then order the label again: backhaul returns order-label --merchant HANDLE RETURN."
        }
        WorkKind::ExchangeUnidentified => {
            "Ask the merchant for the number of the exchange order, then record it: backhaul returns exchange-placed --merchant HANDLE RETURN."
        }
        WorkKind::ExchangeAfterConversion => {
            "The shopper was promised money and gets goods. Agree with the merchant which of the two stands, and close the case."
        }
        WorkKind::WithdrawalUnmatched => {
            "Find the order and match it: backhaul withdrawals match --merchant HANDLE REFERENCE ORDER. The statement counts from the day it was made."
        }
    }
}

/// Every kind with its name.
fn kinds() -> Vec<(WorkKind, &'static str)> {
    WorkKind::ALL.iter().map(|kind| (*kind, name(*kind))).collect()
}

pub(super) async fn list(by: By<Viewer>, Query(filter): Query<Filter>) -> Result<Response, ConsoleError> {
    let kind = filter.kind.as_deref().and_then(|kind| kind.parse().ok()).unwrap_or(WorkKind::RefundInQuestion);
    let wanted = i64::try_from(PAGE).unwrap_or(i64::MAX);
    let mut cases = each_cell::list(&by.app, |store| open_cases::list(store, kind, filter.after, wanted + 1), |case| case.id).await?;
    let more = (cases.len() > PAGE).then(|| cases.get(PAGE - 1).map(|case| case.id)).flatten();
    cases.truncate(PAGE);
    let rows: Vec<Row> = cases.into_iter().map(|case| Row { opened: by.ago(case.opened_at), case }).collect();
    let counted = each_cell::each(&by.app, |store| open_cases::count(store, kind, MOST_COUNTED)).await?;
    let heading = format!("{}: {}", name(kind), Count::sum(counted.into_iter().map(|(count, _)| count)));
    let notice = filter.closed.then(|| Notice::ok("The case is closed.", "It stays in the merchant's audit log."));
    let frame = by.frame(Section::Today, &heading).with(notice);
    render(&Page { frame, kind, kinds: kinds(), rows, more, advice: advice(kind) })
}

#[derive(Template)]
#[template(path = "console/case-close.html")]
struct Preview {
    frame: Frame,
    handle: String,
    case: Uuid,
    kind: String,
}

/// Asks before a case is closed.
pub(super) async fn preview(
    by: By<Support>,
    Path((handle, case)): Path<(String, Uuid)>,
    Query(filter): Query<Filter>,
) -> Result<Response, ConsoleError> {
    let kind = filter.kind.unwrap_or_default();
    render(&Preview { frame: by.frame(Section::Today, "Close this case?"), handle, case, kind })
}

pub(super) async fn close(
    by: By<Support>,
    Path((handle, case)): Path<(String, Uuid)>,
    Query(filter): Query<Filter>,
) -> Result<Response, ConsoleError> {
    let handle: Handle = handle.parse().map_err(|_| ConsoleError::NotFound)?;
    let merchant = accounts::find(by.app.cell(), &handle).await?.ok_or(ConsoleError::NotFound)?;
    if !close_case(&by.app, &by.actor(), merchant.id, Case::Id(case)).await? {
        return Err(ConsoleError::Conflict("The case has been closed meanwhile, by somebody else or because it was settled. The merchant's audit log names who. Nothing more is needed.".to_owned()));
    }
    let kind = filter.kind.and_then(|kind| kind.parse::<WorkKind>().ok()).map_or("", WorkKind::as_str);
    Ok(see(&format!("/cases?kind={kind}&closed=true")))
}
