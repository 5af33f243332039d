//! The installation's keys: a wrong one is noticed, and each kind is rotated while the service runs.

use std::process::Command;
use std::time::Duration;

use backhaul::delivery::secrets::stored::Secrets;
use backhaul::flow::merchants::erase_shopper::{ErasureTarget, erase_shopper, orders_of_shopper, suppress_shopper};
use backhaul::flow::node::renew_sealed::renew_sealed;
use backhaul::flow::node::rotate_keys::rotate_keys;
use backhaul::flow::orders::renew_fingerprints::renew_fingerprints;
use backhaul::platform::keys::Kind;
use backhaul::platform::keys::sealing::Context;
use domain::merchants::operator::Role;
use domain::messages::message::Interface;
use reqwest::Method;
use serde_json::{Value, json};
use store::merchants::merchant_keys;
use store::messages::endpoints;

use crate::binary::{command, err, out};
use crate::world::{Merchant, World, message, order};

const A: &str = "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=";
const B: &str = "QkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkI=";
const C: &str = "Q0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0M=";
const SEALING: &str = "BACKHAUL__KEYS__SEALING";
const FINGERPRINT: &str = "BACKHAUL__KEYS__FINGERPRINT";
const EMAIL: &str = "pat@example.com";

/// A world with this key, which it has used.
async fn world_with(setting: &str, keys: &str) -> World {
    let world = World::with(&[(setting, keys)]).await;
    assert_eq!(world.app.confirm_keys().await.unwrap(), []);
    world
}

/// A node of the same installation with these keys.
async fn node_with(world: &World, setting: &str, keys: &str) -> World {
    let node = world.node_with(&[(setting, keys)]).await;
    assert_eq!(node.app.confirm_keys().await.unwrap(), []);
    node
}

fn with(world: &World, setting: &str, keys: &str, words: &[&str]) -> Command {
    let mut command = command(&world.database);
    command.env(setting, keys).args(words);
    command
}

/// The state of a key, as the command tells it.
fn state(world: &World, setting: &str, keys: &str, id: &str) -> String {
    let status = out(&with(world, setting, keys, &["keys", "status", "-o", "json"]).output().unwrap());
    let status: Value = serde_json::from_str(&status).unwrap();
    let kind = if setting == SEALING { "sealing" } else { "fingerprint" };
    let key = status["items"].as_array().unwrap().iter().find(|key| key["kind"] == kind && key["key"] == id);
    key.unwrap_or_else(|| panic!("no {id} in {status}"))["state"].as_str().unwrap().to_owned()
}

