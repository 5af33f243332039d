//! Units that were received here before they are shipped: what their receipts know is passed through.

use domain::returns::rma::policy::Policy;
use serde_json::{Value, json};

use crate::world::warehouse::{Dock, unit};
use crate::world::{World, asn, scan, scan_for};

/// An ASN with two identified units, `LP-1` and `LP-2`, for the authorisation `RA-1`.
fn announced() -> Value {
    let mut announced = asn(
        "IN-1",
        &[
            json!({ "unit_identifier": "LP-1", "client_unit_identifier": "CU-1", "sku": "SHOE-1", "program_identifier": "OUTLET",
                    "eligibility_flags": ["rtv", "no-box"] }),
            json!({ "unit_identifier": "LP-2", "sku": "SHOE-1" }),
        ],
    );
    announced["program_identifier"] = "RETURNS".into();
    announced["cartons"][0]["reference"] = json!({ "type": "RA", "identifier": "RA-1", "alternate_identifier": "ALT-1" });
    announced
}

/// A merchant whose units `LP-1` and `LP-2` have arrived, with an open shipment `A-1`.
async fn dock(world: &World) -> Dock<'_> {
    let dock = world.dock("acme").await;
    assert_eq!(dock.merchant.posts_asns(&[announced()]).await.status, 201);
    assert_eq!(dock.merchant.scans(&[scan("IN-1", "LP-1"), scan("IN-1", "LP-2")]).await, ["received 1", "received 2"]);
    dock.merchant.makes("A-1").await;
    dock
}

/// The unit `LP-<number>`, with nothing stated that its receipt may know.
fn bare(number: u32) -> Value {
    let mut bare = unit(number);
    bare.as_object_mut().unwrap().remove("program_identifier");
    bare
}

/// The carton and the fields of each unit that a receipt may know.
fn passed_through(body: &Value) -> Vec<(Value, Vec<Value>)> {
    let names = ["program_identifier", "client_unit_identifier", "inbound_received_asn", "eligibility_flags"];
    let details = |carton: &Value| -> Vec<Value> {
        let details = carton["details"].as_array().unwrap().iter();
        details.map(|detail| names.iter().map(|name| detail[*name].clone()).collect()).collect()
    };
    body["cartons"].as_array().unwrap().iter().map(|carton| (carton["reference"].clone(), details(carton))).collect()
}

#[tokio::test]
async fn what_a_units_receipt_knows_is_told_where_the_warehouse_states_nothing() {
    let world = World::new().await;
    let dock = dock(&world).await;
    let cartons = [json!({ "identifier": "C-1", "details": [bare(1), bare(2)] })];
    for _ in 0..2 {
        // A repeat states no more than the first call, and is the same.
        let reply = dock.merchant.packs("A-1", cartons.clone()).await;
        assert_eq!((reply.status.as_u16(), &reply.body["units"], &reply.body["warnings"]), (200, &json!(2), &json!([])), "{}", reply.text);
    }
    dock.merchant.does("ship", "A-1").await;
    let message = &dock.receives().await[0].body;
    let reference = json!({ "type": "RA", "identifier": "RA-1", "alternate_identifier": "ALT-1" });
    let details = vec![json!(["OUTLET", "CU-1", "IN-1", ["rtv", "no-box"]]), json!(["RETURNS", null, "IN-1", null])];
    assert_eq!(passed_through(message), [(reference, details)]);
}

