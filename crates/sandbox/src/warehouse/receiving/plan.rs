//! The units found in an ASN. A word in its shipment's identifier decides:
//!
//! | word | units |
//! | --- | --- |
//! | none | all of them |
//! | `SIM-SHORT` | the last one is missing |
//! | `SIM-OVER` | there is one more of the last line |
//! | `SIM-UNEXPECTED` | there is one more that was not announced |

use serde_json::{Value, json};

/// An ASN, as the service shows it.
pub(super) struct Asn {
    number: String,
    shipment: String,
    lines: Vec<Line>,
}

struct Line {
    name: String,
    /// The license plate, if the line is one particular unit.
    unit: Option<String>,
    sku: Option<String>,
    condition: Option<String>,
    carton: Option<String>,
    quantity: u64,
}

impl Asn {
    /// Reads the service's response. `None` if it is not an ASN.
    pub(super) fn read(shown: &Value) -> Option<Self> {
        let mut lines = Vec::new();
        for carton in shown.get("cartons")?.as_array()? {
            for line in carton.get("details")?.as_array()? {
                lines.push(Line {
                    name: word(line, "line_identifier")?,
                    unit: word(line, "unit_identifier"),
                    sku: word(line, "sku"),
                    condition: word(line, "condition"),
                    carton: word(carton, "identifier"),
                    quantity: line.get("quantity")?.as_u64()?,
                });
            }
        }
        Some(Self { number: word(shown, "asn_number")?, shipment: word(shown, "shipment_identifier")?, lines })
    }

    /// The scans of all units found, at the warehouse `at`. A unit always has the same license plate, so a repeat is recognised.
    pub(super) fn arrivals(&self, at: &str) -> Vec<Value> {
        let says = |word: &str| self.shipment.contains(word);
        let mut units: Vec<Value> = self.lines.iter().flat_map(|line| (1..=line.quantity).map(|nth| self.scan(line, nth, at))).collect();
        if says("SIM-SHORT") {
            units.pop();
        }
        if let Some(last) = self.lines.last().filter(|_| says("SIM-OVER")) {
            let more = Line {
                unit: None,
                sku: last.sku.clone(),
                condition: None,
                carton: last.carton.clone(),
                name: last.name.clone(),
                quantity: 1,
            };
            units.push(self.scan(&more, last.quantity + 1, at));
        }
        if says("SIM-UNEXPECTED") {
            units.push(json!({
                "asn_number": self.number, "unit_identifier": format!("LP-{}-X", self.number), "warehouse_identifier": at,
                "sku": "SIM-UNKNOWN", "condition": "X",
            }));
        }
        units
    }

    /// The scan of a line's nth unit.
    fn scan(&self, line: &Line, nth: u64, at: &str) -> Value {
        let plate = || format!("LP-{}-{}-{nth}", self.number, line.name);
        json!({
            "asn_number": self.number,
            "unit_identifier": line.unit.clone().unwrap_or_else(plate),
            "warehouse_identifier": at,
            "line_identifier": line.name,
            "sku": line.sku,
            "carton_identifier": line.carton,
            "condition": line.condition.as_deref().unwrap_or("N"),
            "user_login": "sim",
        })
    }
}

fn word(of: &Value, name: &str) -> Option<String> {
    of.get(name).and_then(Value::as_str).map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(shipment: &str) -> Vec<String> {
        let shown = json!({
            "asn_number": "ASN1",
            "shipment_identifier": shipment,
            "cartons": [
                { "identifier": "C1", "details": [{ "line_identifier": "1", "sku": "RUN-42", "quantity": 2 }] },
                { "identifier": null, "details": [{ "line_identifier": "2", "unit_identifier": "PLATE", "quantity": 1, "condition": "A" }] },
            ],
        });
        let units = Asn::read(&shown).unwrap().arrivals("7");
        assert!(units.iter().all(|unit| unit["warehouse_identifier"] == "7" && unit["asn_number"] == "ASN1"));
        units.iter().map(|unit| unit["unit_identifier"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn a_word_in_the_shipment_says_what_is_found() {
        let all = ["LP-ASN1-1-1", "LP-ASN1-1-2", "PLATE"];
        assert_eq!(found("PO-1"), all);
        assert_eq!(found("PO-1 SIM-SHORT"), all[..2]);
        assert_eq!(found("PO-1 SIM-OVER"), [&all[..], &["LP-ASN1-2-2"]].concat());
        assert_eq!(found("PO-1 SIM-UNEXPECTED"), [&all[..], &["LP-ASN1-X"]].concat());
    }

    #[test]
    fn what_is_no_asn_is_left_alone() {
        assert!(Asn::read(&json!({ "message": "Nothing was found at this path." })).is_none());
    }
}