async fn publishes(merchant: &Merchant<'_>, identifier: &str) {
    let mut sent = order(identifier);
    sent["customer"]["email"] = EMAIL.into();
    assert_eq!(merchant.publishes(&message([sent])).await.results(), ["created"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_a_wrong_key_nothing_starts_and_no_shopper_is_missed() {
    for (setting, right, wrong, missing) in
        [(FINGERPRINT, A.to_owned(), B.to_owned(), format!("k2:{B}")), (SEALING, format!("k1:{A}"), format!("k1:{B}"), format!("k2:{B}"))]
    {
        let world = world_with(setting, &right).await;
        publishes(&world.merchant("acme").await, "A-1").await;
        let erase = ["shopper", "erase", "--merchant", "acme", "--email", EMAIL, "--yes"];
        for (keys, why) in [(&wrong, "is not the one that this installation used"), (&missing, "which this installation still needs")] {
            for words in [&erase[..], &["serve"], &["endpoint", "list", "--merchant", "acme"]] {
                let refused = err(&with(&world, setting, keys, words).output().unwrap());
                assert!(refused.contains(why) && refused.contains("restore the key"), "{words:?}: {refused}");
            }
            let doctor = with(&world, setting, keys, &["doctor"]).output().unwrap();
            let told = String::from_utf8(doctor.stdout).unwrap();
            assert!(!doctor.status.success() && told.contains(why), "{told}");
            let node = world.node_with(&[(setting, keys)]).await;
            let (status, page) = node.admin("/readyz").await;
            assert!(status == 503 && page.contains(why), "{page}");
        }
        assert_eq!(world.admin("/readyz").await.0, 200);
        let erased = out(&with(&world, setting, &right, &erase).output().unwrap());
        assert!(erased.contains("A-1"), "{erased}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_comes_from_a_command() {
    let world = world_with(SEALING, &format!("k1:{A}")).await;
    let vault = |script: &str| {
        let words = json!(["/bin/sh", "-c", script]).to_string();
        command(&world.database).env("BACKHAUL__KEYS__SEALING_COMMAND", words).args(["keys", "status"]).output().unwrap()
    };
    assert!(out(&vault(&format!("echo k1:{A}"))).contains("active"));
    assert!(out(&vault(&format!("echo k1:{B}"))).contains("wrong"));
    let failed = err(&vault("echo k1:canary; exit 1"));
    assert!(failed.contains("keys.sealing: the command /bin/sh failed") && !failed.contains("canary"), "{failed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_sealing_key_is_used_when_it_is_rotated_and_seals_the_data_keys_only() {
    let (old, both, new) = (format!("k1:{A}"), format!("k2:{B},k1:{A}"), format!("k2:{B}"));
    let world = world_with(SEALING, &old).await;
    let receiver = world.receiver("acme").await;
    let values = "select key_id || encode(authentication, 'hex') || encode(secret, 'hex') from endpoint where not internal";
    let sealed = world.database.texts(values).await;
    let data_key = || world.database.texts("select key_id from merchant_key");
    assert_eq!(data_key().await, ["k1"]);
    assert!(err(&with(&world, SEALING, &old, &["keys", "rotate", "sealing"]).output().unwrap()).contains("there is no new key"));

    // A node with the new key in front goes on with the old one, because the others may not have the new one yet.
    let node = node_with(&world, SEALING, &both).await;
    assert_eq!((node.app.keyring.active(), state(&world, SEALING, &both, "k2")), ("k1", "ready".to_owned()));
    let rotated = out(&with(&world, SEALING, &both, &["keys", "rotate", "sealing"]).output().unwrap());
    assert!(rotated.contains("k2"), "{rotated}");
    backhaul::heartbeat::beat(&node.app, 2).await.unwrap();
    assert_eq!(node.app.keyring.active(), "k2", "every node follows");
    assert_eq!(state(&world, SEALING, &both, "k1"), "needed");
    assert!(err(&with(&world, SEALING, &new, &["merchant", "list"]).output().unwrap()).contains("lacks the key `k1`"));
    let endpoint = endpoints::find_for(world.app.cell(), receiver.merchant, Interface::Rma).await.unwrap().unwrap();
    assert!(Secrets::open(&node.app, receiver.merchant, &endpoint).is_ok(), "in the middle of it");
    renew_sealed(&node.app).await.unwrap();
    assert_eq!(data_key().await, ["k2"]);
    assert_eq!(world.database.texts(values).await, sealed, "the values stay as they are");
    assert_eq!(state(&world, SEALING, &both, "k1"), "removable");
    let alone = node_with(&world, SEALING, &new).await;
    receiver.is_owed("R-1", 1).await;
    alone.deliver_all_due().await;
    assert_eq!(receiver.arrived(), ["R-1 1"]);
    assert_eq!(state(&world, SEALING, &new, "k1"), "removed");
    let audit =
        world.database.texts("select action || ' ' || detail from home_audit where action like 'keys.%' order by done_at, action").await;
    assert_eq!(audit, ["keys.retired sealing: k1", "keys.rotated sealing: k2 instead of k1"]);
}

#[tokio::test]
async fn values_of_earlier_versions_stay_readable_and_get_the_merchants_key() {
    let world = world_with(SEALING, &format!("k1:{A}")).await;
    let receiver = world.receiver("acme").await;
    let (app, merchant) = (&world.app, receiver.merchant);
    let kept = || async { endpoints::find_for(app.cell(), merchant, Interface::Rma).await.unwrap().unwrap() };
    // As earlier versions sealed them, with the installation's key itself.
    let endpoint = kept().await;
    let secrets = Secrets::open(app, merchant, &endpoint).unwrap();
    let seal = |column, plain: &[u8]| app.keyring.seal(&Context { merchant, row: endpoint.id.0, column }, plain, &app.entropy).unwrap();
    let authentication = seal("endpoint.authentication", &secrets.authentication.to_json().unwrap());
    let secret = seal("endpoint.secret", secrets.secret.bytes());
    let mut connection = world.database.connect().await;
    sqlx::query("update endpoint set key_id = $1, authentication = $2, secret = $3 where not internal")
        .bind(&authentication.key_id)
        .bind(&authentication.bytes)
        .bind(&secret.bytes)
        .execute(&mut connection)
        .await
        .unwrap();
    sqlx::query("delete from merchant_key").execute(&mut connection).await.unwrap();
    assert!(Secrets::open(app, merchant, &kept().await).is_ok());
    renew_sealed(app).await.unwrap();
    let renewed = kept().await;
    assert_eq!((renewed.key_id.as_str(), renewed.revision), ("@merchant", endpoint.revision), "nothing changes for those who call it");
    receiver.is_owed("R-1", 1).await;
    world.deliver_all_due().await;
    receiver.verifies(&receiver.systems.received_at(crate::world::receiver::PATH)[0]);
}

#[tokio::test]
async fn without_its_key_nothing_of_a_merchant_can_be_read() {
    let world = world_with(SEALING, &format!("k1:{A}")).await;
    let (gone, other) = (world.receiver("gone").await, world.receiver("other").await);
    let mut tx = world.app.begin(gone.merchant).await.unwrap();
    assert!(merchant_keys::delete(&mut tx).await.unwrap());
    world.app.commit(tx).await.unwrap();
    let kept = async |merchant| endpoints::find_for(world.app.cell(), merchant, Interface::Rma).await.unwrap().unwrap();
    let refused = Secrets::open(&world.app, gone.merchant, &kept(gone.merchant).await).err().unwrap();
    assert!(refused.to_string().contains("data key was deleted"), "{refused}");
    assert!(Secrets::open(&world.app, other.merchant, &kept(other.merchant).await).is_ok());
    for receiver in [&gone, &other] {
        receiver.is_owed("R-1", 1).await;
    }
    world.deliver_all_due().await;
    assert_eq!((gone.arrived().len(), other.arrived().len()), (0, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fingerprints_are_computed_anew_and_found_by_both_keys_meanwhile() {
    let (both, new) = (format!("k2:{B},default:{A}"), format!("k2:{B}"));
    let world = world_with(FINGERPRINT, A).await;
    let merchant = world.merchant("acme").await;
    publishes(&merchant, "A-1").await;
    let script = world.script(Role::Admin).await;
    let node = node_with(&world, FINGERPRINT, &both).await;
    rotate_keys(&node.app, "test", Kind::Fingerprint).await.unwrap();
    assert_eq!(node.app.fingerprints.active(), "k2");
    // Orders of both keys are found.
    let token = merchant.token.clone();
    let mut sent = order("A-2");
    sent["customer"]["email"] = EMAIL.into();
    let body = message([sent]);
    assert_eq!(node.ask(Method::POST, "/returns_portal_orders", |request| request.bearer_auth(&token).json(&body)).await.status, 200);
    assert_eq!(orders_of_shopper(&node.app, merchant.id, "Pat@Example.com").await.unwrap(), ["A-1", "A-2"]);
    let erased = ["shopper", "erase", "--merchant", "acme", "--email", "nobody@example.com", "--yes"];
    assert!(out(&with(&world, FINGERPRINT, &both, &erased).output().unwrap()).contains("has no orders of this shopper"));
    // A personal token that was made with the old key works, and is kept with the new one from then on.
    let used = node.calls_operator_api(Method::GET, "merchant/list", |request| request.bearer_auth(&script.token)).await;
    assert_eq!(used.status, 200, "{}", used.text);
    assert_eq!(world.database.texts("select key_id from operator_token").await, ["k2"]);

    // Links and sessions of the old key end first.
    assert!(!renew_fingerprints(&node.app).await.unwrap());
    let prints = || world.database.texts("select distinct encode(email_fingerprint, 'hex') from customer_order");
    assert_eq!(prints().await.len(), 2);
    assert_eq!(state(&world, FINGERPRINT, &both, "default"), "needed");
    world.time_passes(Duration::from_hours(24));
    while renew_fingerprints(&node.app).await.unwrap() {}
    assert_eq!(prints().await.len(), 1, "all are of the new key");
    renew_sealed(&node.app).await.unwrap();
    assert_eq!(state(&world, FINGERPRINT, &both, "default"), "removable");
    let alone = node_with(&world, FINGERPRINT, &new).await;
    assert_eq!(orders_of_shopper(&alone.app, merchant.id, EMAIL).await.unwrap(), ["A-1", "A-2"]);
    let used = alone.calls_operator_api(Method::GET, "merchant/list", |request| request.bearer_auth(&script.token)).await;
    assert_eq!(used.status, 200, "{}", used.text);
}

#[tokio::test]
async fn an_erased_order_gets_no_new_fingerprint() {
    let both = format!("k2:{B},default:{A}");
    let world = world_with(FINGERPRINT, A).await;
    let merchant = world.merchant("acme").await;
    publishes(&merchant, "A-1").await;
    let target = ErasureTarget::Order("A-1".to_owned());
    erase_shopper(&world.app, "test", merchant.id, &target).await.unwrap();
    let node = node_with(&world, FINGERPRINT, &both).await;
    rotate_keys(&node.app, "test", Kind::Fingerprint).await.unwrap();
    world.time_passes(Duration::from_hours(24));
    while renew_fingerprints(&node.app).await.unwrap() {}
    let prints = "select num_nonnulls(email_fingerprint, zip_fingerprint)::text from customer_order";
    assert_eq!(world.database.texts(prints).await, ["0"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_erased_shopper_stays_erased_after_two_rotations() {
    let world = world_with(FINGERPRINT, &format!("k1:{A}")).await;
    let acme = world.merchant("acme").await;
    for email in [EMAIL, "sam@example.com"] {
        suppress_shopper(&world.app, "test", acme.id, email).await.unwrap();
    }
    let (second, third) = (format!("k2:{B},k1:{A}"), format!("k3:{C},k2:{B},k1:{A}"));
    for (keys, from, to) in [(&second, "k1", "k2"), (&third, "k2", "k3")] {
        let node = node_with(&world, FINGERPRINT, keys).await;
        let rotated = rotate_keys(&node.app, "test", Kind::Fingerprint).await.unwrap();
        assert_eq!((rotated.from.as_str(), rotated.to.as_str()), (from, to), "these shoppers are no reason to wait");
        world.time_passes(Duration::from_hours(25));
        while renew_fingerprints(&node.app).await.unwrap() {}
        renew_sealed(&node.app).await.unwrap();
        assert_eq!(state(&world, FINGERPRINT, keys, "k1"), "needed");
    }

    let node = node_with(&world, FINGERPRINT, &third).await;
    let (client_id, client_secret) = (acme.client_id.clone(), acme.client_secret.clone());
    let mut again = Merchant { world: &node, id: acme.id, client_id, client_secret, token: String::new() };
    again.token = again.gets_a_token().await;
    publishes(&again, "A-1").await;
    let personal = "select count(*)::text from customer_order where email_fingerprint is not null or snapshot like '%pat@example.com%'";
    assert_eq!(world.database.texts(personal).await, ["0"]);
    let known = world.database.texts("select key_id from suppression order by 1").await;
    assert_eq!(known, ["k1", "k3"], "whoever was met is known by the new key");
}

#[tokio::test]
async fn changing_keys_takes_a_second_administrator() {
    let world = world_with(SEALING, &format!("k1:{A}")).await;
    let node = node_with(&world, SEALING, &format!("k2:{B},k1:{A}")).await;
    let (admin, second, manager) = (node.console(Role::Admin).await, node.console(Role::Admin).await, node.console(Role::Manager).await);
    let page = admin.get("/system").await.page();
    assert!(page.contains("Rotate the sealing key…") && !page.contains("Rotate the fingerprint key…"), "{page}");
    assert!(!manager.get("/system").await.page().contains("Rotate the"));
    assert_eq!(manager.post("/system/keys/sealing", &[("why", "x")]).await.status, 403);
    assert!(admin.get("/system/keys/sealing").await.page().contains("<code>k2</code>, instead of <code>k1</code>"));
    assert_eq!(admin.post("/system/keys/sealing", &[("why", " ")]).await.status, 422, "not without a reason");
    assert_eq!(admin.post("/system/keys/fingerprint", &[("why", "yearly")]).await.status, 422, "there is no new key");
    let asked = admin.post("/system/keys/sealing", &[("why", "It is a year old.")]).await;
    assert_eq!(asked.status, 303, "{}", asked.text);
    assert_eq!(node.app.keyring.active(), "k1", "nothing happens until somebody decides");
    assert_eq!(admin.post(&asked.location, &[("decide", "approve"), ("reason", "")]).await.status, 409, "not the one who asked");
    assert!(second.get(&asked.location).await.page().contains("The key k2 is used instead of k1"));
    second.post(&asked.location, &[("decide", "approve"), ("reason", "")]).await;
    assert!(second.get(&asked.location).await.page().contains("Approved and done"));
    assert_eq!(node.app.keyring.active(), "k2");
    let actors = world.database.texts("select actor from home_audit where action = 'keys.rotated'").await;
    assert!(actors[0].contains(&admin.email) && actors[0].contains(&second.email), "{actors:?}");
    // Nor does a script with a token go round the second person.
    let script = node.script(Role::Admin).await;
    assert_eq!(script.calls("keys/rotate", &json!({ "kind": "sealing" })).await.status, 404);
}
