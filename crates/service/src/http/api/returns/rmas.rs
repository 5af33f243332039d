//! Returns: `/v1/returns` and `/v1/orders/{identifier}/returnable`.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use domain::returns::rma::policy::BY_MERCHANT;
use domain::returns::rma::{Held, Refused};
use sha2::{Digest as _, Sha256};
use store::returns::rma_pages::{self, Filter};
use store::returns::{labels, rmas};
use wire::answer::ErrorBody;
use wire::fault::{Code, Fault};
use wire::page::PageQuery;
use wire::returns::api::{ReturnOut, ReturnableOut, Returns, ReturnsQuery};
use wire::time;

use crate::app::App;
use crate::flow::returns::cancel_return::{CancelReturnError, cancel_return};
use crate::flow::returns::confirm_refund::{self, ConfirmRefundError};
use crate::flow::returns::order_label::{self, OrderLabelError};
use crate::flow::returns::resend_return::resend_return;
use crate::flow::returns::start_return::{IdempotencyKey, StartReturnError, StartedReturn, start_return};
use crate::http::api::returns::{ACTOR, exchange_options};
use crate::http::body::JsonBody;
use crate::http::caller::Merchant;
use crate::http::error::{ApiError, sentence};
use crate::http::page::{Page, identifier};
use crate::http::path::{Named, PathParameter};
use crate::show::returns::returnable::{self, NO_SESSION};
use crate::show::returns::rmas as returns;

const KEY: &str = "idempotency-key";
const LONGEST_KEY: usize = 255;

/// Start a return.
///
/// Claims the units and queues the RMA message before it answers. With an `Idempotency-Key` the same request can be repeated for
/// 48 hours: it gets the same answer, and no second return is started.
#[utoipa::path(
    post,
    path = "/v1/returns",
    tag = "returns",
    security(("oauth2" = ["orders"])),
    params(("Idempotency-Key" = Option<String>, Header, description = "1 to 255 visible ASCII characters, new for every return.")),
    request_body(content = ref("#/components/schemas/StartReturn"), content_type = "application/json"),
    responses(
        (status = 201, description = "The return is started.", body = ReturnOut),
        (status = 200, description = "The return was started before, by a request with this key.", body = ReturnOut),
        (status = 400, description = "Malformed JSON, or an invalid `Idempotency-Key`.", body = ErrorBody),
        (status = 409, description = "The `Idempotency-Key` was used for another request.", body = ErrorBody),
        (status = 422, description = "The request has faults, such as units that cannot be returned; `errors` lists each with its path, and nothing was started.", body = ErrorBody),
        (status = 502, description = "The exchange options are unknown: the merchant's system is unreachable or returned an error.", body = ErrorBody),
    )
)]
pub(crate) async fn start(
    State(app): State<App>,
    caller: Merchant,
    headers: HeaderMap,
    JsonBody(body): JsonBody,
) -> Result<impl IntoResponse, ApiError> {
    let key = key(&headers, &body)?;
    let wanted = wire::returns::api::read(&body)?;
    let StartedReturn { answer, repeated } =
        start_return(&app, None, caller.merchant, &wanted, key.as_ref()).await.map_err(|error| match error {
            StartReturnError::NoSuchOrder => {
                ApiError::Faulty(vec![Fault::new("order_identifier", Code::Invalid, "is not an order of the merchant")])
            }
            StartReturnError::Faulty(faults) => ApiError::Faulty(faults),
            StartReturnError::KeyUsed => {
                ApiError::Conflict("The Idempotency-Key was used for another request. Use a new one for every return.".to_owned())
            }
            StartReturnError::Options(error) => exchange_options::refused(error),
            StartReturnError::Failed(failed) => failed.into(),
        })?;
    let status = if repeated { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, [(header::CONTENT_TYPE, "application/json")], answer))
}

