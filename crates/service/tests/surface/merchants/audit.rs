//! The audit trail: it is kept, it is chained, it tells what changed, and it holds nothing personal.

use std::time::Duration;

use backhaul::delivery::secrets::authentication::Authentication;
use backhaul::flow::merchants::configure_mails::{MailChange, set_mails};
use backhaul::flow::merchants::configure_merchant::{set_refund_days, set_retention, set_technical_contact};
use backhaul::flow::merchants::configure_portal::{PortalChange, set_portal};
use backhaul::flow::merchants::forget_audit::forget_audit;
use backhaul::flow::merchants::operators::people::{self, Authority};
use backhaul::flow::merchants::verify_audit::{Broken, Fault, Verified, verify_audit};
use backhaul::flow::messages::configure_endpoint::{EndpointChange, remove_endpoint, rotate_secret, set_endpoint};
use backhaul::flow::node::set_limit::{reset_limit, set_limit};
use backhaul::flow::returns::set_policy::{PolicyChange, set_policy};
use backhaul::node::limits::Name;
use domain::id::MerchantId;
use domain::merchants::operator::Role;
use domain::messages::message::Interface;
use secrecy::ExposeSecret as _;
use serde_json::Value;
use sqlx::AssertSqlSafe;
use store::merchants::accounts::{self, Merchant};
use store::merchants::audit_chain::Chain;

use crate::binary::{backhaul, err, out};
use crate::world::World;

async fn account(world: &World, handle: &str) -> Merchant {
    accounts::find(world.app.cell(), &handle.parse().unwrap()).await.unwrap().unwrap()
}

/// Changes that leave entries: `count` of them.
async fn is_changed(world: &World, merchant: &Merchant, count: i32) {
    for days in 1..=count {
        set_refund_days(&world.app, "test", merchant, days).await.unwrap();
    }
}

/// Does to the audit what only its owner could do, with the triggers off.
async fn tamper(world: &World, table: &str, statement: String) {
    let database = if table == "home_audit" { world.database.home() } else { world.database.as_ref() };
    database.execute_without_triggers(table, &statement).await;
}

async fn verified(world: &World, merchant: MerchantId) -> Verified {
    verify_audit(&world.app, Chain::Of(merchant)).await.unwrap()
}

#[tokio::test]
async fn the_audit_trail_is_kept_for_7_years() {
    let world = World::new().await;
    for handle in ["acme", "bolt"] {
        world.merchant(handle).await;
    }
    let written = world.database.count("audit").await;
    assert!(written >= 4, "each merchant was added and got a credential");
    // The database deletes nothing that is younger by its own clock, whatever a node says.
    world.time_passes(Duration::from_hours((7 * 365 + 2) * 24));
    forget_audit(&world.app).await.unwrap();
    assert_eq!(world.database.count("audit").await, written);
    for (age, kept) in [("interval '7 years' - interval '1 hour'", written), ("interval '7 years' + interval '1 hour'", 0)] {
        tamper(&world, "audit", format!("update audit set done_at = now() - ({age})")).await;
        assert!(!forget_audit(&world.app).await.unwrap(), "one batch was enough");
        assert_eq!(world.database.count("audit").await, kept, "after {age}");
    }
}

#[tokio::test]
async fn a_chain_whose_oldest_entries_retention_has_deleted_is_whole() {
    let world = World::new().await;
    let id = world.merchant("acme").await.id;
    is_changed(&world, &account(&world, "acme").await, 5).await;
    let whole = verified(&world, id).await;
    assert_eq!(whole, Verified { entries: 7, begins_after: 0, broken: None });
    // The fifth is old and stays, because the fourth is young: a chain loses its beginning only.
    let aged = "update audit set done_at = now() - interval '8 years' where sequence in (1, 2, 3, 5)";
    tamper(&world, "audit", aged.to_owned()).await;
    forget_audit(&world.app).await.unwrap();
    assert_eq!(world.database.texts("select sequence::text from audit order by sequence").await, ["4", "5", "6", "7"]);
    tamper(&world, "audit", "update audit set done_at = '2026-03-01T12:00:00Z' where sequence = 5".to_owned()).await;
    assert_eq!(verified(&world, id).await, Verified { entries: 4, begins_after: 3, broken: None });
    is_changed(&world, &account(&world, "acme").await, 1).await;
    assert_eq!(verified(&world, id).await.entries, 5, "it goes on");
}

