//! `backhaul orders show` and `find`, and `backhaul shopper find`.

use domain::merchants::operator::Role;
use serde_json::{Value, json};

use crate::binary::{backhaul, err, out};
use crate::world::{World, message, plain_refund, refunded, sold};

fn read(world: &World, words: &[&str]) -> Value {
    serde_json::from_str(&out(&backhaul(&world.database, &[words, &["-o", "json"]].concat()))).unwrap()
}

#[tokio::test]
async fn an_order_is_shown_with_its_lines_warnings_refunds_and_returns() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("O/1 a", 3).await;
    let rma = shop.merchant.starts_a_return("O/1 a", 1).await;
    let mut order = refunded(sold("O/1 a", 3), [plain_refund("F-1", 1)]);
    order["total_amount_cents"] = 16_201.into();
    let email = "shopper.one@example.com";
    order["customer"]["email"] = email.into();
    assert_eq!(shop.merchant.publishes(&message([order])).await.results(), ["updated"]);
    let command = ["orders", "show", "O/1 a", "--merchant", "acme"];
    let shown = read(&world, &command);
    assert_eq!((&shown["identifier"], &shown["revision"]), (&json!("O/1 a"), &json!(2)));
    let content = &shown["content"];
    assert_eq!((&content["total_amount_cents"], &content["adds_up_to_cents"]), (&json!(16_201), &json!(16_200)));
    let line = &content["lines"][0];
    assert_eq!([&line["ordered"], &line["shipped"], &line["cancelled"], &line["returned"], &line["refunded"]], [3, 3, 0, 1, 1]);
    assert!(shown["warnings"][0]["field"].as_str().unwrap().contains("total_amount_cents"), "{shown}");
    assert_eq!((&shown["refunds"][0]["identifier"], &shown["returns"][0]["rma_identifier"]), (&json!("F-1"), &json!(rma)));
    let table = out(&backhaul(&world.database, &command));
    assert!(table.contains("162.01") && table.contains("162.00") && table.contains(&rma) && table.contains("F-1"), "{table}");
    assert!(!table.contains(email) && !shown.to_string().contains(email), "the shopper is not shown");
    let missing = err(&backhaul(&world.database, &["orders", "show", "O-2", "--merchant", "acme"]));
    assert!(missing.contains("acme has no order O-2; `backhaul orders find`"), "{missing}");
    let viewer = world.script(Role::Viewer).await;
    assert_eq!(viewer.reads("orders/show?merchant=acme&order=O%2F1%20a").await.body["identifier"], "O/1 a");
    assert_eq!(viewer.reads("orders/show?merchant=acme&order=no%00thing").await.status, 422);
}

#[tokio::test]
async fn anything_is_found_by_its_number_at_all_merchants() {
    let world = World::new().await;
    let (acme, zeta) = (world.shop("acme").await, world.shop("zeta").await);
    acme.merchant.sells("SAME-1", 1).await;
    zeta.merchant.sells("SAME-1", 1).await;
    let rma = zeta.merchant.starts_a_return("SAME-1", 1).await;
    let found = |text: &str| -> Vec<[String; 3]> {
        let rows = read(&world, &["orders", "find", text]);
        let text = |row: &Value, name: &str| row[name].as_str().unwrap_or("-").to_owned();
        rows["items"].as_array().unwrap().iter().map(|row| ["kind", "merchant", "belongs_to"].map(|name| text(row, name))).collect()
    };
    let mut orders = found("SAME-1");
    orders.sort();
    assert_eq!(orders, [["order", "acme", "-"], ["order", "zeta", "-"]]);
    assert_eq!(found(&rma), [["return", "zeta", "SAME-1"]]);
    let message = world.database.texts("select message_id::text from message where kind = 'rma'").await.remove(0);
    assert_eq!(found(&message), [["message", "zeta", "-"]]);
    assert_eq!(found("nothing"), Vec::<[String; 3]>::new());
    let refused = err(&backhaul(&world.database, &["orders", "find", "pat@example.com"]));
    assert!(refused.contains("`backhaul shopper find`") && !refused.contains("pat@example.com"), "{refused}");
}

#[tokio::test]
async fn a_shopper_is_found_by_the_address_which_is_not_printed() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let email = "shopper.two@example.com";
    let mut order = sold("A-1", 1);
    order["customer"]["email"] = email.into();
    shop.merchant.publishes(&message([order])).await;
    let rma = shop.merchant.starts_a_return("A-1", 1).await;
    let found = out(&backhaul(&world.database, &["shopper", "find", "Shopper.Two@example.com"]));
    assert!(found.contains("A-1") && found.contains(&rma) && !found.to_lowercase().contains(email), "{found}");
    assert_eq!(read(&world, &["shopper", "find", "somebody.else@example.com"]), json!({ "items": [], "next": null }));
    assert!(err(&backhaul(&world.database, &["shopper", "find", "A-1"])).contains("`backhaul orders find`"));
    // From elsewhere the address is in the body of the request, and takes the role of support.
    let parameters = json!({ "email": email });
    assert_eq!(world.script(Role::Viewer).await.calls("shopper/find", &parameters).await.status, 403);
    let support = world.script(Role::Support).await;
    assert_eq!(support.does("shopper/find", &parameters).await["items"][0]["identifier"], json!(rma));
    assert_eq!(support.reads("shopper/find").await.status, 405, "an address has no place in a URL");
}
