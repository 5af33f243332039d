//! The history import: `/v1/order_imports`.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use crate::fault::Fault;

/// How many refused lines a page of the report has at most.
pub const MOST_REFUSALS: u32 = 1_000;

/// How many it has when nothing is said.
const USUAL_REFUSALS: u32 = 100;

/// How an import is sent.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ImportQuery {
    /// The import to go on with. The body is the same file again, from its start; the lines that are done are skipped.
    #[param(required = false)]
    pub resume: Option<String>,
}

/// Which part of a report is wanted.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct RefusalsQuery {
    /// Only lines after this one.
    #[serde(default)]
    #[param(required = false, minimum = 0)]
    pub after: u64,
    /// How many lines at most.
    #[serde(default = "usual_refusals")]
    #[param(required = false, minimum = 1, maximum = 1_000, default = 100)]
    pub limit: u32,
}

fn usual_refusals() -> u32 {
    USUAL_REFUSALS
}

/// Where an import stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImportState {
    /// Its lines are being read.
    Running,
    /// It broke off; what was read is stored, and it can be resumed.
    Interrupted,
    /// Every line was read.
    Done,
}

/// How many orders were accepted, by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct AcceptedCounts {
    /// They were not known before.
    pub created: u64,
    /// They replaced an older snapshot.
    pub updated: u64,
    /// They are the stored snapshot.
    pub unchanged: u64,
    /// A newer snapshot is stored; only refunds not seen before were taken.
    pub stale: u64,
}

/// A history import.
#[derive(Serialize, ToSchema)]
pub struct OrderImport {
    /// Its id.
    pub import_id: String,
    /// Where it stands.
    pub state: ImportState,
    /// How many lines are done, blank ones included.
    pub lines: u64,
    /// The orders that were accepted.
    pub accepted: AcceptedCounts,
    /// How many lines were refused.
    pub refused: u64,
    /// A summary, and what to do.
    pub message: String,
    /// When it was begun.
    pub started_at: String,
    /// When it last made progress.
    pub updated_at: String,
}

/// The newest imports.
#[derive(Serialize, ToSchema)]
pub struct OrderImports {
    /// Newest first; at most 100.
    pub imports: Vec<OrderImport>,
}

/// A line that was refused.
#[derive(Serialize, ToSchema)]
pub struct RefusedLine<'a> {
    /// Its number, counted from 1.
    pub line: u64,
    /// The identifier of its order, if it can be told.
    pub order_identifier: Option<&'a str>,
    /// Its faults (the first 100), with paths relative to the order, such as `items[0].sku`.
    #[schema(value_type = Vec<Fault>)]
    pub errors: &'a RawValue,
}

/// A part of an import's report.
#[derive(Serialize, ToSchema)]
pub struct RefusedLines<'a> {
    /// The refused lines, by number.
    pub refusals: Vec<RefusedLine<'a>>,
    /// Ask for the lines after this one to read on; null when there are no more.
    pub next_after: Option<u64>,
}
