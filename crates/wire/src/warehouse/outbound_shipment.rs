//! Shipments out of a warehouse: requests to create, change and view them, at `/v1/outbound_shipments`.

mod shape;

use std::collections::HashSet;
use std::sync::LazyLock;

use domain::warehouse::place::{NoWarehouseId, VendorId, WarehouseId};
use domain::warehouse::shipment::split::MOST_LINES;
use domain::warehouse::shipment::{AsnNumber, Kind};
use serde::Serialize;
use utoipa::ToSchema;

pub use self::shape::{AddressIn, CartonIn, CreateShipmentIn, DetailIn, ReferenceIn, ShipmentChangeIn, StoreIn, UnitsIn};
use crate::explainer::Explainer;
use crate::fault::{Code, Fault, Path, Warning};
use crate::request::{self, Faults, Refusal};

static CREATE: LazyLock<Explainer> = LazyLock::new(Explainer::of::<CreateShipmentIn<'_>>);
static CHANGE: LazyLock<Explainer> = LazyLock::new(Explainer::of::<ShipmentChangeIn<'_>>);
/// A message may hold more units than the number of faults reported, so units are explained one by one.
static UNITS: LazyLock<Explainer> = LazyLock::new(|| {
    let unit = Explainer::of::<DetailIn<'_>>();
    let carton = Explainer::with_lists::<CartonIn<'_>>(&["ShipmentUnit"], vec![("details", unit)]);
    Explainer::with_lists::<UnitsIn<'_>>(&["ShipmentCarton"], vec![("cartons", carton)])
});

/// The sender of a shipment.
pub enum Sender<'a> {
    Warehouse(WarehouseId),
    /// The merchant's identifier of a store.
    Store(&'a str),
}

/// The destination of a shipment.
pub enum Destination<'a> {
    Warehouse(WarehouseId),
    Vendor(VendorId),
    /// A store, described by the caller.
    Store(&'a StoreIn<'a>),
}

/// A valid request to create a shipment.
pub struct CreateShipment<'a> {
    pub number: AsnNumber,
    pub from: Sender<'a>,
    pub to: Destination<'a>,
    /// The request itself.
    pub asked: &'a CreateShipmentIn<'a>,
}

fn faulty<T>(faults: Vec<Fault>) -> Result<T, Refusal> {
    Err(Refusal::Faulty(Faults { faults, identifiers: Vec::new() }))
}

/// Reads a request to create a shipment.
pub fn read_create(body: &[u8]) -> Result<CreateShipmentIn<'_>, Refusal> {
    request::read(body, &CREATE)
}

/// The request in a canonical form: requests that differ only in white space or field order have the same text.
#[must_use]
pub fn canonical(body: &[u8]) -> String {
    let mut value: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    value.sort_all_objects();
    value.to_string()
}

/// Reads a change of a shipment, which must change something.
pub fn read_change(body: &[u8]) -> Result<ShipmentChangeIn<'_>, Refusal> {
    let change: ShipmentChangeIn<'_> = request::read(body, &CHANGE)?;
    let transport = change.carrier.is_some() || change.carrier_payment_type.is_some() || change.bol_number.is_some();
    if change.ship_date.is_none() && change.tracking_numbers.is_none() && !transport {
        let message = "is required, unless carrier, carrier_payment_type, tracking_numbers or bol_number is given";
        return faulty(vec![Fault::new("ship_date", Code::MissingField, message)]);
    }
    Ok(change)
}

/// Reads what is said when a shipment ships; an empty body says nothing.
pub fn read_ship(body: &[u8]) -> Result<ShipmentChangeIn<'_>, Refusal> {
    request::read(if body.trim_ascii().is_empty() { b"{}" } else { body }, &CHANGE)
}

/// Reads units to add: checks their shape, then their number and that each occurs once.
pub fn read_units(body: &[u8]) -> Result<UnitsIn<'_>, Refusal> {
    let units: UnitsIn<'_> = request::read(body, &UNITS)?;
    let faults = units.faults();
    if faults.is_empty() { Ok(units) } else { faulty(faults) }
}

