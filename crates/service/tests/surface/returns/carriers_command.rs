//! `backhaul carrier …`, run as a program.

use std::process::{Command, Output};
use std::time::Duration;

use backhaul::flow::returns::configure_carrier::{CarrierChange, ConfigureCarrierError, set_carrier};
use sandbox::carrier::Carrier;
use serde_json::Value;
use store::returns::carrier_accounts;

use crate::binary::{command, err, out};
use crate::world::World;
use crate::world::carrier::{account_with, warehouse};

const DESTINATION: &str = "Acme Returns; 7 Dock Rd; Reno; NV; 89501; US";

/// The command `backhaul carrier VERB --merchant acme WORDS`, allowed to call this machine.
fn carrier(world: &World, verb: &str, words: &[&str]) -> Command {
    let mut command = command(&world.database);
    command.env("BACKHAUL__OUTBOUND__ALLOWED", r#"["127.0.0.0/8"]"#).env_remove("BACKHAUL_CARRIER_KEY");
    command.args(["carrier", verb, "--merchant", "acme"]).args(words);
    command
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&out(output)).unwrap()
}

async fn audit(world: &World) -> Vec<String> {
    world.database.texts("select actor || ' ' || action || ' ' || detail from audit where action like 'carrier.%' order by audit_id").await
}

#[tokio::test]
async fn a_carrier_is_set_shown_changed_and_removed() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    assert!(err(&carrier(&world, "show", &[]).output().unwrap()).contains("add one with `backhaul carrier set --merchant HANDLE`"));
    for (words, key, missing) in [
        (&["--url", "https://api.easypost.com", "--destination", DESTINATION][..], None, "its API key"),
        (&["--destination", DESTINATION], Some("EZTK"), "--url"),
        (&["--url", "https://api.easypost.com"], Some("EZTK"), "the address that parcels go to"),
    ] {
        let mut command = carrier(&world, "set", words);
        key.map(|key| command.env("BACKHAUL_CARRIER_KEY", key));
        let error = err(&command.output().unwrap());
        assert!(error.contains("a new carrier needs") && error.contains(missing), "{error}");
    }
    let words = ["--url", "https://api.easypost.com", "--destination", DESTINATION, "-o", "json"];
    let set = json(&carrier(&world, "set", &words).env("BACKHAUL_CARRIER_KEY", "EZTK-very-secret").output().unwrap());
    assert_eq!(set["webhooks"], merchant.webhooks());
    let secret = set["webhook_secret"].as_str().unwrap().to_owned();
    assert_eq!(secret.len(), 43, "32 bytes");

    let shown = json(&carrier(&world, "show", &["-o", "json"]).output().unwrap());
    assert_eq!((&shown["carrier"], &shown["url"]), (&"easypost".into(), &"https://api.easypost.com".into()));
    assert_eq!((&shown["destination"], &shown["usual_weight_pounds"]), (&DESTINATION.into(), &"1.000".into()));
    assert_eq!(shown["webhooks"], merchant.webhooks());
    assert!(!shown.to_string().contains("secret"), "it is shown once: {shown}");

    let changed = json(&carrier(&world, "set", &["--usual-weight", "2.5", "-o", "json"]).output().unwrap());
    assert_eq!((&changed["usual_weight_pounds"], &changed["url"]), (&"2.500".into(), &shown["url"]));
    assert!(err(&carrier(&world, "set", &["--usual-weight", "0"]).output().unwrap()).contains("the usual weight must be greater than 0"));
    assert!(err(&carrier(&world, "set", &["--destination", "somewhere"]).output().unwrap()).contains("`name; street; city;"));
    out(&carrier(&world, "remove", &["--yes"]).output().unwrap());
    assert!(err(&carrier(&world, "remove", &[]).output().unwrap()).contains("the merchant has no carrier"));
    let by = |what: &str| format!("cli:tester carrier.{what} easypost");
    assert_eq!(audit(&world).await, [by("added"), by("changed"), by("removed")]);
}

