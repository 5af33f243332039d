//! What carriers, drop-off and pick-up partners report: `POST /v1/carrier_events`.

use std::sync::LazyLock;

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::json::Str;
use crate::order::Refusal;
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

/// Reads a carrier event.
pub fn read(body: &[u8]) -> Result<CarrierEventIn<'_>, Refusal> {
    schema::read(body, &EXPLAINER)
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