/// Reads the `Idempotency-Key` of a request, if it has one.
fn key(headers: &HeaderMap, body: &[u8]) -> Result<Option<IdempotencyKey>, ApiError> {
    let Some(value) = headers.get(KEY) else { return Ok(None) };
    let fits = |key: &&str| (1..=LONGEST_KEY).contains(&key.len()) && key.bytes().all(|b| b.is_ascii_graphic());
    let key = value.to_str().ok().filter(fits);
    let key = key.ok_or_else(|| ApiError::BadHeader(format!("Idempotency-Key must be 1 to {LONGEST_KEY} visible ASCII characters")))?;
    Ok(Some(IdempotencyKey { key: key.to_owned(), request_hash: Sha256::digest(body).into(), draft: None }))
}

/// List returns.
///
/// Newest first, optionally by order, tracking number, status, or the time at which they were started.
#[utoipa::path(
    get,
    path = "/v1/returns",
    tag = "returns",
    security(("oauth2" = ["orders"])),
    params(ReturnsQuery, PageQuery),
    responses(
        (status = 200, description = "A page of returns.", body = Returns),
        (status = 400, description = "A filter, `cursor` or `limit` is invalid.", body = ErrorBody),
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    caller: Merchant,
    page: Page,
    query: Result<Query<ReturnsQuery>, QueryRejection>,
) -> Result<Json<Returns>, ApiError> {
    let Query(query) = query?;
    let filter = filter(&query)?;
    let found = rma_pages::list(app.store(caller.merchant), caller.merchant, &filter, page.place()?, page.limit as usize).await?;
    Ok(Json(Returns { items: found.returns.into_iter().map(returns::listed).collect(), next: found.next.map(|next| next.to_string()) }))
}

/// Reads the filter of a query.
fn filter(query: &ReturnsQuery) -> Result<Filter, ApiError> {
    let bad = |why: &str| ApiError::BadQuery(why.to_owned());
    for text in [&query.order_identifier, &query.tracking_number] {
        identifier(text.as_deref())?;
    }
    let status = query.status.as_ref().map(|status| status.parse());
    let status = status.transpose().map_err(|_| bad("status must be CREATED, PARTIAL_REFUND, REFUNDED or CANCELED"))?;
    let time = |text: &Option<String>| match text {
        None => Ok(None),
        Some(text) => time::read(text).map(Some).ok_or_else(|| bad("from and to must be times such as 2026-03-01T12:00:00Z")),
    };
    Ok(Filter {
        order: query.order_identifier.clone(),
        tracking_number: query.tracking_number.clone(),
        status,
        from: time(&query.from)?,
        to: time(&query.to)?,
    })
}

/// Show a return.
///
/// Its state and that of each unit, and how the amount of each unit is calculated.
#[utoipa::path(
    get,
    path = "/v1/returns/{rma_identifier}",
    tag = "returns",
    security(("oauth2" = ["orders"])),
    params(("rma_identifier" = String, Path, description = "The RMA identifier, in any spelling: `r7kq4xm92`.")),
    responses(
        (status = 200, description = "The return.", body = ReturnOut),
        (status = 404, description = "The merchant has no such return.", body = ErrorBody),
    )
)]
pub(crate) async fn show(
    State(app): State<App>,
    caller: Merchant,
    Named(RmaIdentifier(rma)): Named<RmaIdentifier>,
) -> Result<Json<ReturnOut>, ApiError> {
    let kept = rmas::find(app.store(caller.merchant), caller.merchant, &rma).await?.ok_or(ApiError::NotFound)?;
    Ok(Json(returns::look(&app, caller.merchant, &kept).await?))
}

/// Get a return's label.
///
/// The document to print, once the label was bought from the carrier.
#[utoipa::path(
    get,
    path = "/v1/returns/{rma_identifier}/label",
    tag = "returns",
    security(("oauth2" = ["orders"])),
    params(("rma_identifier" = String, Path, description = "The RMA identifier.")),
    responses(
        (status = 200, description = "The label.", content_type = "application/pdf"),
        (status = 404, description = "The merchant has no such return, or no label was bought for it yet.", body = ErrorBody),
    )
)]
pub(crate) async fn label(
    State(app): State<App>,
    caller: Merchant,
    Named(RmaIdentifier(rma)): Named<RmaIdentifier>,
) -> Result<impl IntoResponse, ApiError> {
    let pdf = labels::document(app.store(caller.merchant), caller.merchant, &rma).await?.ok_or(ApiError::NotFound)?;
    Ok(([(header::CONTENT_TYPE, "application/pdf")], pdf))
}

