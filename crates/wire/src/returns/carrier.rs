//! Events from carriers and from drop-off and pick-up partners: `POST /v1/carrier_events`.

use std::sync::LazyLock;

use domain::returns::rma::TrackingNumber;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::explainer::Explainer;
use crate::fault::{Code, Fault, Path};
use crate::json::Str;
use crate::request::{self, Faults, Refusal};
use crate::shape::{Identifier, List, Quantity, Shape, Timestamp, object};

object! {
    /// An event in the life of a return's parcel. Sending it again is harmless.
    pub struct CarrierEventIn<'a> as "CarrierEvent" at 1 {
        /// Event type.
        event: CarrierWord,
        /// Return identifier. If omitted, the return is found by its tracking number.
        rma_identifier: Option<Identifier<'a>>,
        /// Tracking number; required for `label_issued`.
        tracking_number: Option<Identifier<'a>>,
        /// Time of the event.
        occurred_at: Timestamp,
        /// For `dropped_off` and `collected`: the units handed over, if not all of them.
        items: Option<List<HandedOverIn<'a>, 1, 1000>>,
    }
}

object! {
    /// Units that were handed over.
    pub struct HandedOverIn<'a> as "HandedOver" at 3 {
        /// Order line.
        order_line_item_identifier: Identifier<'a>,
        /// Number of units handed over.
        quantity: Quantity,
    }
}

/// The events that a carrier can report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CarrierWord {
    LabelIssued,
    DroppedOff,
    Collected,
    InTransit,
    Delivered,
    ReturnedToSender,
    /// Lost or damaged.
    Failed,
}

impl CarrierWord {
    /// Every event.
    pub const ALL: [Self; 7] =
        [Self::LabelIssued, Self::DroppedOff, Self::Collected, Self::InTransit, Self::Delivered, Self::ReturnedToSender, Self::Failed];

    /// The event's name on the wire.
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

/// Reads a carrier event: checks its shape, then its rules.
pub fn read(body: &[u8]) -> Result<CarrierEventIn<'_>, Refusal> {
    let event: CarrierEventIn<'_> = request::read(body, &EXPLAINER)?;
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
            faults.push(Fault::new(at("rma_identifier"), Code::MissingField, "is required unless tracking_number is given"));
        }
        if self.items.is_some() && !matches!(self.event, CarrierWord::DroppedOff | CarrierWord::Collected) {
            faults.push(Fault::new(at("items"), Code::Invalid, "is allowed only with dropped_off and collected"));
        }
        faults
    }
}

/// The result of a carrier event.
#[derive(Serialize, ToSchema)]
pub struct CarrierEventTaken {
    /// `moved`: the return changed, and the merchant is sent a message. `unchanged`: nothing new. `kept`: a scan came before the
    /// return's label; it takes effect once there is one. `ignored`: the event was already processed, or has no bearing on the return.
    pub result: &'static str,
    /// Return identifier, if the return is known.
    pub rma_identifier: Option<String>,
}
