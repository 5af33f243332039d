//! The history import: `/v1/order_imports`.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use crate::fault::Fault;

/// Query parameters for sending an import.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ImportQuery {
    /// The import to resume. Send the same file again from its start; lines that are done are skipped.
    #[param(required = false)]
    pub resume: Option<String>,
}

/// The state of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImportState {
    /// Lines are being read.
    Running,
    /// Broke off. Orders read so far are stored, and the import can be resumed.
    Interrupted,
    /// All lines were read.
    Done,
}

/// Accepted orders by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct AcceptedCounts {
    /// Orders that were not known before.
    pub created: u64,
    /// Orders that replaced an older snapshot.
    pub updated: u64,
    /// Orders whose snapshot was already stored.
    pub unchanged: u64,
    /// Orders of which a newer snapshot is already stored; only new refunds were recorded.
    pub stale: u64,
}

/// A history import.
#[derive(Serialize, ToSchema)]
pub struct OrderImport {
    /// Import id.
    pub import_id: String,
    /// State.
    pub state: ImportState,
    /// Lines read so far, including blank ones.
    pub lines: u64,
    /// Accepted orders by result.
    pub accepted: AcceptedCounts,
    /// Number of refused lines.
    pub refused: u64,
    /// Summary, and what to do next.
    pub message: String,
    /// Time the import started.
    pub started_at: String,
    /// Time of the last progress.
    pub updated_at: String,
}

/// A page of imports.
#[derive(Serialize, ToSchema)]
pub struct OrderImports {
    /// Newest first.
    pub items: Vec<OrderImport>,
    /// Pass it as `cursor` to get the next page; null on the last page.
    pub next: Option<String>,
}

/// A line that was refused.
#[derive(Serialize, ToSchema)]
pub struct RefusedLine<'a> {
    /// Line number, from 1.
    pub line: u64,
    /// Order identifier, if it is readable.
    pub order_identifier: Option<&'a str>,
    /// Faults of the line (the first 100), with paths relative to the order, such as `items[0].sku`.
    #[schema(value_type = Vec<Fault>)]
    pub errors: &'a RawValue,
}

/// A page of an import's report.
#[derive(Serialize, ToSchema)]
pub struct RefusedLines<'a> {
    /// Refused lines, ordered by line number.
    pub items: Vec<RefusedLine<'a>>,
    /// Pass it as `cursor` to get the next page; null on the last page.
    pub next: Option<String>,
}
