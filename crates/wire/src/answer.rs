//! Common response bodies.

use domain::orders::snapshot::Verdict;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::fault::{Fault, Warning};

/// An error. Every endpoint uses this shape; `errors` lists the fields at fault, if any.
#[derive(Serialize, ToSchema)]
pub struct ErrorBody<'a> {
    /// OAuth error code; only at the token endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'static str>,
    /// Only of a 404: `no_such_route` if there is no such route, `not_found` if there is no such record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// The problem, and how to fix it.
    pub message: &'a str,
    /// All faults of the request.
    pub errors: &'a [Fault],
    /// The request's id in the logs; quote it when you contact support.
    pub request_id: &'a str,
}

/// The same error as RFC 9457 problem details, for callers that accept `application/problem+json`.
#[derive(Serialize, ToSchema)]
pub struct ProblemBody<'a> {
    /// `about:blank`: the status code is the type. Of a 404, `urn:backhaul:problem:no-such-route` if there is no such route, and
    /// `urn:backhaul:problem:not-found` if there is no such record.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// HTTP status text.
    pub title: &'a str,
    /// HTTP status code.
    pub status: u16,
    /// The problem, and how to fix it.
    pub detail: &'a str,
    /// All faults of the request.
    pub errors: &'a [Fault],
    /// The request's id in the logs; quote it when you contact support.
    pub request_id: &'a str,
}

/// The result for one order of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrderResult {
    /// The order was not known before.
    Created,
    /// The snapshot replaced an older one.
    Updated,
    /// The snapshot is the one already stored.
    Unchanged,
    /// A newer snapshot is already stored; only new refunds were recorded.
    Stale,
}

impl From<Verdict> for OrderResult {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Created => Self::Created,
            Verdict::Updated => Self::Updated,
            Verdict::Unchanged => Self::Unchanged,
            Verdict::Stale => Self::Stale,
        }
    }
}

/// One order of an accepted message.
#[derive(Serialize, ToSchema)]
pub struct AcceptedOrder {
    /// The merchant's order identifier.
    pub identifier: String,
    /// Result.
    pub result: OrderResult,
}

/// The response to an accepted order message.
#[derive(Serialize, ToSchema)]
pub struct OrdersAccepted {
    /// Summary for people.
    pub message: String,
    /// The orders, in the order of the message.
    pub orders: Vec<AcceptedOrder>,
    /// Amounts and dates that do not add up.
    pub warnings: Vec<Warning>,
}

/// A stored order.
#[derive(Serialize, ToSchema)]
#[schema(as = StoredOrder)]
pub struct OrderOut<'a> {
    /// The merchant's order identifier.
    pub identifier: &'a str,
    /// Increases by one with every accepted snapshot.
    pub revision: i64,
    /// Time the stored snapshot was received.
    pub received_at: String,
    /// The newest snapshot, exactly as sent.
    #[schema(value_type = Object)]
    pub order: &'a RawValue,
    /// Every refund received, including those that later snapshots left out.
    pub refunds: Vec<RefundOut<'a>>,
    /// Warnings about the stored snapshot.
    #[schema(value_type = Vec<Warning>)]
    pub warnings: &'a RawValue,
}

/// A recorded refund.
#[derive(Serialize, ToSchema)]
#[schema(as = RecordedRefund)]
pub struct RefundOut<'a> {
    /// Unique across all refunds.
    pub identifier: &'a str,
    /// Amount refunded.
    pub total_refund_amount_cents: i64,
    /// Time of the refund, as the merchant reported it.
    pub created_at: String,
    /// The merchant's note.
    pub note: Option<&'a str>,
    /// The RMA named in the refund.
    pub rma_identifier: Option<&'a str>,
    /// The units covered.
    pub refund_line_items: Vec<RefundLineOut<'a>>,
    /// Time the refund was first received.
    pub received_at: String,
}

/// Units covered by a recorded refund.
#[derive(Serialize, ToSchema)]
#[schema(as = RecordedRefundLine)]
pub struct RefundLineOut<'a> {
    /// Unique across all refunds.
    pub identifier: &'a str,
    /// Number of units.
    pub quantity: u32,
    /// Order line identifier.
    pub order_item_identifier: &'a str,
}
