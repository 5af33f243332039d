//! Shipments out of a warehouse, as its systems make them and look at them: `/v1/outbound_shipments`.

mod shape;

use std::collections::HashSet;
use std::sync::LazyLock;

use domain::place::{VendorId, WarehouseId};
use domain::shipment::split::MOST_LINES;
use domain::shipment::{AsnNumber, Kind};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

pub use self::shape::{AddressIn, CartonIn, CreateShipmentIn, DetailIn, ReferenceIn, ShipDateIn, StoreIn, UnitsIn};
use crate::fault::{Code, Fault, Path};
use crate::order::{Faults, Refusal};
use crate::schema::{self, Explainer};

/// How many shipments a page has at most.
pub const MOST_SHIPMENTS: u32 = 100;

/// How many it has when nothing is said.
const USUAL_SHIPMENTS: u32 = 50;

static CREATE: LazyLock<Explainer> = LazyLock::new(Explainer::of::<CreateShipmentIn<'_>>);
static SHIP_DATE: LazyLock<Explainer> = LazyLock::new(Explainer::of::<ShipDateIn<'_>>);

/// Where a shipment is to go.
pub enum Destination<'a> {
    /// A warehouse of the merchant's.
    Warehouse(WarehouseId),
    /// A vendor of the merchant's.
    Vendor(VendorId),
    /// A store, which the caller describes.
    Store(&'a StoreIn<'a>),
}

/// A shipment to make, once its shape and its rules are right.
pub struct CreateShipment<'a> {
    /// Its number.
    pub number: AsnNumber,
    /// The warehouse that it leaves.
    pub from: WarehouseId,
    /// Where it goes.
    pub to: Destination<'a>,
    /// All that was asked for.
    pub asked: &'a CreateShipmentIn<'a>,
}

fn faulty<T>(faults: Vec<Fault>) -> Result<T, Refusal> {
    Err(Refusal::Faulty(Faults { faults, identifiers: Vec::new() }))
}

/// Reads a shipment to make.
pub fn read_create(body: &[u8]) -> Result<CreateShipmentIn<'_>, Refusal> {
    schema::read(body, &CREATE)
}

/// What a request says, whatever its spaces and the order of its fields: two that say the same are the same text.
#[must_use]
pub fn canonical(body: &[u8]) -> String {
    let mut value: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    value.sort_all_objects();
    value.to_string()
}

/// Reads another ship date.
pub fn read_ship_date(body: &[u8]) -> Result<ShipDateIn<'_>, Refusal> {
    schema::read(body, &SHIP_DATE)
}

/// Reads units to add: their shape first, and once that is right, that there are not too many and each is there once.
pub fn read_units(body: &[u8]) -> Result<UnitsIn<'_>, Refusal> {
    let units: UnitsIn<'_> = schema::read(body, &schema::SHIPMENT_UNITS)?;
    let faults = units.faults();
    if faults.is_empty() { Ok(units) } else { faulty(faults) }
}

impl CreateShipmentIn<'_> {
    /// What is to be made, or what is wrong with it: the words of the places, and whether the destination fits the kind.
    pub fn check(&self) -> Result<CreateShipment<'_>, Refusal> {
        let at = |name| Path::root().field(name);
        let mut faults = Vec::new();
        let mut wrong = |name, message: String| faults.push(Fault::new(at(name), Code::Invalid, message));
        let number = self.asn_number.0.parse::<AsnNumber>().map_err(|error| wrong("asn_number", error.to_string())).ok();
        let from = self.from_warehouse.0.parse::<WarehouseId>().map_err(|error| wrong("from_warehouse", error.to_string())).ok();
        let given =
            [("to_warehouse", self.to_warehouse.is_some()), ("to_vendor", self.to_vendor.is_some()), ("to_store", self.to_store.is_some())];
        let fitting: &[&str] = match self.kind.0 {
            Kind::StockTransfer | Kind::Freight => &["to_warehouse", "to_store"],
            Kind::Vendor => &["to_vendor"],
        };
        for (name, _) in given.iter().filter(|(name, given)| *given && !fitting.contains(name)) {
            wrong(name, format!("does not go with {}", self.kind.0));
        }
        if given.iter().filter(|(name, given)| *given && fitting.contains(name)).count() > 1 {
            wrong("to_store", "is one of two destinations; give one".to_owned());
        }
        let to = match (&self.to_warehouse, self.to_vendor, &self.to_store) {
            (Some(id), ..) => {
                id.0.parse()
                    .map(Destination::Warehouse)
                    .map_err(|error: domain::place::NoWarehouseId| wrong("to_warehouse", error.to_string()))
                    .ok()
            }
            (None, Some(vendor), _) => Some(Destination::Vendor(VendorId(vendor.0))),
            (None, None, Some(store)) => Some(Destination::Store(store)),
            (None, None, None) => None,
        };
        if !given.iter().any(|(_, given)| *given) {
            let name = fitting.first().copied().unwrap_or_default();
            let message = format!("is required: {} goes to {}", self.kind.0, fitting.join(" or "));
            faults.push(Fault::new(at(name), Code::MissingField, message));
        }
        match (number, from, to) {
            (Some(number), Some(from), Some(to)) if faults.is_empty() => Ok(CreateShipment { number, from, to, asked: self }),
            _ => faulty(faults),
        }
    }
}

