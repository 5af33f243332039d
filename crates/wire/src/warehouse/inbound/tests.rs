use serde_json::{Value, json};

use super::*;

fn asn(number: &str) -> Value {
    json!({
        "asn_number": number, "shipment_identifier": "S-1",
        "from": { "identifier": "STORE-7", "type": "store" }, "to": { "identifier": "MAIN", "type": "warehouse" },
        "cartons": [{
            "identifier": "BOX-1",
            "reference": { "type": "StockTransferOrder", "identifier": "T-1" },
            "details": [
                { "line_identifier": "1", "sku": "SHOE", "quantity": 3 },
                { "line_identifier": "2", "unit_identifier": "U-1", "condition": "TT", "asin": "B00000000A" },
            ],
        }],
    })
}

fn faults(message: &Value) -> Vec<String> {
    match read(message.to_string().as_bytes()) {
        Ok(_) => Vec::new(),
        Err(Refusal::Faulty(faults)) => faults.faults.iter().map(|fault| format!("{} {}", fault.field, fault.message)).collect(),
        Err(Refusal::Malformed(why)) => vec![why.0],
    }
}

#[test]
fn a_right_message_is_read_with_its_defaults() {
    let message = json!({ "inbound_asns": [asn("A-1"), asn("A_2")] }).to_string();
    let read = read(message.as_bytes()).ok().unwrap();
    let lines = &read.inbound_asns.0[1].cartons.0[0].details.0;
    assert_eq!((lines[0].quantity.map(|quantity| quantity.0), lines[1].quantity.is_none()), (Some(3), true));
    assert_eq!(&*read.inbound_asns.0[0].from.kind.0, "store");
}

#[test]
fn every_fault_of_shape_is_told_with_its_path() {
    let mut wrong = asn("A 1");
    wrong["from"].as_object_mut().unwrap().remove("type");
    wrong["cartons"][0]["reference"]["type"] = "Order".into();
    wrong["cartons"][0]["details"][1]["condition"] = "Q".into();
    wrong["cartons"][0]["details"][1]["asin"] = "B0".into();
    wrong["cartons"][0]["details"][0]["quantity"] = 0.into();
    assert_eq!(
        faults(&json!({ "inbound_asns": [asn("A-1"), wrong] })),
        [
            "inbound_asns[1].asn_number must be 1 to 255 letters, digits, hyphens and underscores",
            "inbound_asns[1].from.type is required",
            "inbound_asns[1].cartons[0].reference.type must be one of \
            [\"StockTransferOrder\",\"RA\",\"RMA\",\"ForwardOrder\",\"ReturnsPortalOrder\"]",
            "inbound_asns[1].cartons[0].details[0].quantity must be at least 1",
            "inbound_asns[1].cartons[0].details[1].asin must be ten letters and digits",
            "inbound_asns[1].cartons[0].details[1].condition must be one of [\"N\",\"A\",\"R\",\"B\",\"TT\",\"C\",\"X\"]",
        ]
    );
}

#[test]
fn every_broken_rule_is_told_with_its_path() {
    let mut wrong = asn("A-1");
    wrong["cartons"][0]["details"] = json!([
        { "line_identifier": "1", "unit_identifier": "U-1", "quantity": 2 },
        { "line_identifier": "1", "client_unit_identifier": "U-1" },
        { "line_identifier": "3", "upc": "0001" },
        { "line_identifier": "4", "unit_identifier": "U-4", "client_unit_identifier": "U-4", "eligibility_flags": ["A", "a\u{1f}b"] },
    ]);
    let path = "inbound_asns[1].cartons[0].details";
    assert_eq!(
        faults(&json!({ "inbound_asns": [asn("A-1"), wrong] })),
        [
            "inbound_asns[1].asn_number must be unique within the message".to_owned(),
            format!("{path}[0].quantity must be 1 for an identified unit"),
            format!("{path}[1].line_identifier must be unique within the ASN"),
            format!("{path}[1].client_unit_identifier must not be used by another line of the ASN"),
            format!("{path}[2].sku is required unless unit_identifier or client_unit_identifier is given"),
            format!("{path}[3].eligibility_flags[1] must not contain control characters"),
        ]
    );
}

#[test]
fn an_asn_has_ten_thousand_lines_at_most() {
    let with = |lines: usize| {
        let line = |number: usize| json!({ "line_identifier": number.to_string(), "sku": "SHOE" });
        let details = |carton: usize| (0..1_000.min(lines - carton * 1_000)).map(|at| line(carton * 1_000 + at)).collect::<Vec<_>>();
        let mut long = asn("A-1");
        long["cartons"] = (0..lines.div_ceil(1_000)).map(|carton| json!({ "details": details(carton) })).collect();
        faults(&json!({ "inbound_asns": [long] }))
    };
    assert!(with(10_000).is_empty());
    assert_eq!(with(10_001), ["inbound_asns[0].cartons must have at most 10000 lines in total; it has 10001"]);
}

#[test]
fn a_changed_asn_keeps_its_number() {
    let body = asn("A-1").to_string();
    assert!(read_one(body.as_bytes(), "A-1").is_ok());
    assert!(read_one(body.as_bytes(), "A-2").is_err());
}
