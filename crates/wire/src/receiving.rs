//! What a warehouse scans, and what it is answered: `/v1/receipts`, `/v1/receiving_exceptions`.

use std::sync::LazyLock;

use domain::inbound::Exception;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::asn::{AsnNumber, ConditionWord};
use crate::fault::{Code, Fault, Path};
use crate::inbound::Asin;
use crate::order::Refusal;
use crate::schema::{self, Explainer};
use crate::shape::{Identifier, List, object};

/// How many units can be received at once.
pub const MOST_UNITS: usize = 500;

object! {
    /// Units that have arrived.
    pub struct ReceiptsIn<'a> as "Receipts" at 1 {
        /// 1 to 500 units.
        units: List<ReceivedUnitIn<'a>, 1, MOST_UNITS>,
    }
}

object! {
    /// A unit that has arrived. It is received against the line that is named, else against the line that announces this unit,
    /// else against the first line of its SKU that is not complete.
    pub struct ReceivedUnitIn<'a> as "ReceivedUnit" at 3 {
        /// The ASN.
        asn_number: AsnNumber<'a>,
        /// The unit's license plate: a unit is received once, whatever is sent with it later.
        unit_identifier: Identifier<'a>,
        /// Internal id of the warehouse.
        warehouse_identifier: Identifier<'a>,
        /// The line of the ASN, where it is known.
        line_identifier: Option<Identifier<'a>>,
        /// The merchant's own identifier of the unit.
        client_unit_identifier: Option<Identifier<'a>>,
        /// What it is.
        sku: Option<Identifier<'a>>,
        /// The carton that it came in.
        carton_identifier: Option<Identifier<'a>>,
        /// What it is like.
        condition: ConditionWord,
        /// Channel that it is assigned to; the ASN's when nothing is said.
        channel: Option<Identifier<'a>>,
        /// UPC.
        upc: Option<Identifier<'a>>,
        /// Serial number.
        serial_number: Option<Identifier<'a>>,
        /// Product identifier: ten letters and digits.
        asin: Option<Asin<'a>>,
        /// Why it came back.
        return_reason: Option<Identifier<'a>>,
        /// Why it is rejected. A rejected unit does not move its return.
        reject_reason: Option<Identifier<'a>>,
        /// Who handles it.
        user_login: Option<Identifier<'a>>,
        /// Tracking number on the parcel.
        tracking_number: Option<Identifier<'a>>,
        /// Where it is put first.
        location_identifier: Option<Identifier<'a>>,
    }
}

static EXPLAINER: LazyLock<Explainer> = LazyLock::new(Explainer::of::<ReceiptsIn<'_>>);

/// Reads units that have arrived.
pub fn read(body: &[u8]) -> Result<ReceiptsIn<'_>, Refusal> {
    schema::read(body, &EXPLAINER)
}

/// The warehouses at these positions are none of the merchant's.
#[must_use]
pub fn unknown_warehouses(units: &[usize]) -> Vec<Fault> {
    let at = |unit: &usize| Path::root().field("units").index(*unit).field("warehouse_identifier");
    units.iter().map(|unit| Fault::new(at(unit), Code::Invalid, "is no warehouse of the merchant")).collect()
}

/// What became of the units.
#[derive(Serialize, ToSchema)]
pub struct ReceiptsTaken {
    /// In the order in which they were sent.
    pub units: Vec<UnitTaken>,
}

/// What became of a unit.
#[derive(Serialize, ToSchema)]
pub struct UnitTaken {
    /// Its license plate.
    pub unit_identifier: String,
    /// `received`: the merchant is told. `already_received`: it was received before, and nothing is told again. `exception`: it
    /// is on the list of exceptions.
    pub result: &'static str,
    /// The ASN that it is received against, or was.
    pub asn_number: String,
    /// The line that it is received against, or was.
    pub line_identifier: Option<String>,
    /// Why it is an exception: `unknown_asn`, `canceled_asn`, `unexpected_unit` or `over_received`.
    pub exception: Option<&'static str>,
    /// The same in a sentence.
    pub message: Option<&'static str>,
}

/// Which exceptions are wanted.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ExceptionsQuery {
    /// Of this ASN.
    #[param(required = false)]
    pub asn_number: Option<String>,
    /// Go on: the `next_before` of the page before.
    #[param(required = false)]
    pub before: Option<String>,
    /// How many at most.
    #[serde(default = "crate::inbound::usual_listed")]
    #[param(required = false, minimum = 1, maximum = 100, default = 50)]
    pub limit: u32,
}

/// A page of exceptions.
#[derive(Serialize, ToSchema)]
pub struct Exceptions {
    /// Newest first.
    pub receiving_exceptions: Vec<ExceptionOut>,
    /// Whether there may be more.
    pub has_more: bool,
    /// Ask with this as `before` to go on; null when there are no more.
    pub next_before: Option<String>,
}

/// Something at receiving that people look at.
#[derive(Serialize, ToSchema)]
pub struct ExceptionOut {
    /// Why: `unknown_asn`, `canceled_asn`, `unexpected_unit`, `over_received` or `short`.
    pub exception: &'static str,
    /// The same in a sentence.
    pub message: &'static str,
    /// The ASN, as it was scanned.
    pub asn_number: String,
    /// The line that it is about.
    pub line_identifier: Option<String>,
    /// The unit's license plate; null when units are missing.
    pub unit_identifier: Option<String>,
    /// SKU.
    pub sku: Option<String>,
    /// How many units: one, or those that are still missing.
    pub quantity: u32,
    /// Internal id of the warehouse.
    pub warehouse_identifier: Option<String>,
    /// What the unit is like.
    pub condition: Option<String>,
    /// Who handled it.
    pub user_login: Option<String>,
    /// When it was found.
    pub found_at: String,
    /// When it was settled: the unit was received after all, or nothing is missing any more.
    pub resolved_at: Option<String>,
}

/// Why something is on the list, in a sentence.
#[must_use]
pub const fn explain(exception: Exception) -> &'static str {
    match exception {
        Exception::UnknownAsn => "No such ASN was announced.",
        Exception::CanceledAsn => "The ASN was canceled.",
        Exception::UnexpectedUnit => "No line of the ASN announces this unit.",
        Exception::OverReceived => "All units that the line announces have arrived already.",
        Exception::Short => "Units of the line had not arrived when the ASN was closed.",
    }
}
