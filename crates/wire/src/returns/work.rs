//! The operator's work list: `/v1/work_items`.

use serde::Serialize;
use utoipa::ToSchema;

/// A page of the work list.
#[derive(Serialize, ToSchema)]
pub struct WorkItems {
    /// Open cases, newest first.
    pub items: Vec<WorkItemOut>,
    /// Pass it as `cursor` to get the next page; null on the last page.
    pub next: Option<String>,
}

/// A case that a person must decide or mend.
#[derive(Serialize, ToSchema)]
pub struct WorkItemOut {
    /// Id of the case.
    pub work_item_id: String,
    /// Kind of the case: `exchange_unidentified`, `exchange_after_conversion`, `refund_in_question`, `label_refused` or `withdrawal_unmatched`.
    pub kind: &'static str,
    /// The return, the order if there is no return, or the reference of a withdrawal.
    pub subject: String,
    /// What happened, and what to do.
    pub reason: String,
    /// Time the case was opened.
    pub opened_at: String,
}