#[tokio::test]
async fn keys_are_kept_sealed_and_can_be_sealed_anew() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let (old, new) = ("k1:QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=", "k2:QkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkI=");
    let both = format!("{new},{old}");
    let words = ["--url", "https://api.easypost.com", "--destination", DESTINATION, "-o", "json"];
    let set = carrier(&world, "set", &words).env("BACKHAUL_CARRIER_KEY", "EZTK-very-secret").env("BACKHAUL__KEYS__SEALING", old).output();
    let secret = json(&set.unwrap())["webhook_secret"].as_str().unwrap().to_owned();
    let kept = || {
        world
            .database
            .texts("select encode(api_key, 'escape') || encode(webhook_secret, 'escape') || carrier_account::text from carrier_account")
    };
    let before = kept().await;
    assert!(before.iter().all(|row| !row.contains("EZTK-very-secret") && !row.contains(&secret)), "{before:?}");
    let key = || {
        world
            .database
            .texts("select carrier_account.key_id || ' ' || merchant_key.key_id from carrier_account join merchant_key using (merchant_id)")
    };
    assert_eq!(key().await, ["@merchant k1"]);
    out(&command(&world.database).env("BACKHAUL__KEYS__SEALING", &both).args(["keys", "rotate", "sealing"]).output().unwrap());
    let reseal = || out(&carrier(&world, "reseal", &[]).env("BACKHAUL__KEYS__SEALING", &both).output().unwrap());
    assert_eq!(reseal(), "Resealed with the current key.\n");
    assert_eq!(reseal(), "Nothing to reseal: the current key is already in use.\n");
    assert_eq!(key().await, ["@merchant k2"]);
    assert_eq!(kept().await, before, "only the merchant's own key is sealed anew");
    let node = world.node_with(&[("BACKHAUL__KEYS__SEALING", &both)]).await;
    node.app.confirm_keys().await.unwrap();
    backhaul::flow::node::renew_sealed::renew_sealed(&node.app).await.unwrap();
    let changed = carrier(&world, "set", &["--usual-weight", "2"]).env("BACKHAUL__KEYS__SEALING", new).output().unwrap();
    out(&changed);
    assert_eq!(audit(&world).await.iter().filter(|entry| entry.contains("carrier.resealed")).count(), 1);
    assert!(carrier_accounts::current(world.app.cell(), merchant.id).await.unwrap().is_some());
}

#[tokio::test]
async fn a_carrier_inside_is_neither_saved_nor_called() {
    let world = World::with(&[("BACKHAUL__OUTBOUND__ALLOWED", "[]")]).await;
    let shop = world.merchant("acme").await;
    let inside = Carrier::start().await.unwrap();
    for url in [inside.url(), "https://127.0.0.1", "https://169.254.169.254", "https://10.0.0.1", "http://api.easypost.com", "ftp://x", ""]
    {
        let change = CarrierChange { url: Some(url.to_owned()), ..account_with(&inside) };
        let refused = set_carrier(&world.app, "test", shop.id, change).await.err();
        assert!(matches!(refused, Some(ConfigureCarrierError::NotAllowed(_))), "{url}: {refused:?}");
    }
    assert_eq!(world.database.count("carrier_account").await, 0);

    // As if an older guard had accepted it.
    let change =
        CarrierChange { url: Some("https://api.easypost.com".to_owned()), destination: Some(warehouse()), ..account_with(&inside) };
    set_carrier(&world.app, "test", shop.id, change).await.unwrap();
    let mut tx = world.app.begin(shop.id).await.unwrap();
    let mut account = carrier_accounts::find(&mut tx).await.unwrap().unwrap();
    inside.url().clone_into(&mut account.url);
    carrier_accounts::save(&mut tx, &account).await.unwrap();
    tx.commit().await.unwrap();
    shop.sells("A-1", 1).await;
    shop.starts_a_return("A-1", 1).await;
    for _ in 0..2 {
        world.deliver_all_due().await;
        world.time_passes(Duration::from_secs(6));
    }
    let outcomes = world.database.texts("select distinct outcome from attempt").await;
    assert_eq!((outcomes, inside.shipments().len()), (vec!["refused".to_owned()], 0));
}