impl UnitsIn<'_> {
    /// Every unit with its place in the message.
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
            let message = format!("have {many} details in all; send at most {MOST_LINES} at a time");
            return vec![Fault::new(Path::root().field("cartons"), Code::Invalid, message)];
        }
        let (mut lines, mut units, mut faults) = (HashSet::new(), HashSet::new(), Vec::new());
        for (at, _, detail) in self.details() {
            for (name, new) in [
                ("line_identifier", lines.insert(&*detail.line_identifier.0)),
                ("unit_identifier", units.insert(&*detail.unit_identifier.0)),
            ] {
                if !new {
                    faults.push(Fault::new(at.field(name), Code::Invalid, "is there twice"));
                }
            }
        }
        faults
    }
}

/// Which shipments are wanted.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ShipmentsQuery {
    /// Go on: the `next_before` of the page before.
    #[param(required = false)]
    pub before: Option<String>,
    /// How many at most.
    #[serde(default = "usual_shipments")]
    #[param(required = false, minimum = 1, maximum = 100, default = 50)]
    pub limit: u32,
}

fn usual_shipments() -> u32 {
    USUAL_SHIPMENTS
}

/// A page of shipments.
#[derive(Serialize, ToSchema)]
pub struct Shipments {
    /// Newest first.
    pub outbound_shipments: Vec<ShipmentOut>,
    /// Whether there may be more.
    pub has_more: bool,
    /// Ask with this as `before` to go on; null when there are no more.
    pub next_before: Option<String>,
}

/// A shipment with what is known of it, but for its units.
#[derive(Serialize, ToSchema)]
pub struct ShipmentOut {
    /// Its number, without the suffix of a part.
    pub asn_number: String,
    /// `stock_transfer`, `freight` or `vendor`.
    pub kind: &'static str,
    /// `pending`, `shipped`, `delivered` or `canceled`.
    pub status: &'static str,
    /// Whether the merchant's systems were told of it.
    pub announced: bool,
    /// Whether its units are fixed; until then more can be added.
    pub fixed: bool,
    /// How many units it has.
    pub units: u32,
    /// How many cartons these are in.
    pub cartons: u32,
    /// The numbers as they are sent, one for each message; empty until the units are fixed.
    pub sent_as: Vec<String>,
    /// How often the merchant's systems were told of it: `X-Service-Sequence` of its last messages.
    pub sequence: i64,
    /// What messages call the place that it leaves.
    pub from_identifier: String,
    /// What they call the place that it goes to.
    pub to_identifier: String,
    /// The channel that the goods are for.
    pub channel: String,
    /// Order number, RA number or other shipment reference.
    pub shipment_identifier: String,
    /// Who carries it.
    pub carrier: Option<String>,
    /// `prepaid` or `collect`.
    pub carrier_payment_type: Option<&'static str>,
    /// As they were scanned; the first is sent.
    pub tracking_numbers: Vec<String>,
    /// Its bill of lading.
    pub bol_number: Option<String>,
    /// When it was or will be shipped.
    pub ship_date: String,
    /// When it was made.
    pub created_at: String,
    /// When it last changed.
    pub updated_at: String,
}