/// Get the QR code of a return's label.
///
/// The picture that a shopper shows at the counter instead of a printed label. With `express-returns` it is fetched from the carrier
/// right after the label was bought. Not every carrier sells one; the label can be printed in any case.
#[utoipa::path(
    get,
    path = "/v1/returns/{rma_identifier}/label/code",
    tag = "returns",
    security(("oauth2" = ["orders"])),
    params(("rma_identifier" = String, Path, description = "The RMA identifier.")),
    responses(
        (status = 200, description = "The QR code.", content_type = "image/png"),
        (status = 404, description = "The merchant has no such return, or there is no QR code for it, or not yet.", body = ErrorBody),
    )
)]
pub(crate) async fn label_code(
    State(app): State<App>,
    caller: Merchant,
    Named(RmaIdentifier(rma)): Named<RmaIdentifier>,
) -> Result<impl IntoResponse, ApiError> {
    let png = labels::code(app.store(caller.merchant), caller.merchant, &rma).await?.ok_or(ApiError::NotFound)?;
    Ok(([(header::CONTENT_TYPE, "image/png")], png))
}

/// Order a return's label.
///
/// Buys the label with the address that the order has now, after the carrier refused it or because there was no carrier account
/// before. While it is being bought, asking again changes nothing.
#[utoipa::path(
    post,
    path = "/v1/returns/{rma_identifier}/label",
    tag = "returns",
    security(("oauth2" = ["orders"])),
    params(("rma_identifier" = String, Path, description = "The RMA identifier.")),
    responses(
        (status = 202, description = "The label is being bought.", body = ReturnOut),
        (status = 404, description = "The merchant has no such return.", body = ErrorBody),
        (status = 409, description = "The return has a label or needs none, or the merchant has no carrier account.", body = ErrorBody),
    )
)]
pub(crate) async fn order_label(
    State(app): State<App>,
    caller: Merchant,
    Named(RmaIdentifier(rma)): Named<RmaIdentifier>,
) -> Result<(StatusCode, Json<ReturnOut>), ApiError> {
    let kept = order_label::order_label(&app, ACTOR, caller.merchant, &rma).await.map_err(|error| match error {
        OrderLabelError::NoSuchReturn => ApiError::NotFound,
        OrderLabelError::Failed(failed) => failed.into(),
        OrderLabelError::Cancelled
        | OrderLabelError::Refunded
        | OrderLabelError::Kept
        | OrderLabelError::Labelled
        | OrderLabelError::NoCarrier => ApiError::Conflict(format!("No label can be ordered for the return {rma}: {error}.")),
    })?;
    Ok((StatusCode::ACCEPTED, Json(returns::look(&app, caller.merchant, &kept).await?)))
}

/// Cancel a return.
///
/// Possible until a unit is accepted or scanned by the carrier, received or refunded. The units can then be returned again. A
/// cancelled return stays cancelled.
#[utoipa::path(
    post,
    path = "/v1/returns/{rma_identifier}/cancel",
    tag = "returns",
    security(("oauth2" = ["orders"])),
    params(("rma_identifier" = String, Path, description = "The RMA identifier.")),
    responses(
        (status = 200, description = "The return is cancelled.", body = ReturnOut),
        (status = 404, description = "The merchant has no such return.", body = ErrorBody),
        (status = 409, description = "The return can no longer be cancelled.", body = ErrorBody),
    )
)]
pub(crate) async fn cancel(
    State(app): State<App>,
    caller: Merchant,
    Named(RmaIdentifier(rma)): Named<RmaIdentifier>,
) -> Result<Json<ReturnOut>, ApiError> {
    let kept = cancel_return(&app, ACTOR, caller.merchant, &rma, BY_MERCHANT).await.map_err(|error| match error {
        CancelReturnError::NoSuchReturn => ApiError::NotFound,
        CancelReturnError::Refused(Refused::NotCancelable(held)) => {
            let next = match held {
                Held::Accepted | Held::Scanned | Held::Received => " Refund it instead.",
                Held::Settled | Held::Refunded | Held::ExchangeOwed | Held::ExchangePlaced => "",
            };
            ApiError::Conflict(format!("The return {rma} cannot be cancelled: {held}.{next}"))
        }
        CancelReturnError::Refused(refused) => ApiError::Conflict(sentence(refused)),
        CancelReturnError::Failed(failed) => failed.into(),
    })?;
    Ok(Json(returns::look(&app, caller.merchant, &kept).await?))
}