#[tokio::test]
async fn a_statement_that_contradicts_the_receipt_is_told_and_warned_about() {
    let world = World::new().await;
    let dock = dock(&world).await;
    let mut stated = unit(1);
    let other = json!({ "client_unit_identifier": "CU-9", "inbound_received_asn": "IN-9", "eligibility_flags": ["rtv"] });
    stated.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
    let mut same = unit(2);
    same["program_identifier"] = "RETURNS".into();
    let reference = json!({ "type": "RMA", "identifier": "R-1" });
    let carton = json!({ "identifier": "C-1", "reference": reference, "details": [stated, same] });
    let first = dock.merchant.packs("A-1", [carton.clone()]).await;
    let warnings: Vec<String> = first.body["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|warning| format!("{}: {}", warning["field"].as_str().unwrap(), warning["message"].as_str().unwrap()))
        .collect();
    let expected = [
        "cartons[0].details[0].program_identifier: differs from the receipt of the unit, which says OUTLET",
        "cartons[0].details[0].client_unit_identifier: differs from the receipt of the unit, which says CU-1",
        "cartons[0].details[0].inbound_received_asn: differs from the receipt of the unit, which says IN-1",
        "cartons[0].details[0].eligibility_flags: differs from the receipt of the unit, which says rtv, no-box",
        "cartons[0].reference: differs from the receipt of the unit LP-1, which says RA RA-1",
    ];
    assert_eq!(warnings, expected);
    assert_eq!(dock.merchant.packs("A-1", [carton.clone()]).await.body, first.body, "a repeat is warned about alike");
    let mut changed = carton;
    changed["details"][0]["inbound_received_asn"] = "IN-8".into();
    assert_eq!(dock.merchant.packs("A-1", [changed]).await.status, 409, "another statement is another line");
    dock.merchant.does("ship", "A-1").await;
    let message = &dock.receives().await[0].body;
    let details = vec![json!(["P-1", "CU-9", "IN-9", ["rtv"]]), json!(["RETURNS", null, "IN-1", null])];
    let reference = json!({ "type": "RMA", "identifier": "R-1", "alternate_identifier": null });
    assert_eq!(passed_through(message), [(reference, details)]);
}

#[tokio::test]
async fn a_carton_has_the_reference_that_all_its_units_have() {
    let world = World::new().await;
    let dock = world.dock("acme").await;
    dock.merchant.has_policy(&Policy { managed_receiving: true, ..Policy::default() }).await;
    dock.merchant.sells("O-1", 2).await;
    let rma = dock.merchant.starts_a_return("O-1", 2).await;
    dock.merchant.receives_for(&rma, &["LP-3", "LP-4"]).await;
    dock.merchant.makes("A-1").await;
    // LP-5 was never received here.
    let cartons = [json!({ "identifier": "C-1", "details": [unit(3)] }), json!({ "identifier": "C-2", "details": [unit(4), unit(5)] })];
    assert_eq!(dock.merchant.packs("A-1", cartons).await.status, 200);
    dock.merchant.does("ship", "A-1").await;
    let message = &dock.receives().await[0].body;
    let references: Vec<Value> = passed_through(message).into_iter().map(|(reference, _)| reference).collect();
    // A unit that was received for its return belongs to it, without an ASN.
    assert_eq!(references, [json!({ "type": "RMA", "identifier": rma, "alternate_identifier": null }), Value::Null]);
    assert_eq!(message["cartons"][0]["details"][0]["inbound_received_asn"], Value::Null);
}

#[tokio::test]
async fn a_program_that_no_receipt_names_is_stated() {
    let world = World::new().await;
    let dock = world.dock("acme").await;
    dock.merchant.has_policy(&Policy { managed_receiving: true, ..Policy::default() }).await;
    dock.merchant.sells("O-1", 1).await;
    let rma = dock.merchant.starts_a_return("O-1", 1).await;
    assert_eq!(dock.merchant.scans(&[scan_for(&rma, "LP-1")]).await, ["received L1"]);
    dock.merchant.makes("A-1").await;
    let reply = dock.merchant.packs("A-1", [json!({ "details": [bare(1), unit(2), bare(3)] })]).await;
    let expected = ["cartons[0].details[0].program_identifier missing_field", "cartons[0].details[2].program_identifier missing_field"];
    assert_eq!(reply.faults(), expected);
    assert!(reply.text.contains("is required, because no receipt of the unit names a program"), "{}", reply.text);
    assert_eq!(dock.merchant.looks_at_shipment("A-1").await["units"], 0);
}