impl CreateShipmentIn<'_> {
    /// Checks the identifiers, and that the destination fits the kind of shipment.
    pub fn check(&self) -> Result<CreateShipment<'_>, Refusal> {
        let at = |name| Path::root().field(name);
        let mut faults = Vec::new();
        let mut wrong = |name, message: String| faults.push(Fault::new(at(name), Code::Invalid, message));
        let number = self.asn_number.0.parse::<AsnNumber>().map_err(|error| wrong("asn_number", error.to_string())).ok();
        let from = match (&self.from_warehouse, &self.from_store) {
            (Some(_), Some(_)) => {
                wrong("from_store", "is the second sender; give only one".to_owned());
                None
            }
            (Some(id), None) => {
                id.0.parse().map(Sender::Warehouse).map_err(|error: NoWarehouseId| wrong("from_warehouse", error.to_string())).ok()
            }
            (None, Some(store)) => Some(Sender::Store(&store.0)),
            (None, None) => None,
        };
        let given =
            [("to_warehouse", self.to_warehouse.is_some()), ("to_vendor", self.to_vendor.is_some()), ("to_store", self.to_store.is_some())];
        let fitting: &[&str] = match self.kind.0 {
            Kind::StockTransfer | Kind::Freight => &["to_warehouse", "to_store"],
            Kind::Vendor => &["to_vendor"],
        };
        for (name, _) in given.iter().filter(|(name, given)| *given && !fitting.contains(name)) {
            wrong(name, format!("is not allowed for {}", self.kind.0));
        }
        if given.iter().filter(|(name, given)| *given && fitting.contains(name)).count() > 1 {
            wrong("to_store", "is the second destination; give only one".to_owned());
        }
        let to = match (&self.to_warehouse, self.to_vendor, &self.to_store) {
            (Some(id), ..) => {
                id.0.parse().map(Destination::Warehouse).map_err(|error: NoWarehouseId| wrong("to_warehouse", error.to_string())).ok()
            }
            (None, Some(vendor), _) => Some(Destination::Vendor(VendorId(vendor.0))),
            (None, None, Some(store)) => Some(Destination::Store(store)),
            (None, None, None) => None,
        };
        if self.from_warehouse.is_none() && self.from_store.is_none() {
            faults.push(Fault::new(at("from_warehouse"), Code::MissingField, "is required, unless from_store is given"));
        }
        if !given.iter().any(|(_, given)| *given) {
            let name = fitting.first().copied().unwrap_or_default();
            let message = format!("is required: the kind {} needs {}", self.kind.0, fitting.join(" or "));
            faults.push(Fault::new(at(name), Code::MissingField, message));
        }
        match (number, from, to) {
            (Some(number), Some(from), Some(to)) if faults.is_empty() => Ok(CreateShipment { number, from, to, asked: self }),
            _ => faulty(faults),
        }
    }
}

impl UnitsIn<'_> {
    /// Every unit with its path and its carton.
    pub fn details(&self) -> impl Iterator<Item = (Path, &CartonIn<'_>, &DetailIn<'_>)> {
        let cartons = Path::root().field("cartons");
        self.cartons.0.iter().enumerate().flat_map(move |(carton, there)| {
            let details = cartons.index(carton).field("details");
            there.details.0.iter().enumerate().map(move |(detail, unit)| (details.index(detail), there, unit))
        })
    }

    fn faults(&self) -> Vec<Fault> {
        let many = self.cartons.0.iter().map(|carton| carton.details.0.len()).sum::<usize>();
        if many > MOST_LINES as usize {
            let message = format!("must have at most {MOST_LINES} details in total; they have {many}. Send them in several requests");
            return vec![Fault::new(Path::root().field("cartons"), Code::Invalid, message)];
        }
        let (mut lines, mut units, mut faults) = (HashSet::new(), HashSet::new(), Vec::new());
        for (at, _, detail) in self.details() {
            for (name, new) in [
                ("line_identifier", lines.insert(&*detail.line_identifier.0)),
                ("unit_identifier", units.insert(&*detail.unit_identifier.0)),
            ] {
                if !new {
                    faults.push(Fault::new(at.field(name), Code::Invalid, "must be unique within the message"));
                }
            }
        }
        faults
    }
}

/// A page of shipments.
#[derive(Serialize, ToSchema)]
pub struct Shipments {
    /// Newest first.
    pub items: Vec<ShipmentOut>,
    /// Pass it as `cursor` to get the next page; null on the last page.
    pub next: Option<String>,
}

/// A shipment without its units.
#[derive(Serialize, ToSchema)]
pub struct ShipmentOut {
    /// ASN number, without the suffix of a part.
    pub asn_number: String,
    /// `stock_transfer`, `freight` or `vendor`.
    pub kind: &'static str,
    /// `pending`, `shipped`, `delivered` or `canceled`.
    pub status: &'static str,
    /// True once the merchant has been sent a message about it.
    pub announced: bool,
    /// True once its units are fixed; until then more can be added.
    pub fixed: bool,
    /// Number of units.
    pub units: u32,
    /// Number of cartons.
    pub cartons: u32,
    /// ASN numbers as sent, one per message; empty until the units are fixed.
    pub sent_as: Vec<String>,
    /// Number of changes reported to the merchant: `X-Service-Sequence` of the last messages.
    pub sequence: i64,
    /// Identifier of the sending location in messages.
    pub from_identifier: String,
    /// `warehouse` or `store`.
    pub from_type: &'static str,
    /// Identifier of the receiving location in messages.
    pub to_identifier: String,
    /// Channel the goods are for.
    pub channel: String,
    /// Order number, RA number or other shipment reference.
    pub shipment_identifier: String,
    /// Carrier.
    pub carrier: Option<String>,
    /// `prepaid` or `collect`.
    pub carrier_payment_type: Option<&'static str>,
    /// Tracking numbers as scanned; the first is sent.
    pub tracking_numbers: Vec<String>,
    /// Bill of lading number.
    pub bol_number: Option<String>,
    /// Actual or planned ship time.
    pub ship_date: String,
    /// Time it was created.
    pub created_at: String,
    /// Time of the last change.
    pub updated_at: String,
}

/// A shipment to which units were added.
#[derive(Serialize, ToSchema)]
pub struct UnitsAdded {
    /// The shipment.
    #[serde(flatten)]
    pub shipment: ShipmentOut,
    /// Statements about units that contradict their receipts. What was stated is sent.
    pub warnings: Vec<Warning>,
}