#[tokio::test]
async fn an_entry_that_was_altered_removed_or_put_in_breaks_its_chain_there() {
    let world = World::new().await;
    let (id, bolt) = (world.merchant("acme").await.id, world.merchant("bolt").await.id);
    is_changed(&world, &account(&world, "acme").await, 6).await;
    let copy = "create table copied as select * from audit; create table copied_head as select * from audit_head";
    world.database.execute(copy).await;
    let of_acme = format!("merchant_id = '{id}'");
    let forged = "insert into audit (merchant_id, audit_id, actor, action, detail, done_at)";
    for (attack, sequence, why) in [
        (format!("update audit set actor = 'somebody else' where sequence = 3 and {of_acme}"), Some(3), Fault::Altered),
        (format!("update audit set detail = detail || ' ' where sequence = 8 and {of_acme}"), Some(8), Fault::Altered),
        (format!("update audit set before = '' where sequence = 1 and {of_acme}"), Some(1), Fault::Altered),
        (format!("update audit set done_at = '2026-03-01T12:00:00.000001Z' where sequence = 2 and {of_acme}"), Some(2), Fault::Altered),
        (format!("delete from audit where sequence = 5 and {of_acme}"), Some(5), Fault::Missing),
        (format!("delete from audit where sequence = 1 and {of_acme}"), Some(1), Fault::Missing),
        (format!("delete from audit where sequence = 8 and {of_acme}"), Some(8), Fault::Missing),
        (format!("delete from audit where {of_acme}"), Some(1), Fault::Missing),
        // Whoever closes the gap breaks the next link.
        (
            format!(
                "delete from audit where sequence = 5 and {of_acme}; update audit set sequence = sequence - 1 where sequence > 5 and {of_acme}"
            ),
            Some(5),
            Fault::Unlinked,
        ),
        (format!("update audit_head set hash = '\\x00' where {of_acme}"), Some(8), Fault::OtherHead),
        (format!("{forged} values ('{id}', '{}', 'test', 'x', 'y', '2026-03-02T12:00:00Z')", world.app.mint()), None, Fault::Unchained),
    ] {
        tamper(&world, "audit", attack.clone()).await;
        let broken = verified(&world, id).await.broken.unwrap_or_else(|| panic!("not noticed: {attack}"));
        assert_eq!((broken.sequence, broken.why), (sequence, why), "{attack}");
        let named = backhaul(&world.database, &["audit", "verify", "acme"]);
        assert!(err(&named).contains("1 of 1 chains are broken"));
        assert_eq!(verified(&world, bolt).await.broken, None, "every merchant has a chain of its own");
        let restore = "delete from audit; insert into audit select * from copied; delete from audit_head; insert into audit_head select * from copied_head";
        tamper(&world, "audit", restore.to_owned()).await;
        assert_eq!(verified(&world, id).await.broken, None);
    }
    let home = verify_audit(&world.app, Chain::Home).await.unwrap();
    assert_eq!(home, Verified { entries: 0, begins_after: 0, broken: None });
}

#[tokio::test]
async fn the_chain_of_what_belongs_to_no_merchant_is_verified_too() {
    let world = World::new().await;
    for value in [100, 90, 80] {
        set_limit(&world.app, "test", Name::RequestsPerMinute, value).await.unwrap();
    }
    let shown: Value = serde_json::from_str(&out(&backhaul(&world.database, &["audit", "verify", "-o", "json"]))).unwrap();
    assert_eq!(
        (&shown["items"][0]["merchant"], &shown["items"][0]["entries"], &shown["items"][0]["result"]),
        (&Value::Null, &3.into(), &"whole".into()),
        "{shown}"
    );
    let second = world.database.texts("select audit_id::text from home_audit where sequence = 2").await.remove(0);
    tamper(&world, "home_audit", "update home_audit set after = '{}' where sequence = 2".to_owned()).await;
    let home = verify_audit(&world.app, Chain::Home).await.unwrap();
    assert_eq!(home.broken, Some(Broken { sequence: Some(2), id: Some(second.parse().unwrap()), why: Fault::Altered }));
    assert_eq!(home.entries, 1, "the first one fits");
}

#[tokio::test]
async fn not_even_its_owner_changes_the_audit_trail_by_accident() {
    let world = World::new().await;
    world.merchant("acme").await;
    set_limit(&world.app, "test", Name::RequestsPerMinute, 100).await.unwrap();
    for table in ["audit", "home_audit"] {
        let changes = [format!("update {table} set actor = 'somebody else'"), format!("delete from {table}"), format!("truncate {table}")];
        for change in changes {
            let mut connection = world.database.connect_for(&change).await;
            let refused = sqlx::raw_sql(AssertSqlSafe(change.clone())).execute(&mut connection).await.expect_err(&change).to_string();
            assert!(refused.contains("never changes") || refused.contains("never emptied"), "{change}: {refused}");
        }
    }
}

