//! `backhaul warehouse …` and `backhaul vendor …`, run as a program.

use serde_json::{Value, json};

use crate::binary::{backhaul, err, out};
use crate::world::World;

const ADDRESS: &str = "Dock 4; 7 Dock Rd; Reno; NV; 89501";

/// The output of `backhaul WORDS --merchant acme -o json`.
fn json(world: &World, words: &[&str]) -> Value {
    serde_json::from_str(&out(&backhaul(&world.database, &[words, &["--merchant", "acme", "-o", "json"]].concat()))).unwrap()
}

/// The error output of a command that fails.
fn refused(world: &World, words: &[&str]) -> String {
    err(&backhaul(&world.database, &[words, &["--merchant", "acme"]].concat()))
}

/// The table that a command prints.
fn shown(world: &World, words: &[&str]) -> String {
    out(&backhaul(&world.database, &[words, &["--merchant", "acme"]].concat()))
}

async fn audit(world: &World, of: &'static str) -> Vec<String> {
    let rows = world.database.texts("select actor || ' ' || action || ' ' || detail from audit order by audit_id").await;
    rows.into_iter().filter(|row| row.contains(of)).collect()
}

#[tokio::test]
async fn a_warehouse_is_set_shown_changed_and_removed() {
    let world = World::new().await;
    world.merchant("acme").await;
    assert!(shown(&world, &["warehouse", "list"]).contains("has no warehouses yet"));
    assert!(refused(&world, &["warehouse", "set", "WH-1", "--address", ADDRESS]).contains("a new warehouse needs a name"));
    assert!(refused(&world, &["warehouse", "set", "WH-1", "--name", "Reno"]).contains("a new warehouse needs an address"));
    assert!(refused(&world, &["warehouse", "set", "WH 1", "--name", "Reno"]).contains("64 letters, digits"));
    assert!(refused(&world, &["warehouse", "set", "WH-1", "--address", "somewhere"]).contains("`name; street; city;"));

    let address =
        json!({ "name": "Dock 4", "company": null, "street": "7 Dock Rd", "street2": null, "city": "Reno", "state": "NV", "zip": "89501" });
    let mut expected =
        json!({ "warehouse": "WH-1", "name": "Reno", "external_identifier": null, "stock_transfer_identifier": null, "address": address });
    assert_eq!(json(&world, &["warehouse", "set", "WH-1", "--name", "Reno", "--address", ADDRESS]), expected);
    expected["external_identifier"] = "0042".into();
    expected["stock_transfer_identifier"] = "ST-42".into();
    let words = ["--external-identifier", "0042", "--stock-transfer-identifier", "ST-42"];
    assert_eq!(json(&world, &[&["warehouse", "set", "WH-1"], &words[..]].concat()), expected);
    expected["external_identifier"] = Value::Null;
    expected["address"]["company"] = "Acme".into();
    let words = ["--no-external-identifier", "--address", ADDRESS, "--company", "Acme"];
    assert_eq!(json(&world, &[&["warehouse", "set", "WH-1"], &words[..]].concat()), expected);
    assert_eq!(json(&world, &["warehouse", "show", "WH-1"]), expected);
    assert_eq!(json(&world, &["warehouse", "list"])["items"], json!([expected]));
    assert!(shown(&world, &["warehouse", "show", "WH-1"]).contains("Dock 4; Acme; 7 Dock Rd; Reno; NV; 89501"));
    assert!(shown(&world, &["warehouse", "list"]).contains("ST-42"));
    assert!(refused(&world, &["warehouse", "set", "WH-1", "--name", " "]).contains("a warehouse's name must be 1 to 255 characters"));
    assert!(shown(&world, &["warehouse", "remove", "WH-1"]).contains("Warehouse WH-1 of acme was removed"));
    for verb in ["remove", "show"] {
        assert!(refused(&world, &["warehouse", verb, "WH-1"]).contains("`backhaul warehouse list --merchant HANDLE`"));
    }
    let by = |what: &str| format!("cli:tester warehouse.{what} WH-1");
    assert_eq!(audit(&world, "warehouse.").await, [by("added"), by("changed"), by("changed"), by("removed")]);
}

#[tokio::test]
async fn a_vendor_has_a_number_that_is_never_given_again() {
    let world = World::new().await;
    world.merchant("acme").await;
    assert!(shown(&world, &["vendor", "list"]).contains("has no vendors yet"));
    assert!(refused(&world, &["vendor", "add", "--name", "Bolt Co"]).contains("--address"));
    let add = |name: &str| json(&world, &["vendor", "add", "--name", name, "--address", ADDRESS])["vendor"].as_i64().unwrap();
    assert_eq!((add("Bolt Co"), add("Nut Co")), (1, 2));
    assert_eq!(json(&world, &["vendor", "set", "1", "--name", "Bolts"])["name"], "Bolts");
    assert_eq!(json(&world, &["vendor", "show", "1"])["address"]["zip"], "89501");
    shown(&world, &["vendor", "remove", "2"]);
    assert_eq!(add("Washer Co"), 3, "2 stays with whom it was");
    let known = json(&world, &["vendor", "list"]);
    assert_eq!(
        known["items"].as_array().unwrap().iter().map(|vendor| vendor["name"].as_str().unwrap()).collect::<Vec<_>>(),
        ["Bolts", "Washer Co"]
    );
    assert!(shown(&world, &["vendor", "list"]).contains("Dock 4; 7 Dock Rd; Reno; NV; 89501"));
    for words in [&["remove", "2"][..], &["show", "2"], &["set", "2", "--name", "x"]] {
        assert!(refused(&world, &[&["vendor"], words].concat()).contains("`backhaul vendor list --merchant HANDLE`"), "{words:?}");
    }
    let by = |what: &str| format!("cli:tester vendor.{what}");
    assert_eq!(audit(&world, "vendor.").await, [by("added 1"), by("added 2"), by("changed 1"), by("removed 2"), by("added 3")]);
}