/// Confirm a refund that is in question.
///
/// A refund that was reported while the exchange order was owed does not settle the unit if the exchange is converted into a refund
/// afterwards: it may have been the settlement with the service. This confirms that it was the shopper's money. A new refund settles
/// the unit, too.
#[utoipa::path(
    post,
    path = "/v1/returns/{rma_identifier}/confirm_refund",
    tag = "returns",
    security(("oauth2" = ["orders"])),
    params(("rma_identifier" = String, Path, description = "The RMA identifier.")),
    responses(
        (status = 200, description = "The units are refunded.", body = ReturnOut),
        (status = 404, description = "The merchant has no such return.", body = ErrorBody),
        (status = 409, description = "No refund of the return is in question.", body = ErrorBody),
    )
)]
pub(crate) async fn confirm_refund(
    State(app): State<App>,
    caller: Merchant,
    Named(RmaIdentifier(rma)): Named<RmaIdentifier>,
) -> Result<Json<ReturnOut>, ApiError> {
    let confirmed = confirm_refund::confirm_refund(&app, ACTOR, caller.merchant, &rma).await;
    let kept = confirmed.map_err(|error| match error {
        ConfirmRefundError::NoSuchReturn => ApiError::NotFound,
        ConfirmRefundError::NothingInQuestion => ApiError::Conflict(sentence(error)),
        ConfirmRefundError::Failed(failed) => failed.into(),
    })?;
    Ok(Json(returns::look(&app, caller.merchant, &kept).await?))
}

/// Send a return's message again.
///
/// Sends the current state of the return as a new message, with the next sequence number and the event `rma.resent`.
#[utoipa::path(
    post,
    path = "/v1/returns/{rma_identifier}/resend",
    tag = "returns",
    security(("oauth2" = ["orders"])),
    params(("rma_identifier" = String, Path, description = "The RMA identifier.")),
    responses(
        (status = 202, description = "The message is owed.", body = ReturnOut),
        (status = 404, description = "The merchant has no such return.", body = ErrorBody),
    )
)]
pub(crate) async fn resend(
    State(app): State<App>,
    caller: Merchant,
    Named(RmaIdentifier(rma)): Named<RmaIdentifier>,
) -> Result<(StatusCode, Json<ReturnOut>), ApiError> {
    let kept = resend_return(&app, ACTOR, caller.merchant, &rma).await?.ok_or(ApiError::NotFound)?;
    Ok((StatusCode::ACCEPTED, Json(returns::look(&app, caller.merchant, &kept).await?)))
}

/// The identifier of a return in a path, in the spelling that is stored.
pub(crate) struct RmaIdentifier(pub(in crate::http::api) String);

impl PathParameter for RmaIdentifier {
    fn read(text: String) -> Option<Self> {
        String::read(text).map(|typed| Self(returns::identifier(&typed)))
    }
}

/// Show what can be returned.
///
/// For every line of the order: how many units can be returned and until when, and why the others cannot.
#[utoipa::path(
    get,
    path = "/v1/orders/{identifier}/returnable",
    tag = "returns",
    security(("oauth2" = ["orders"])),
    params(("identifier" = String, Path, description = "The merchant's identifier of the order.")),
    responses(
        (status = 200, description = "The lines of the order.", body = ReturnableOut),
        (status = 404, description = "The merchant has no such order.", body = ErrorBody),
    )
)]
pub(crate) async fn returnable(
    State(app): State<App>,
    caller: Merchant,
    Named(identifier): Named<String>,
) -> Result<Json<ReturnableOut>, ApiError> {
    let found = returnable::find(&app, caller.merchant, &identifier, NO_SESSION).await?.ok_or(ApiError::NotFound)?;
    Ok(Json(returns::returnable(&found.order, &found.lines)))
}
