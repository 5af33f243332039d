//! What carriers, drop-off and pick-up partners report: `POST /v1/carrier_events`.

use std::sync::LazyLock;

use domain::rma::TrackingNumber;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::fault::{Code, Fault, Path};
use crate::json::Str;
use crate::order::{Faults, Refusal};
use crate::schema::{self, Explainer};
use crate::shape::{Identifier, List, Quantity, Shape, Timestamp, object};

object! {
    /// Something that happened to the parcel of a return. Repeats are harmless.
    pub struct CarrierEventIn<'a> as "CarrierEvent" at 1 {
        /// What happened.
        event: CarrierWord,
        /// The return. Without it, the tracking number says which.
        rma_identifier: Option<Identifier<'a>>,
        /// The carrier's number of the parcel; required for a label.
        tracking_number: Option<Identifier<'a>>,
        /// When it happened.
        occurred_at: Timestamp,
        /// With `dropped_off` or `collected`: the units that were handed over, when it was not all of them.
        items: Option<List<HandedOverIn<'a>, 1, 1000>>,
    }
}

object! {
    /// Units that were handed over.
    pub struct HandedOverIn<'a> as "HandedOver" at 3 {
        /// The line of the order.
        order_line_item_identifier: Identifier<'a>,
        /// How many of its units.
        quantity: Quantity,
    }
}

/// What a carrier can report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CarrierWord {
    /// There is a label with a tracking number.
    LabelIssued,
    /// The shopper dropped the parcel off.
    DroppedOff,
    /// A partner picked it up.
    Collected,
    /// It was scanned on its way.
    InTransit,
    /// It arrived.
    Delivered,
    /// It went back to the shopper.
    ReturnedToSender,
    /// It was lost or damaged.
    Failed,
}

impl CarrierWord {
    /// Every word.
    pub const ALL: [Self; 7] =
        [Self::LabelIssued, Self::DroppedOff, Self::Collected, Self::InTransit, Self::Delivered, Self::ReturnedToSender, Self::Failed];

    /// Its word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LabelIssued => "label_issued",
            Self::DroppedOff => "dropped_off",
            Self::Collected => "collected",
            Self::InTransit => "in_transit",
            Self::Delivered => "delivered",
            Self::ReturnedToSender => "returned_to_sender",
            Self::Failed => "failed",
        }
    }
}

impl<'de> Deserialize<'de> for CarrierWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Str(word) = Str::deserialize(deserializer)?;
        Self::ALL.into_iter().find(|known| known.as_str() == word).ok_or_else(|| D::Error::custom("no event"))
    }
}

impl Shape for CarrierWord {
    fn schema() -> Value {
        json!({ "type": "string", "enum": Self::ALL.map(Self::as_str) })
    }
}

static EXPLAINER: LazyLock<Explainer> = LazyLock::new(Explainer::of::<CarrierEventIn<'_>>);

/// Reads a carrier event: its shape first, and once that is right, what it must say.
pub fn read(body: &[u8]) -> Result<CarrierEventIn<'_>, Refusal> {
    let event: CarrierEventIn<'_> = schema::read(body, &EXPLAINER)?;
    let faults = event.faults();
    if faults.is_empty() { Ok(event) } else { Err(Refusal::Faulty(Faults { faults, identifiers: Vec::new() })) }
}

impl CarrierEventIn<'_> {
    fn faults(&self) -> Vec<Fault> {
        let at = |name| Path::root().field(name);
        let mut faults = Vec::new();
        if let Some(Err(wrong)) = self.tracking_number.as_ref().map(|number| number.0.parse::<TrackingNumber>()) {
            faults.push(Fault::new(at("tracking_number"), Code::Invalid, wrong.to_string()));
        }
        let (return_named, number_given) = (self.rma_identifier.is_some(), self.tracking_number.is_some());
        if self.event == CarrierWord::LabelIssued {
            let parts = [("rma_identifier", return_named), ("tracking_number", number_given)];
            let missing = parts.into_iter().filter(|(_, given)| !given);
            faults.extend(missing.map(|(name, _)| Fault::new(at(name), Code::MissingField, "is required for a label")));
        } else if !return_named && !number_given {
            faults.push(Fault::new(at("rma_identifier"), Code::MissingField, "is required, or tracking_number"));
        }
        if self.items.is_some() && !matches!(self.event, CarrierWord::DroppedOff | CarrierWord::Collected) {
            faults.push(Fault::new(at("items"), Code::Invalid, "goes with dropped_off and collected only"));
        }
        faults
    }
}

/// What became of a carrier event.
#[derive(Serialize, ToSchema)]
pub struct CarrierEventTaken {
    /// `moved`: the return changed, and its merchant is told. `unchanged`: it was known. `kept`: there is no label yet; it
    /// takes effect as soon as there is one. `ignored`: it was taken before, or says nothing that matters here.
    pub result: &'static str,
    /// The return, where it is known.
    pub rma_identifier: Option<String>,
}
