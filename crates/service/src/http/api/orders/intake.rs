//! Orders: `/returns_portal_orders` and `/v1/orders/{identifier}`.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequest as _, Query, Request, State};
use axum::http::header;
use axum::response::IntoResponse;
use domain::id::MerchantId;
use domain::orders::refund::Note;
use serde_json::value::RawValue;
use store::orders::refunds::Recorded;
use store::orders::{refunds, snapshots};
use wire::answer::{AcceptedOrder, ErrorBody, OrderOut, OrdersAccepted, RefundLineOut, RefundOut};
use wire::fault::Fault;
use wire::orders::order::{PublishQuery, Refusal};

use crate::app::App;
use crate::flow::orders::accept_orders::{Accepted, accept_orders, validate_orders};
use crate::flow::orders::keep_refusal::{RefusedMessage, keep_refusal};
use crate::http::api_version::ApiVersion;
use crate::http::body::JsonBody;
use crate::http::caller::Merchant;
use crate::http::error::{ApiError, Exceeded};
use crate::http::path::Named;
use crate::http::rate;
use crate::http::request_id::RequestId;
use crate::node::shares::Share;
use crate::platform::metrics::ResultLabels;

/// Publish orders.
///
/// Order history and order events, each order as a full snapshot. The newest `updated_at` wins. A message is stored as a whole
/// or not at all; 200 means that it is committed.
#[utoipa::path(
    post,
    path = "/returns_portal_orders",
    tag = "orders",
    security(("oauth2" = ["orders"])),
    params(PublishQuery, ("Api-Version" = Option<String>, Header, description = "3, the only version; it may be left out.")),
    request_body(content = ref("#/components/schemas/ReturnsPortalOrderMessage"), content_type = "application/json"),
    responses(
        (status = 200, description = "The orders are stored.", body = OrdersAccepted),
        (status = 400, description = "Malformed JSON, or an unsupported Api-Version.", body = ErrorBody),
        (status = 422, description = "The message has faults; `errors` lists each with its path, and nothing was stored.", body = ErrorBody),
    )
)]
pub(crate) async fn publish(
    State(app): State<App>,
    caller: Merchant,
    _version: ApiVersion,
    id: RequestId,
    query: Result<Query<PublishQuery>, QueryRejection>,
    request: Request,
) -> Result<Json<OrdersAccepted>, ApiError> {
    // A message counts once its body is there, so that a slow one takes nobody's place. A full node does not even read it.
    drop(admit(&app, caller.merchant)?);
    let JsonBody(body): JsonBody = JsonBody::from_request(request, &app).await?;
    let _admission = admit(&app, caller.merchant)?;
    let Query(query) = query.map_err(|_| ApiError::BadQuery("validate_only must be true or false".to_owned()))?;
    let message = match wire::orders::order::read(&body) {
        Ok(message) => message,
        Err(Refusal::Malformed(malformed)) => {
            let error = ApiError::Malformed(malformed.0);
            return Err(refuse(&app, caller.merchant, &id, error, (body.as_ref(), Vec::new()), query.validate_only).await);
        }
        Err(Refusal::Faulty(faulty)) => {
            let error = ApiError::Faulty(faulty.faults);
            return Err(refuse(&app, caller.merchant, &id, error, (body.as_ref(), faulty.identifiers), query.validate_only).await);
        }
    };
    let outcome = if query.validate_only {
        validate_orders(&app, caller.merchant, &message).await
    } else {
        accept_orders(&app, caller.merchant, message, &body).await
    };
    Ok(Json(answer(outcome?, query.validate_only)))
}

fn admit(app: &App, merchant: MerchantId) -> Result<Share, ApiError> {
    let admitted = app.intake.admit(merchant, app.limits.messages_in_flight());
    admitted.map_err(|full| rate::full(app, [Exceeded::MessagesInFlight, Exceeded::MessagesOfMerchant], full, 1))
}

/// Counts a refusal and keeps it for support, except with `validate_only`. The caller gets the error even if it cannot be kept.
async fn refuse(
    app: &App,
    merchant: MerchantId,
    id: &RequestId,
    error: ApiError,
    (body, orders): (&[u8], Vec<String>),
    validate_only: bool,
) -> ApiError {
    if validate_only {
        return error;
    }
    let (result, faults): (_, &[Fault]) = match &error {
        ApiError::Faulty(faults) => ("faulty", faults),
        _ => ("malformed", &[]),
    };
    app.metrics.refusals.get_or_create(&ResultLabels { result }).inc();
    let refused = RefusedMessage { request_id: &id.0, order_identifiers: orders, reason: &error.message(), faults, body };
    if let Err(failed) = keep_refusal(app, merchant, refused).await {
        tracing::warn!(request_id = id.0, %failed, "keeping a refusal for support failed");
    }
    error
}

fn answer(accepted: Accepted, validate_only: bool) -> OrdersAccepted {
    let orders = accepted.orders.into_iter().map(|(identifier, verdict)| AcceptedOrder { identifier, result: verdict.into() });
    let orders: Vec<AcceptedOrder> = orders.collect();
    let count = if orders.len() == 1 { "1 order".to_owned() } else { format!("{} orders", orders.len()) };
    let message = if validate_only { format!("{count} checked, nothing stored.") } else { format!("{count} accepted.") };
    OrdersAccepted { message, orders, warnings: accepted.warnings }
}

/// Show an order.
///
/// The newest snapshot exactly as it was sent, and every refund received for the order.
#[utoipa::path(
    get,
    path = "/v1/orders/{identifier}",
    tag = "orders",
    security(("oauth2" = ["orders"])),
    params(("identifier" = String, Path, description = "The merchant's identifier of the order.")),
    responses(
        (status = 200, description = "The order.", body = OrderOut),
        (status = 404, description = "The merchant has no such order.", body = ErrorBody),
    )
)]
pub(crate) async fn show(
    State(app): State<App>,
    caller: Merchant,
    Named(identifier): Named<String>,
) -> Result<impl IntoResponse, ApiError> {
    let stored = snapshots::find(app.store(caller.merchant), caller.merchant, &identifier).await?.ok_or(ApiError::NotFound)?;
    let recorded = refunds::list(app.store(caller.merchant), caller.merchant, &identifier).await?;
    let raw = |text: String| RawValue::from_string(text).map_err(|_| ApiError::Internal("a stored text is not JSON".to_owned()));
    let order = raw(stored.snapshot)?;
    let warnings = raw(stored.warnings.unwrap_or_else(|| "[]".to_owned()))?;
    let answer = OrderOut {
        identifier: &stored.identifier,
        revision: stored.revision,
        received_at: wire::time::write(stored.received_at),
        order: &order,
        refunds: recorded.iter().map(refund_out).collect(),
        warnings: &warnings,
    };
    let body = serde_json::to_vec(&answer).map_err(|error| ApiError::Internal(error.to_string()))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], body))
}

fn refund_out(recorded: &Recorded) -> RefundOut<'_> {
    let refund = &recorded.refund;
    RefundOut {
        identifier: &recorded.identifier,
        total_refund_amount_cents: refund.total.get(),
        created_at: wire::time::write(refund.refunded_at),
        note: refund.note.as_ref().map(|Note(note)| note.as_str()),
        rma_identifier: refund.rma_identifier.as_deref(),
        refund_line_items: refund
            .lines
            .iter()
            .map(|line| RefundLineOut { identifier: &line.identifier, quantity: line.quantity, order_item_identifier: &line.order_line })
            .collect(),
        received_at: wire::time::write(recorded.received_at),
    }
}
