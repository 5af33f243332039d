//! Returns that a warehouse waits for: `/v1/expected_returns`.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Query parameters for listing expected returns.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ExpectedReturnsQuery {
    /// Only this return.
    #[param(required = false)]
    pub rma_identifier: Option<String>,
    /// Only the return with this tracking number.
    #[param(required = false)]
    pub tracking_number: Option<String>,
}

/// A page of expected returns.
#[derive(Serialize, ToSchema)]
pub struct ExpectedReturns {
    /// Newest first.
    pub items: Vec<ExpectedReturn>,
    /// Pass it as `cursor` to get the next page; null on the last page.
    pub next: Option<String>,
}

/// A return at the warehouse.
#[derive(Serialize, ToSchema)]
pub struct ExpectedReturn {
    /// Identifier of the return.
    pub rma_identifier: String,
    /// Order of the returned units.
    pub order_identifier: String,
    /// `mail-back` or `express-returns`.
    pub return_method: &'static str,
    /// Tracking numbers of its parcels; empty as long as there is no label.
    pub tracking_numbers: Vec<String>,
    /// True once receiving was closed. Units that arrive later are still received.
    pub closed: bool,
    /// Its units, by order line.
    pub lines: Vec<ExpectedLine>,
    /// Time the return was started.
    pub created_at: String,
}

/// The returned units of an order line.
#[derive(Serialize, ToSchema)]
pub struct ExpectedLine {
    /// Identifier of the order line.
    pub line_identifier: String,
    /// SKU.
    pub sku: String,
    /// Product title.
    pub title: Option<String>,
    /// Number of units that have not arrived.
    pub expected: u32,
    /// Number of units that have arrived.
    pub received: u32,
}
