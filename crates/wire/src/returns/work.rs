//! The operator's work list: `/v1/work_items`.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Maximum page size.
pub const MOST_ITEMS: u32 = 100;

/// Default page size.
const USUAL_ITEMS: u32 = 50;

/// Query parameters for the work list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct WorkItemsQuery {
    /// Cursor: the `next_before` of the previous page.
    #[param(required = false)]
    pub before: Option<String>,
    /// Maximum number of results per page.
    #[serde(default = "usual_items")]
    #[param(required = false, minimum = 1, maximum = 100, default = 50)]
    pub limit: u32,
}

fn usual_items() -> u32 {
    USUAL_ITEMS
}

/// A page of the work list.
#[derive(Serialize, ToSchema)]
pub struct WorkItems {
    /// Open cases, newest first.
    pub work_items: Vec<WorkItemOut>,
    /// True if there may be more pages.
    pub has_more: bool,
    /// Pass it as `before` to get the next page; null on the last page.
    pub next_before: Option<String>,
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
