//! The bodies of the answers.

use domain::snapshot::Verdict;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::fault::{Fault, Warning};

/// An error. The shape is the same everywhere; `errors` is filled where single fields are at fault.
#[derive(Serialize, ToSchema)]
pub struct ErrorBody<'a> {
    /// The error's name in OAuth, at the token endpoint only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'static str>,
    /// What is wrong, and what to do.
    pub message: &'a str,
    /// Every fault of the message.
    pub errors: &'a [Fault],
    /// Names the request in the logs; quote it to support.
    pub request_id: &'a str,
}

/// The same as RFC 9457 has it, for callers that accept `application/problem+json`.
#[derive(Serialize, ToSchema)]
pub struct ProblemBody<'a> {
    /// Always `about:blank`: the status says it all.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The status in words.
    pub title: &'a str,
    /// The status.
    pub status: u16,
    /// What is wrong, and what to do.
    pub detail: &'a str,
    /// Every fault of the message.
    pub errors: &'a [Fault],
    /// Names the request in the logs; quote it to support.
    pub request_id: &'a str,
}

/// What became of one order of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrderResult {
    /// It was not known before.
    Created,
    /// It replaced an older snapshot.
    Updated,
    /// It is the stored snapshot.
    Unchanged,
    /// A newer snapshot is stored; only refunds not seen before were taken.
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
    /// The merchant's identifier.
    pub identifier: String,
    /// What became of it.
    pub result: OrderResult,
}

/// The answer to an accepted order message.
#[derive(Serialize, ToSchema)]
pub struct OrdersAccepted {
    /// A summary.
    pub message: String,
    /// The orders, as they stood in the message.
    pub orders: Vec<AcceptedOrder>,
    /// What does not add up.
    pub warnings: Vec<Warning>,
}

/// A stored order.
#[derive(Serialize, ToSchema)]
#[schema(as = StoredOrder)]
pub struct OrderOut<'a> {
    /// The merchant's identifier.
    pub identifier: &'a str,
    /// Grows by one with every snapshot that was taken.
    pub revision: i64,
    /// When the stored snapshot was received.
    pub received_at: String,
    /// The newest snapshot, exactly as sent.
    #[schema(value_type = Object)]
    pub order: &'a RawValue,
    /// Every refund received, also those that later snapshots left out.
    pub refunds: Vec<RefundOut<'a>>,
    /// What did not add up in the stored snapshot.
    #[schema(value_type = Vec<Warning>)]
    pub warnings: &'a RawValue,
}

/// A recorded refund.
#[derive(Serialize, ToSchema)]
#[schema(as = RecordedRefund)]
pub struct RefundOut<'a> {
    /// Unique across all refunds.
    pub identifier: &'a str,
    /// What was paid back.
    pub total_refund_amount_cents: i64,
    /// The merchant's time.
    pub created_at: String,
    /// The merchant's remark.
    pub note: Option<&'a str>,
    /// The RMA that it names.
    pub rma_identifier: Option<&'a str>,
    /// The units covered.
    pub refund_line_items: Vec<RefundLineOut<'a>>,
    /// When it was first received.
    pub received_at: String,
}

/// Units covered by a recorded refund.
#[derive(Serialize, ToSchema)]
#[schema(as = RecordedRefundLine)]
pub struct RefundLineOut<'a> {
    /// Unique across all refunds.
    pub identifier: &'a str,
    /// How many.
    pub quantity: u32,
    /// The order line.
    pub order_item_identifier: &'a str,
}
