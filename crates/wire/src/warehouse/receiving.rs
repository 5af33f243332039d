//! Units that a warehouse scans, and receiving exceptions: `/v1/receipts`, `/v1/receiving_exceptions`.

use std::sync::LazyLock;

use domain::warehouse::inbound::{Exception, Target};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::explainer::Explainer;
use crate::fault::{Code, Fault, Path};
use crate::request::{self, Faults, Refusal};
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
    /// A unit that has arrived, for an ASN or for a return. It is received against the line it names, else against the line that
    /// announces this unit, else against the first incomplete line of its SKU.
    pub struct ReceivedUnitIn<'a> as "ReceivedUnit" at 3 {
        /// ASN number. Without it, the unit is received for the return that `rma_identifier`, or else `tracking_number`, names.
        asn_number: Option<AsnNumber<'a>>,
        /// Return that the unit belongs to, in place of an ASN number.
        rma_identifier: Option<Identifier<'a>>,
        /// License plate of the unit. A unit is received only once, whatever later scans say.
        unit_identifier: Identifier<'a>,
        /// Internal id of the warehouse.
        warehouse_identifier: Identifier<'a>,
        /// Line of the ASN, or order line of the return, if known.
        line_identifier: Option<Identifier<'a>>,
        /// The merchant's own identifier of the unit.
        client_unit_identifier: Option<Identifier<'a>>,
        /// SKU. Required for a return, unless `line_identifier` is given.
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
        /// Tracking number on the parcel. Names the return if neither an ASN nor a return is given.
        tracking_number: Option<Identifier<'a>>,
        /// First storage location.
        location_identifier: Option<Identifier<'a>>,
    }
}

static EXPLAINER: LazyLock<Explainer> = LazyLock::new(Explainer::of::<ReceiptsIn<'_>>);

/// Reads units that have arrived, and checks that each names an ASN or a return, and enough to be found in it.
pub fn read(body: &[u8]) -> Result<ReceiptsIn<'_>, Refusal> {
    let message: ReceiptsIn<'_> = request::read(body, &EXPLAINER)?;
    let faults: Vec<Fault> = message.units.0.iter().enumerate().filter_map(|(at, unit)| unit.fault(&unit_at(at))).collect();
    if faults.is_empty() { Ok(message) } else { Err(Refusal::Faulty(Faults { faults, identifiers: Vec::new() })) }
}

fn unit_at(unit: usize) -> Path {
    Path::root().field("units").index(unit)
}

impl ReceivedUnitIn<'_> {
    /// The ASN, the return or the parcel that the unit was scanned for.
    #[must_use]
    pub fn target(&self) -> Target<'_> {
        match (&self.asn_number, &self.rma_identifier) {
            (Some(number), _) => Target::Asn(&number.0),
            (None, Some(identifier)) => Target::Return(&identifier.0),
            (None, None) => Target::Parcel(self.tracking_number.as_ref().map_or("", |number| number.0.trim())),
        }
    }

    fn fault(&self, at: &Path) -> Option<Fault> {
        let missing = |name, message| Some(Fault::new(at.field(name), Code::MissingField, message));
        match (self.asn_number.is_some(), self.rma_identifier.is_some(), self.tracking_number.is_some()) {
            (true, true, _) => Some(Fault::new(at.field("rma_identifier"), Code::Invalid, "cannot be given together with asn_number")),
            (false, false, false) => missing("asn_number", "is required, unless rma_identifier or tracking_number names a return"),
            (false, true, _) | (false, false, true) if self.sku.is_none() && self.line_identifier.is_none() => {
                missing("sku", "is required to receive a unit for its return, unless line_identifier is given")
            }
            (true, false, _) | (false, true, _) | (false, false, true) => None,
        }
    }
}

/// The faults of units whose warehouse is not one of the merchant's.
#[must_use]
pub fn unknown_warehouses(units: &[usize]) -> Vec<Fault> {
    let fault =
        |unit: &usize| Fault::new(unit_at(*unit).field("warehouse_identifier"), Code::Invalid, "is not a warehouse of the merchant");
    units.iter().map(fault).collect()
}

/// The faults of units whose return was started without managed receiving.
#[must_use]
pub fn unmanaged_returns(message: &ReceiptsIn<'_>, units: &[usize]) -> Vec<Fault> {
    let field = |unit: &ReceivedUnitIn<'_>| if unit.rma_identifier.is_some() { "rma_identifier" } else { "tracking_number" };
    let fault = |at: &usize| {
        let rule = "names a return without managed receiving; receive the unit against an ASN, or ask the operator to switch managed \
                    receiving on for returns to come";
        message.units.0.get(*at).map(|unit| Fault::new(unit_at(*at).field(field(unit)), Code::Invalid, rule))
    };
    units.iter().filter_map(fault).collect()
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
    /// `conflict`: the unit was received before, for another ASN or return, and stays there. `exception`: the unit is on the list of
    /// exceptions.
    pub result: &'static str,
    /// ASN that the unit is, or was, received against; null if it is received for its return.
    pub asn_number: Option<String>,
    /// Return that the unit is, or was, received for.
    pub rma_identifier: Option<String>,
    /// Line of the ASN, or order line of the return, that the unit is, or was, received against.
    pub line_identifier: Option<String>,
    /// Exception: `unknown_asn`, `canceled_asn`, `unknown_return`, `canceled_return`, `unexpected_unit` or `over_received`.
    pub exception: Option<&'static str>,
    /// The exception or the conflict as a sentence.
    pub message: Option<&'static str>,
}

/// Query parameters for listing exceptions.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ExceptionsQuery {
    /// Only exceptions of this ASN.
    #[param(required = false)]
    pub asn_number: Option<String>,
    /// Only exceptions of this return.
    #[param(required = false)]
    pub rma_identifier: Option<String>,
}

/// A page of exceptions.
#[derive(Serialize, ToSchema)]
pub struct Exceptions {
    /// Newest first.
    pub items: Vec<ExceptionOut>,
    /// Pass it as `cursor` to get the next page; null on the last page.
    pub next: Option<String>,
}

/// A receiving exception, for people to look into.
#[derive(Serialize, ToSchema)]
pub struct ExceptionOut {
    /// Exception: `unknown_asn`, `canceled_asn`, `unknown_return`, `canceled_return`, `unexpected_unit`, `over_received` or `short`.
    pub exception: &'static str,
    /// The exception as a sentence.
    pub message: &'static str,
    /// ASN number, as scanned.
    pub asn_number: Option<String>,
    /// Return that the unit was scanned for.
    pub rma_identifier: Option<String>,
    /// Tracking number that the unit was scanned for, if no return has it.
    pub tracking_number: Option<String>,
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

/// The conflict as a sentence.
pub const CONFLICT: &str = "The unit was received before, for another ASN or return. Check its license plate.";

/// The exception as a sentence.
#[must_use]
pub const fn explain(exception: Exception) -> &'static str {
    match exception {
        Exception::UnknownAsn => "No such ASN was announced.",
        Exception::CancelledAsn => "The ASN was canceled.",
        Exception::UnknownReturn => "There is no such return.",
        Exception::CancelledReturn => "The return was canceled.",
        Exception::UnexpectedUnit => "No line of the ASN or the return expects this unit.",
        Exception::OverReceived => "All units that the line expects have already arrived.",
        Exception::Short => "Units of the line had not arrived when the ASN was closed.",
    }
}
