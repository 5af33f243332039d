//! The goods a shop's warehouse receives and sends: inbound ASNs and outbound pallets.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::Shop;
use crate::warehouse::Pallet;

impl Shop {
    /// ASNs for its warehouse: one for each word in the shipment's identifier that the simulated warehouse reacts to.
    #[must_use]
    pub fn inbound_asns(&self) -> Value {
        const PLAYS: [&str; 4] = ["", " SIM-SHORT", " SIM-OVER", " SIM-UNEXPECTED"];
        let asns = PLAYS.iter().zip(1..).map(|(play, number)| {
            let details =
                self.products.iter().take(2).zip(1..).map(
                    |(product, line): (_, u32)| json!({ "line_identifier": line.to_string(), "sku": product.sku, "quantity": 3 - line }),
                );
            json!({
                "asn_number": format!("IN-{}-{number}", self.prefix),
                "shipment_identifier": format!("PO-{number}{play}"),
                "program_identifier": "RESTOCK",
                "from": { "identifier": "STORE-7", "type": "store" },
                "to": { "identifier": "MAIN", "type": "warehouse" },
                "cartons": [{ "identifier": format!("BOX-{number}"), "details": details.collect::<Vec<_>>() }],
            })
        });
        json!({ "inbound_asns": asns.collect::<Vec<_>>() })
    }

    /// Pallets from the warehouse `from` to a vendor at the time `now`: one for each word in the number that the simulated
    /// warehouse reacts to. The first is so large that its units are added in two calls.
    #[must_use]
    pub fn pallets(&self, from: &str, vendor: u32, now: DateTime<Utc>) -> Vec<Pallet> {
        const PLAYS: [(&str, u32); 3] = [("", 600), ("-SIM-UNANNOUNCED", 40), ("-SIM-CANCEL", 20)];
        let pallets = PLAYS.iter().zip(self.products).zip(1..).map(|(((play, units), product), number)| Pallet {
            number: format!("OUT-{}-{number}{play}", self.prefix),
            from: from.to_owned(),
            vendor,
            sku: product.sku.to_owned(),
            units: *units,
            ship_date: now,
        });
        pallets.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{OUTDOOR, SHOES};

    #[test]
    fn the_goods_of_two_shops_have_names_of_their_own() {
        let now = "2026-03-01T12:00:00Z".parse().unwrap();
        for (one, other) in SHOES.pallets("WH-1", 1, now).iter().zip(OUTDOOR.pallets("WH-1", 1, now)) {
            assert_ne!(one.number, other.number);
        }
        assert_ne!(SHOES.inbound_asns(), OUTDOOR.inbound_asns());
    }

    #[test]
    fn everything_that_can_go_wrong_is_announced_once() {
        let announced = SHOES.inbound_asns().to_string();
        for word in ["SIM-SHORT", "SIM-OVER", "SIM-UNEXPECTED"] {
            assert_eq!(announced.matches(word).count(), 1, "{word}");
        }
    }
}
