//! `backhaul merchant rename`, and the same in the console.

use domain::merchants::operator::Role;
use serde_json::{Value, json};

use crate::binary::{backhaul, err, out};
use crate::world::World;

const AUDIT: &str = "select before || ' → ' || after from audit where action = 'merchant.renamed' order by audit_id";

#[tokio::test]
async fn a_merchant_gets_another_name_and_keeps_its_handle() {
    let world = World::new().await;
    world.merchant("acme").await;
    let rename = ["merchant", "rename", "acme", "--name", " Acme Footwear ", "-o", "json"];
    let renamed: Value = serde_json::from_str(&out(&backhaul(&world.database, &rename))).unwrap();
    assert_eq!((&renamed["handle"], &renamed["name"]), (&json!("acme"), &json!("Acme Footwear")));
    assert_eq!(world.database.texts(AUDIT).await, [r#"{"name":"A merchant"} → {"name":"Acme Footwear"}"#]);
    let long = "x".repeat(201);
    for name in [" ", long.as_str()] {
        let refused = err(&backhaul(&world.database, &["merchant", "rename", "acme", "--name", name]));
        assert!(refused.contains("a merchant's name has 1 to 200 characters"), "{refused}");
    }
    let nobody = ["merchant", "rename", "nobody", "--name", "Nobody"];
    assert!(err(&backhaul(&world.database, &nobody)).contains("there is no merchant `nobody`"));
    assert_eq!(world.script(Role::Support).await.calls("merchant/rename", &json!({ "handle": "acme", "name": "X" })).await.status, 403);
}

#[tokio::test]
async fn a_merchant_is_renamed_in_the_console_after_a_preview() {
    let world = World::new().await;
    world.merchant("acme").await;
    let console = world.console(Role::Manager).await;
    assert!(console.get("/merchants/acme/contact").await.page().contains("backhaul merchant rename acme --name NAME"));
    let preview = console.post("/merchants/acme/name", &[("name", "Acme Footwear")]).await.page();
    assert!(preview.contains("Rename A merchant to Acme Footwear?"), "{preview}");
    assert_eq!(world.database.texts("select name from merchant").await, ["A merchant"], "a preview changes nothing");
    assert_eq!(console.confirms("/merchants/acme/name", &[("name", "Acme Footwear")]).await.status, 303);
    assert_eq!(world.database.texts("select name from merchant").await, ["Acme Footwear"]);
    assert_eq!(console.post("/merchants/acme/name", &[("name", " ")]).await.status, 409);
    let support = world.console(Role::Support).await;
    assert_eq!(support.post("/merchants/acme/name", &[("name", "X")]).await.status, 403);
    assert!(!support.get("/merchants/acme/contact").await.page().contains("/merchants/acme/name"));
}
