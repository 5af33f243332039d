//! The operator configures the endpoint for a merchant's variants with the program.

use domain::messages::message::Interface;
use sandbox::merchant::Answer;
use serde_json::{Value, json};

use crate::binary::{backhaul, err, out};
use crate::world::World;

const BASE: &str = "https://api.acme.example/backhaul";

fn endpoint(world: &World, command: &str, words: &[&str]) -> std::process::Output {
    backhaul(&world.database, &[&["endpoint", command, "--merchant", "acme", "exchange_variants"], words].concat())
}

#[tokio::test]
async fn the_url_says_where_the_variant_identifier_goes() {
    let world = World::new().await;
    world.merchant("acme").await;
    let listed = out(&endpoint(&world, "set", &["--base", BASE]));
    assert!(listed.contains("https://api.acme.example/backhaul/sku/{variant_identifier}/variants"), "{listed}");
    assert!(!listed.contains("whsec_"), "no signing secret where nothing is sent");
    out(&endpoint(&world, "set", &["--url", "https://api.acme.example/products/{variant_identifier}/siblings?in=stock"]));
    for url in ["https://api.acme.example/variants", "https://api.acme.example/?of={variant_identifier}"] {
        let error = err(&endpoint(&world, "set", &["--url", url]));
        assert!(error.contains("{variant_identifier} exactly once, in its path"), "{error}");
    }
    assert!(
        err(&endpoint(&world, "set", &["--url", "http://127.0.0.1/{variant_identifier}"])).contains("the URL must start with https://")
    );
    assert!(err(&endpoint(&world, "set", &["--waits", "5"])).contains("calls are never retried"));
    assert!(err(&endpoint(&world, "rotate-secret", &[])).contains("there is nothing to sign"));
    let shown: Value = serde_json::from_str(&out(&endpoint(&world, "show", &["-o", "json"]))).unwrap();
    assert_eq!(shown["interface"], "exchange_variants");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trial_asks_as_a_shopper_would_and_is_in_no_report() {
    let world = World::new().await;
    let shop = world.catalogue("acme").await;
    let command = |words: &[&str]| {
        let mut command = crate::binary::command(&world.database);
        command.env("BACKHAUL__MODE", "sandbox").env("BACKHAUL__OUTBOUND__ALLOWED", r#"["127.0.0.0/8"]"#);
        // A busy machine may take longer.
        command.env("BACKHAUL__OUTBOUND__VARIANTS_TIMEOUT_MS", "60000");
        command.args([&["endpoint", "test", "--merchant", "acme", "exchange_variants", "-o", "json"], words].concat());
        let output = command.output().unwrap();
        let tried: Value = serde_json::from_slice(&output.stdout).unwrap();
        (tried["outcome"].clone(), tried["variants"].clone(), tried["reason"].clone(), output.status.success())
    };
    assert_eq!(command(&["--variant-identifier", "V-SHOE"]), (json!("200"), json!(2), json!(null), true));
    assert_eq!(command(&[]), (json!("404"), json!(null), json!(null), false), "the exit code tells");
    shop.systems.answer_next("/sku", [Answer::ok().body("<html>"), Answer::close()]);
    assert_eq!(command(&[]), (json!("200"), json!(null), json!(null), false));
    assert_eq!(command(&[]), (json!("unreachable"), json!(null), json!("the connection was closed without an answer"), false));
    assert_eq!(shop.reports().await, Vec::<String>::new());
    let audited = world.database.texts("select distinct actor || ' ' || detail from audit where action = 'endpoint.tested'").await;
    assert_eq!(audited, ["cli:tester exchange_variants"]);
    let refused =
        backhaul::flow::messages::configure_endpoint::test_endpoint(&world.app, "test", shop.merchant.id, Interface::ExchangeVariants)
            .await;
    assert!(refused.is_err(), "it receives no messages");
}
