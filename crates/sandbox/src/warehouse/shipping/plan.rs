//! The steps of a pallet. A word in its number decides:
//!
//! | word | steps |
//! | --- | --- |
//! | none | it is announced, shipped and delivered |
//! | `SIM-UNANNOUNCED` | it is shipped without an announcement, and delivered |
//! | `SIM-CANCEL` | it is announced and cancelled |

use std::ops::Range;

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};

/// The most units added in one call.
const AT_ONCE: u32 = 500;
/// The number of units in a carton.
const IN_A_CARTON: u32 = 50;

/// A pallet of returned goods for a vendor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pallet {
    /// Letters, digits, hyphens and underscores. The license plates of its units are derived from it.
    pub number: String,
    /// The internal id of the warehouse that it leaves.
    pub from: String,
    /// The number of the vendor.
    pub vendor: u32,
    pub sku: String,
    pub units: u32,
    pub ship_date: DateTime<Utc>,
}

/// A pallet's state, as the service shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PalletState {
    status: String,
    announced: bool,
    units: u32,
}

impl PalletState {
    /// Reads the service's response. `None` if it is not a pallet.
    pub(super) fn read(shown: &Value) -> Option<Self> {
        Some(Self {
            status: shown.get("status")?.as_str()?.to_owned(),
            announced: shown.get("announced")?.as_bool()?,
            units: u32::try_from(shown.get("units")?.as_u64()?).ok()?,
        })
    }
}

/// A step of a pallet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Make,
    /// Adds these units, counted from 0.
    Fill(Range<u32>),
    Announce,
    Ship,
    Deliver,
    Cancel,
}

impl Step {
    /// Returns whether the merchant gets a message about it.
    pub(super) const fn is_reported(&self) -> bool {
        match self {
            Self::Make | Self::Fill(_) => false,
            Self::Announce | Self::Ship | Self::Deliver | Self::Cancel => true,
        }
    }
}

impl Pallet {
    /// The next step of a pallet in this state; without a state, it does not exist yet. `None` once the pallet is finished.
    pub(super) fn next(&self, state: Option<&PalletState>) -> Option<Step> {
        let Some(PalletState { status, announced, units }) = state else { return Some(Step::Make) };
        let says = |word: &str| self.number.contains(word);
        match (status.as_str(), announced) {
            ("pending", false) if *units < self.units => Some(Step::Fill(*units..self.units.min(units + AT_ONCE))),
            ("pending", false) if !says("SIM-UNANNOUNCED") => Some(Step::Announce),
            ("pending", true) if says("SIM-CANCEL") => Some(Step::Cancel),
            ("pending", _) => Some(Step::Ship),
            ("shipped", _) => Some(Step::Deliver),
            _ => None,
        }
    }

    /// The body of the request that creates it.
    pub(super) fn creation(&self) -> Value {
        json!({
            "asn_number": self.number,
            "kind": "vendor",
            "from_warehouse": self.from,
            "to_vendor": self.vendor,
            "channel": "RTV",
            "shipment_identifier": format!("RA-{}", self.number),
            "carrier": "SimFreight",
            "carrier_payment_type": "prepaid",
            "tracking_numbers": [format!("PRO-{}", self.number)],
            "ship_date": self.ship_date.to_rfc3339_opts(SecondsFormat::Secs, true),
        })
    }

    /// The body of the request that adds units. A unit always has the same line and carton, so a repeat is recognised.
    pub(super) fn filling(&self, units: Range<u32>) -> Value {
        let mut cartons: Vec<Value> = Vec::new();
        let mut rest = units;
        while !rest.is_empty() {
            let carton = rest.start / IN_A_CARTON;
            let end = rest.end.min((carton + 1) * IN_A_CARTON);
            let details: Vec<Value> = (rest.start..end).map(|unit| self.unit(unit + 1)).collect();
            cartons.push(json!({ "identifier": format!("{}-C{}", self.number, carton + 1), "details": details }));
            rest.start = end;
        }
        json!({ "cartons": cartons })
    }

    fn unit(&self, nth: u32) -> Value {
        json!({
            "line_identifier": nth.to_string(),
            "program_identifier": "RETURNS",
            "unit_identifier": format!("LP-{}-{nth}", self.number),
            "sku": self.sku,
            "condition": "B",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pallet(number: &str, units: u32) -> Pallet {
        let [number, from, sku] = [number, "WH-1", "RUN-42"].map(ToOwned::to_owned);
        Pallet { number, from, vendor: 1, sku, units, ship_date: "2026-03-01T12:00:00Z".parse().unwrap() }
    }

    /// All steps of a pallet, with the state that the service would show after each.
    fn played(pallet: &Pallet) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut state: Option<PalletState> = None;
        while let Some(step) = pallet.next(state.as_ref()) {
            let PalletState { status, announced, units } =
                state.unwrap_or_else(|| PalletState { status: "pending".to_owned(), announced: false, units: 0 });
            state = Some(match &step {
                Step::Make => PalletState { status, announced, units },
                Step::Fill(more) => PalletState { status, announced, units: more.end },
                Step::Announce => PalletState { status, announced: true, units },
                Step::Ship => PalletState { status: "shipped".to_owned(), announced: true, units },
                Step::Deliver => PalletState { status: "delivered".to_owned(), announced, units },
                Step::Cancel => PalletState { status: "canceled".to_owned(), announced, units },
            });
            steps.push(step);
        }
        steps
    }

    #[test]
    fn a_word_in_the_number_says_what_becomes_of_a_pallet() {
        let packed = [Step::Make, Step::Fill(0..3)];
        for (number, steps) in [
            ("P-1", &[Step::Announce, Step::Ship, Step::Deliver][..]),
            ("P-1-SIM-UNANNOUNCED", &[Step::Ship, Step::Deliver]),
            ("P-1-SIM-CANCEL", &[Step::Announce, Step::Cancel]),
        ] {
            assert_eq!(played(&pallet(number, 3)), [&packed, steps].concat(), "{number}");
        }
    }

    #[test]
    fn a_large_pallet_is_filled_in_several_calls_with_every_unit_once() {
        let pallet = pallet("P-1", 1_020);
        let calls: Vec<Range<u32>> =
            played(&pallet).into_iter().filter_map(|step| if let Step::Fill(units) = step { Some(units) } else { None }).collect();
        assert_eq!(calls, [0..500, 500..1_000, 1_000..1_020]);
        let filled: Vec<Value> = calls.into_iter().map(|units| pallet.filling(units)).collect();
        let cartons: Vec<&Value> = filled.iter().flat_map(|call| call["cartons"].as_array().unwrap()).collect();
        assert_eq!(cartons.len(), 21);
        let units = cartons.iter().flat_map(|carton| carton["details"].as_array().unwrap());
        let lines: Vec<&str> = units.map(|unit| unit["line_identifier"].as_str().unwrap()).collect();
        assert_eq!(lines, (1..=1_020).map(|nth| nth.to_string()).collect::<Vec<_>>());
    }

    #[test]
    fn a_call_that_starts_within_a_carton_goes_on_with_it() {
        let filled = pallet("P-1", 60).filling(45..60);
        let names: Vec<&str> = filled["cartons"].as_array().unwrap().iter().map(|carton| carton["identifier"].as_str().unwrap()).collect();
        assert_eq!(names, ["P-1-C1", "P-1-C2"]);
        assert_eq!(filled["cartons"][1]["details"].as_array().unwrap().len(), 10);
    }

    #[test]
    fn what_is_no_pallet_is_left_alone() {
        assert_eq!(PalletState::read(&json!({ "message": "Nothing was found at this path." })), None);
    }
}
