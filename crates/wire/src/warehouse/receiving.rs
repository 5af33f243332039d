//! Units that a warehouse scans, and receiving exceptions: `/v1/receipts`, `/v1/receiving_exceptions`.

use std::sync::LazyLock;

use domain::warehouse::inbound::Exception;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::explainer::Explainer;
use crate::fault::{Code, Fault, Path};
use crate::request::{self, Refusal};
use crate::shape::{Identifier, List, object};
use crate::warehouse::asn::{AsnNumber, ConditionWord};
use crate::warehouse::inbound::Asin;

/// The most units in one message.
pub const MOST_UNITS: usize = 500;

object! {
    /// Units that have arrived.
    pub struct ReceiptsIn<'a> as "Receipts" at 1 {
        /// 1 to 500 units.
        units: List<ReceivedUnitIn<'a>, 1, MOST_UNITS>,
    }
}

object! {
    /// A unit that has arrived. It is received against the line it names, else against the line that announces this unit, else
    /// against the first incomplete line of its SKU.
    pub struct ReceivedUnitIn<'a> as "ReceivedUnit" at 3 {
        /// ASN number.
        asn_number: AsnNumber<'a>,
        /// License plate of the unit. A unit is received only once, whatever later scans say.
        unit_identifier: Identifier<'a>,
        /// Internal id of the warehouse.
        warehouse_identifier: Identifier<'a>,
        /// Line of the ASN, if known.
        line_identifier: Option<Identifier<'a>>,
        /// The merchant's own identifier of the unit.
        client_unit_identifier: Option<Identifier<'a>>,
        /// SKU.
        sku: Option<Identifier<'a>>,
        /// Carton it came in.
        carton_identifier: Option<Identifier<'a>>,
        /// Condition grade.
        condition: ConditionWord,
        /// Assigned channel; defaults to the ASN's.
        channel: Option<Identifier<'a>>,
        /// UPC.
        upc: Option<Identifier<'a>>,
        /// Serial number.
        serial_number: Option<Identifier<'a>>,
        /// Product identifier: ten letters and digits.
        asin: Option<Asin<'a>>,
        /// Return reason.
        return_reason: Option<Identifier<'a>>,
        /// Reject reason. A rejected unit does not change its return.
        reject_reason: Option<Identifier<'a>>,
        /// Login of the person handling the unit.
        user_login: Option<Identifier<'a>>,
        /// Tracking number on the parcel.
        tracking_number: Option<Identifier<'a>>,
        /// First storage location.
        location_identifier: Option<Identifier<'a>>,
    }
}

static EXPLAINER: LazyLock<Explainer> = LazyLock::new(Explainer::of::<ReceiptsIn<'_>>);

/// Reads units that have arrived.
pub fn read(body: &[u8]) -> Result<ReceiptsIn<'_>, Refusal> {
    request::read(body, &EXPLAINER)
}

/// The faults of units whose warehouse is not one of the merchant's.
#[must_use]
pub fn unknown_warehouses(units: &[usize]) -> Vec<Fault> {
    let at = |unit: &usize| Path::root().field("units").index(*unit).field("warehouse_identifier");
    units.iter().map(|unit| Fault::new(at(unit), Code::Invalid, "is not a warehouse of the merchant")).collect()
}

/// The results for the scanned units.
#[derive(Serialize, ToSchema)]
pub struct ReceiptsTaken {
    /// One entry per unit, in the order sent.
    pub units: Vec<UnitTaken>,
}

/// The result for a unit.
#[derive(Serialize, ToSchema)]
pub struct UnitTaken {
    /// License plate of the unit.
    pub unit_identifier: String,
    /// `received`: the merchant is sent a message. `already_received`: the unit was received before; no message is sent again.
    /// `exception`: the unit is on the list of exceptions.
    pub result: &'static str,
    /// ASN that the unit is, or was, received against.
    pub asn_number: String,
    /// Line that the unit is, or was, received against.
    pub line_identifier: Option<String>,
    /// Exception: `unknown_asn`, `canceled_asn`, `unexpected_unit` or `over_received`.
    pub exception: Option<&'static str>,
    /// The exception as a sentence.
    pub message: Option<&'static str>,
}

/// Query parameters for listing exceptions.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ExceptionsQuery {
    /// Only exceptions of this ASN.
    #[param(required = false)]
    pub asn_number: Option<String>,
    /// Cursor: the `next_before` of the previous page.
    #[param(required = false)]
    pub before: Option<String>,
    /// Maximum number of results per page.
    #[serde(default = "crate::warehouse::inbound::usual_listed")]
    #[param(required = false, minimum = 1, maximum = 100, default = 50)]
    pub limit: u32,
}

/// A page of exceptions.
#[derive(Serialize, ToSchema)]
pub struct Exceptions {
    /// Newest first.
    pub receiving_exceptions: Vec<ExceptionOut>,
    /// True if there may be more pages.
    pub has_more: bool,
    /// Pass it as `before` to get the next page; null on the last page.
    pub next_before: Option<String>,
}

/// A receiving exception, for people to look into.
#[derive(Serialize, ToSchema)]
pub struct ExceptionOut {
    /// Exception: `unknown_asn`, `canceled_asn`, `unexpected_unit`, `over_received` or `short`.
    pub exception: &'static str,
    /// The exception as a sentence.
    pub message: &'static str,
    /// ASN number, as scanned.
    pub asn_number: String,
    /// Line concerned.
    pub line_identifier: Option<String>,
    /// License plate of the unit; null for missing units.
    pub unit_identifier: Option<String>,
    /// SKU.
    pub sku: Option<String>,
    /// Number of units: 1, or the number still missing.
    pub quantity: u32,
    /// Internal id of the warehouse.
    pub warehouse_identifier: Option<String>,
    /// Condition grade.
    pub condition: Option<String>,
    /// Login of the person who handled the unit.
    pub user_login: Option<String>,
    /// Time the exception was recorded.
    pub found_at: String,
    /// Time it was resolved: the unit was received after all, or nothing is missing any more.
    pub resolved_at: Option<String>,
}

/// The exception as a sentence.
#[must_use]
pub const fn explain(exception: Exception) -> &'static str {
    match exception {
        Exception::UnknownAsn => "No such ASN was announced.",
        Exception::CancelledAsn => "The ASN was canceled.",
        Exception::UnexpectedUnit => "No line of the ASN announces this unit.",
        Exception::OverReceived => "All units that the line announces have already arrived.",
        Exception::Short => "Units of the line had not arrived when the ASN was closed.",
    }
}
