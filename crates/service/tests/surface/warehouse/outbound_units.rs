//! Units in shipments: added a few hundred at a time, each in one shipment only.

use futures::future::join_all;
use serde_json::{Value, json};

use crate::world::World;
use crate::world::warehouse::{carton, lines, unit};

#[tokio::test]
async fn units_come_in_chunks_and_a_repeated_call_adds_nothing() {
    let world = World::new().await;
    let dock = world.dock("acme").await;
    dock.merchant.makes("A-1").await;
    assert_eq!(dock.merchant.packs("A-1", [carton("C-1", 1..4), carton("C-2", 4..5)]).await.body["units"], 4);
    let again = dock.merchant.packs("A-1", [carton("C-1", 1..4), carton("C-2", 4..5)]).await;
    assert_eq!((again.status.as_u16(), &again.body["units"], &again.body["cartons"]), (200, &4.into(), &2.into()));
    // Part of it again, with more.
    assert_eq!(dock.merchant.packs("A-1", [carton("C-1", 3..7).take_out(4)]).await.body["units"], 6);
    dock.merchant.does("announce", "A-1").await;
    assert_eq!(
        dock.merchant.packs("A-1", [carton("C-1", 1..4)]).await.status,
        200,
        "the units are already in it, whatever happened to the shipment since"
    );
    assert_eq!(dock.merchant.packs("A-1", [carton("C-1", [8])]).await.status, 409, "no more");
    let messages = dock.receives().await;
    assert_eq!(lines(&messages[0].body), ["LP-1", "LP-2", "LP-3", "LP-5", "LP-6", "LP-4"], "by carton");
}

trait TakeOut {
    fn take_out(self, number: u32) -> Self;
}

impl TakeOut for Value {
    /// The carton without one of its units.
    fn take_out(mut self, number: u32) -> Self {
        self["details"].as_array_mut().unwrap().retain(|detail| *detail != unit(number));
        self
    }
}

#[tokio::test]
async fn a_line_or_a_carton_with_other_content_is_a_conflict() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    merchant.has_places().await;
    merchant.makes("A-1").await;
    let referred = |identifier: &str| {
        let mut referred = carton("C-1", 1..3);
        referred["reference"] = json!({ "type": "RA", "identifier": identifier });
        referred["sorting_template_name"] = "first".into();
        referred
    };
    assert_eq!(merchant.packs("A-1", [referred("RA-1")]).await.status, 200);
    for (name, value) in [("sku", "SHOE-2"), ("condition", "X"), ("unit_identifier", "LP-99"), ("upc", "1")] {
        let mut other = referred("RA-1");
        other["details"][1][name] = value.into();
        let reply = merchant.packs("A-1", [other]).await;
        assert_eq!(reply.status, 409, "{name}");
        assert!(reply.body["message"].as_str().unwrap().ends_with(": 2. Use other line identifiers."), "it names the line: {}", reply.text);
    }
    let moved = merchant.packs("A-1", [carton("C-2", 1..2)]).await;
    assert_eq!(moved.status, 409, "the carton is part of a line's content");
    let reply = merchant.packs("A-1", [referred("RA-2")]).await;
    assert!(reply.status == 409 && reply.text.contains("C-1"), "{}", reply.text);
    // The last sorting template wins.
    let mut sorted = referred("RA-1");
    sorted["sorting_template_name"] = "second".into();
    assert_eq!(merchant.packs("A-1", [sorted]).await.status, 200);
    assert_eq!(world.database.texts("select sorting_template from shipment_carton").await, ["second"]);
    assert_eq!(world.database.count("shipment_unit").await, 2);
}

#[tokio::test]
async fn cartons_without_a_name_are_told_apart_by_what_they_refer_to() {
    let world = World::new().await;
    let dock = world.dock("acme").await;
    dock.merchant.makes("A-1").await;
    let of = |reference: Option<&str>, units: std::ops::Range<u32>| {
        let reference = reference.map(|identifier| json!({ "type": "RMA", "identifier": identifier }));
        json!({ "reference": reference, "details": units.map(unit).collect::<Vec<_>>() })
    };
    let cartons = || [of(Some("R-1"), 1..3), of(Some("R-2"), 3..4), of(None, 4..6)];
    assert_eq!(dock.merchant.packs("A-1", cartons()).await.body["cartons"], 3);
    assert_eq!(dock.merchant.packs("A-1", cartons()).await.body["cartons"], 3);
    assert_eq!(dock.merchant.packs("A-1", [of(Some("R-1"), 6..7)]).await.body["cartons"], 3);
    dock.merchant.does("ship", "A-1").await;
    let messages = dock.receives().await;
    let cartons = messages[0].body["cartons"].as_array().unwrap();
    let shown = cartons.iter().map(|carton| (carton["reference"]["identifier"].clone(), carton["details"].as_array().unwrap().len()));
    assert_eq!(shown.collect::<Vec<_>>(), [("R-1".into(), 3), ("R-2".into(), 1), (Value::Null, 2)]);
}