/// The changes of an action, as `before → after`.
async fn told(world: &World, table: &str, action: &str) -> Vec<String> {
    let query = format!("select concat(before, ' → ', after) from {table} where action = '{action}' order by sequence");
    let mut connection = world.database.connect_for(&query).await;
    sqlx::query_scalar(AssertSqlSafe(query)).fetch_all(&mut connection).await.unwrap()
}

#[tokio::test]
async fn the_audit_tells_what_was_before_and_what_is_after() {
    let world = World::new().await;
    let (app, id) = (&world.app, world.merchant("acme").await.id);
    let acme = account(&world, "acme").await;
    set_retention(app, "test", &acme, 90).await.unwrap();
    assert_eq!(told(&world, "audit", "merchant.retention_changed").await, [r#"{"retention_days":400} → {"retention_days":90}"#]);
    set_limit(app, "test", Name::RequestsPerMinute, 100).await.unwrap();
    set_limit(app, "test", Name::RequestsPerMinute, 50).await.unwrap();
    reset_limit(app, "test", Name::RequestsPerMinute).await.unwrap();
    let name = Name::RequestsPerMinute.as_str();
    let lowered = told(&world, "home_audit", "limit.lowered").await;
    assert_eq!(lowered, [format!(r#"{{"{name}":null}} → {{"{name}":100}}"#), format!(r#"{{"{name}":100}} → {{"{name}":50}}"#)]);
    assert_eq!(told(&world, "home_audit", "limit.reset").await, [format!(r#"{{"{name}":50}} → {{"{name}":null}}"#)]);
    set_policy(app, "test", id, PolicyChange { window_days: Some(14), ..PolicyChange::default() }).await.unwrap();
    assert_eq!(told(&world, "audit", "policy.changed").await, [r#"{"window_days":30} → {"window_days":14}"#]);

    let bearer = |token: &str| Some(Authentication::Bearer(token.to_owned().into()));
    let url = |url: &str| Some(url.to_owned());
    let first =
        EndpointChange { url: url("https://127.0.0.1/rma?key=canary-query"), authentication: bearer("canary-one"), ..Default::default() };
    let secret = set_endpoint(app, "test", id, Interface::Rma, first).await.unwrap().secret.unwrap();
    let second =
        EndpointChange { url: url("https://127.0.0.1/new"), slots: Some(3), authentication: bearer("canary-two"), ..Default::default() };
    set_endpoint(app, "test", id, Interface::Rma, second).await.unwrap();
    let rotated = rotate_secret(app, "test", id, Interface::Rma).await.unwrap();
    remove_endpoint(app, "test", id, Interface::Rma).await.unwrap();
    let changed = told(&world, "audit", "endpoint.changed").await.remove(0);
    let (before, after) = changed.split_once(" → ").unwrap();
    let (before, after): (Value, Value) = (serde_json::from_str(before).unwrap(), serde_json::from_str(after).unwrap());
    assert!(before["url"].as_str().unwrap().starts_with("https://127.0.0.1/rma?hmac:"), "{before}");
    assert_eq!((&after["url"], &before["slots"], &after["slots"]), (&"https://127.0.0.1/new".into(), &10.into(), &3.into()));
    assert!(before["credential"] != after["credential"] && before.get("secret").is_none(), "{before} {after}");
    let rotation = told(&world, "audit", "endpoint.secret_rotated").await.remove(0);
    assert!(rotation.starts_with(r#"{"secret":"hmac:"#) && rotation.matches("hmac:").count() == 2, "{rotation}");
    assert!(told(&world, "audit", "endpoint.removed").await[0].contains(r#""slots":null"#));
    let all = world.database.texts("select audit::text from audit").await.join("\n");
    for canary in ["canary", secret.expose_secret(), rotated.expose_secret()] {
        assert!(!all.contains(canary), "{all}");
    }
    let listed = out(&backhaul(&world.database, &["audit", "list", "--merchant", "acme", "--what", "policy", "-o", "json"]));
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!((listed["items"].as_array().unwrap().len(), &listed["items"][0]["before"]["window_days"]), (1, &30.into()), "{listed}");
    assert_eq!(listed["items"][0]["hash"].as_str().unwrap().len(), 64);
    let nobody = out(&backhaul(&world.database, &["audit", "list", "--who", "nobody-at-all"]));
    assert_eq!(nobody, "No change fits.\n");
    // Page by page, nothing is listed twice or left out.
    let page = |words: &[&str]| {
        let output = backhaul(&world.database, &[&["audit", "list", "--merchant", "acme", "-o", "json"], words].concat());
        let page: Value = serde_json::from_str(&out(&output)).unwrap();
        let ids: Vec<Value> = page["items"].as_array().unwrap().iter().map(|entry| entry["audit_id"].clone()).collect();
        (ids, page["next"].as_str().map(ToOwned::to_owned))
    };
    let (all, end) = page(&[]);
    assert_eq!(end, None, "there is no more");
    let (first, next) = page(&["--limit", "2"]);
    let (rest, _) = page(&["--cursor", &next.unwrap()]);
    assert_eq!([first, rest].concat(), all);
}

#[tokio::test]
async fn the_audit_holds_no_address_of_anybody_but_the_operator_who_acted() {
    let world = World::new().await;
    let (app, id) = (&world.app, world.merchant("acme").await.id);
    let canary = "canary@example.com";
    set_technical_contact(app, "test", &account(&world, "acme").await, Some(canary)).await.unwrap();
    set_mails(app, "test", id, MailChange { reply_to: Some(canary.to_owned()), ..MailChange::default() }).await.unwrap();
    set_portal(app, "test", id, PortalChange { help_email: Some(canary.to_owned()), ..PortalChange::default() }).await.unwrap();
    let (operator, _) = people::add(app, "test", Authority::Full, &canary.parse().unwrap(), "Canary", Role::Viewer).await.unwrap();
    people::change_role(app, "test", Authority::Full, operator.id, Role::Support).await.unwrap();
    people::reset(app, "test", Authority::Full, operator.id).await.unwrap();
    people::disable(app, "test", operator.id).await.unwrap();
    people::enable(app, "test", Authority::Full, operator.id).await.unwrap();
    // Somebody who signs in, sets an authenticator up and signs out.
    let person = world.console(Role::Support).await;
    person.signs_in().await;
    person.post("/sign-out", &[("", "")]).await;
    for table in ["audit", "home_audit"] {
        let query = format!("select concat_ws(' ', action, detail, before, after) from {table}");
        let mut connection = world.database.connect_for(&query).await;
        let rows: Vec<String> = sqlx::query_scalar(AssertSqlSafe(query)).fetch_all(&mut connection).await.unwrap();
        assert!(rows.len() > 4, "{rows:?}");
        assert!(rows.iter().all(|row| !row.contains('@') && !row.to_lowercase().contains("canary")), "{rows:?}");
    }
}

#[tokio::test]
async fn changes_at_the_same_moment_are_chained_one_after_the_other() {
    let world = World::new().await;
    let id = world.merchant("acme").await.id;
    let acme = account(&world, "acme").await;
    let changes = (1..=20).map(|days| set_refund_days(&world.app, "test", &acme, days));
    for changed in futures::future::join_all(changes).await {
        changed.unwrap();
    }
    assert_eq!(verified(&world, id).await, Verified { entries: 22, begins_after: 0, broken: None });
}

#[tokio::test]
async fn a_chain_that_somebody_holds_holds_up_neither_parcels_nor_other_merchants() {
    let world = World::with(&[("BACKHAUL__DATABASE__LOCK_TIMEOUT_MS", "1000")]).await;
    let mut carried = world.shop_with_a_carrier("acme").await;
    let bolt = world.merchant("bolt").await;
    let mut connection = world.database.connect().await;
    let hold = format!("begin; select from audit_head where merchant_id = '{}' for update", carried.shop.merchant.id);
    sqlx::raw_sql(AssertSqlSafe(hold)).execute(&mut connection).await.unwrap();
    // Orders, returns, labels, scans and refunds write no entry.
    carried.shop.merchant.token = carried.shop.merchant.gets_a_token().await;
    let (_, number) = carried.has_a_label("A-1").await;
    let scanned = crate::world::carrier::tracker_event("evt_1", &number, "in_transit");
    assert_eq!(carried.carrier_sends(&scanned).await.status, 200);
    assert_eq!(carried.receives_events().await.last().map(String::as_str), Some("TRANSIT"));
    set_refund_days(&world.app, "test", &account(&world, "bolt").await, 3).await.unwrap();
    assert_eq!(verified(&world, bolt.id).await.broken, None);
    let waiting = set_refund_days(&world.app, "test", &account(&world, "acme").await, 3).await;
    assert!(waiting.is_err(), "an operator's change of the same merchant waits, and gives up in time");
}