#[tokio::test]
async fn every_fault_of_units_is_told_with_its_path() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    merchant.has_places().await;
    merchant.makes("A-1").await;
    let with = |name: &str, value: Value| {
        let mut packed = carton("C-1", 1..2);
        packed["details"][0][name] = value;
        packed
    };
    for name in ["line_identifier", "program_identifier", "unit_identifier", "sku", "condition"] {
        let mut missing = carton("C-1", 1..2);
        missing["details"][0].as_object_mut().unwrap().remove(name);
        assert_eq!(merchant.packs("A-1", [missing]).await.faults(), [format!("cartons[0].details[0].{name} missing_field")]);
    }
    for (name, value, code) in [
        ("condition", "Q".into(), "invalid"),
        ("quantity", 2.into(), "invalid"),
        ("quantity", 0.into(), "invalid"),
        ("eligibility_flags", "rtv".into(), "invalid_type"),
    ] {
        assert_eq!(merchant.packs("A-1", [with(name, value)]).await.faults(), [format!("cartons[0].details[0].{name} {code}")]);
    }
    let mut referred = carton("C-1", 1..2);
    referred["reference"] = json!({ "type": "PO", "identifier": "1" });
    assert_eq!(merchant.packs("A-1", [referred]).await.faults(), ["cartons[0].reference.type invalid"]);
    let twice = merchant.packs("A-1", [carton("C-1", 1..3), carton("C-2", 2..3)]).await;
    assert_eq!(twice.faults(), ["cartons[1].details[0].line_identifier invalid", "cartons[1].details[0].unit_identifier invalid"]);
    let many = merchant.packs("A-1", [carton("C-1", 1..500), carton("C-2", 500..502)]).await;
    assert_eq!(many.faults(), ["cartons invalid"]);
    assert!(many.text.contains("must have at most 500 details in total; they have 501"), "{}", many.text);
    assert_eq!(merchant.packs("A-1", []).await.faults(), ["cartons invalid"]);
    assert_eq!(merchant.packs("A-9", [carton("C-1", 1..2)]).await.status, 404);
    assert_eq!(world.database.count("shipment_unit").await, 0);
    for condition in ["N", "A", "R", "B", "TT", "C", "X"] {
        let mut packed = with("condition", condition.into());
        packed["details"][0]["line_identifier"] = condition.into();
        packed["details"][0]["unit_identifier"] = condition.into();
        assert_eq!(merchant.packs("A-1", [packed]).await.status, 200, "{condition}");
    }
}

#[tokio::test]
async fn a_unit_is_in_one_shipment_and_who_has_it_is_said() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    merchant.has_places().await;
    merchant.makes("A-1").await;
    merchant.makes("A-2").await;
    merchant.adds("A-1", 1..4).await;
    let reply = merchant.packs("A-2", [carton("C-1", 3..6)]).await;
    assert_eq!(reply.faults(), ["cartons[0].details[0].unit_identifier invalid"]);
    assert!(reply.text.contains("is already in the shipment A-1"), "{}", reply.text);
    // The same within one shipment, on another line.
    let mut other = unit(3);
    other["line_identifier"] = "other".into();
    assert_eq!(merchant.packs("A-1", [json!({ "details": [other] })]).await.faults(), ["cartons[0].details[0].unit_identifier invalid"]);
    assert_eq!(world.database.count("shipment_unit").await, 3, "all or none");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_those_who_add_the_same_unit_at_once_one_does() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    merchant.has_places().await;
    for number in 0..8 {
        merchant.makes(&format!("A-{number}")).await;
    }
    for round in 0..5 {
        // Each also has units of its own, before and after the one that all of them want.
        let units = |number: u32| [1_000 * (number + 1) + round, 500 + round, 1_000 * (number + 1) + 500 + round];
        let replies = join_all((0..8).map(|number| {
            let merchant = &merchant;
            async move { merchant.packs(&format!("A-{number}"), [carton("C-1", units(number))]).await }
        }))
        .await;
        let count = |status: u16| replies.iter().filter(|reply| reply.status == status).count();
        assert_eq!((count(200), count(422)), (1, 7), "{:?}", replies.iter().map(|reply| &reply.text).collect::<Vec<_>>());
        assert_eq!(world.database.count("shipment_unit").await, i64::from(round + 1) * 3);
    }
}
