//! `-o json`: every command prints one JSON document, of one shape, whatever it has to say.

use std::collections::BTreeSet;

use backhaul::cli::operator_api;
use backhaul::flow::messages::configure_endpoint::{EndpointChange, set_endpoint};
use backhaul::http::operator_api::TERMINAL;
use domain::merchants::operator::Role;
use domain::messages::message::Interface;
use reqwest::Method;
use serde_json::{Value, json};

use crate::binary::{backhaul, command, out};
use crate::world::script::Script;
use crate::world::{Database, World};

/// The output of a command for JSON; none if it was refused without a word on standard output.
async fn printed(script: &Script<'_>, path: &str, reads: bool, parameters: &Value) -> Option<Value> {
    let answer = answer_to_terminal("output=json", script, path, reads, parameters).await;
    let text = answer["out"].as_str().filter(|text| !text.is_empty())?;
    Some(serde_json::from_str(text).unwrap_or_else(|error| panic!("{path} prints no JSON ({error}):\n{text}")))
}

/// The answer of a command to a terminal as `shape` says: both its outputs, and its error.
pub async fn answer_to_terminal(shape: &str, script: &Script<'_>, path: &str, reads: bool, parameters: &Value) -> Value {
    let accept = format!("{TERMINAL};{shape}");
    let method = if reads { Method::GET } else { Method::POST };
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let pairs = parameters.as_object().unwrap().iter().map(|(name, value)| (name.as_str(), text(value)));
    let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    let address = if reads { format!("{path}?{query}") } else { path.to_owned() };
    let reply = script
        .world
        .calls_operator_api(method, &address, |request| {
            let request = request.bearer_auth(&script.token).header("Accept", accept);
            if reads { request } else { request.json(parameters) }
        })
        .await;
    let says_nothing = reply.body["out"].as_str().unwrap_or_else(|| panic!("{path}: {}", reply.text)).is_empty();
    assert!(!says_nothing || reply.body["error"].is_string(), "{path} says nothing: {}", reply.text);
    reply.body
}

/// The names of an object's fields; of a list, those of its first entry.
fn shape(value: &Value) -> Vec<&String> {
    let one = value.as_array().and_then(|rows| rows.first()).unwrap_or(value);
    one.as_object().into_iter().flat_map(|fields| fields.keys()).collect()
}

/// The parameters of every command that can be called from elsewhere, in an order in which most of them have something to do.
#[expect(clippy::too_many_lines, reason = "one line for each command")]
fn calls(ids: &Ids) -> Vec<(&'static str, Value)> {
    let Ids { rma, message, client_id } = ids;
    let acme = || json!({ "merchant": "acme" });
    let with = |more: Value| {
        let mut all = acme();
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    let rma_endpoint = || with(json!({ "interface": "rma" }));
    let day = json!({ "from": "2026-02-20T00:00:00Z", "to": "2026-03-01T12:00:00Z" });
    let replay = with(json!({ "interface": "rma", "from": day["from"], "to": day["to"], "dry_run": true }));
    let nobody = "0190a000-0000-7000-8000-000000000000";
    let place = json!({ "name": "Dock", "street": "1 Dock St", "city": "Troy", "state": "NY", "zip_code": "12180", "country": "US" });
    vec![
        ("merchant/add", json!({ "handle": "zeta", "name": "Zeta" })),
        ("merchant/set", json!({ "handle": "zeta", "retention_days": 400 })),
        ("merchant/rename", json!({ "handle": "zeta", "name": "Zeta Shoes" })),
        ("merchant/list", json!({})),
        ("merchant/show", json!({ "handle": "acme" })),
        ("merchant/pause", json!({ "handle": "zeta", "yes": true })),
        ("merchant/resume", json!({ "handle": "zeta" })),
        ("merchant/delete", json!({ "handle": "zeta", "yes": true })),
        ("merchant/onboarding", json!({ "handle": "acme" })),
        ("merchant/live", json!({ "handle": "zeta" })),
        ("credential/issue", with(json!({ "scope": ["orders"] }))),
        ("credential/list", acme()),
        ("credential/revoke", with(json!({ "client_id": client_id, "yes": true }))),
        ("credential/certificate/add", with(json!({ "client_id": client_id, "client_certificate": "" }))),
        ("credential/certificate/list", with(json!({ "client_id": client_id }))),
        ("credential/certificate/remove", with(json!({ "client_id": client_id, "fingerprint": "00".repeat(32) }))),
        ("endpoint/set", rma_endpoint()),
        ("endpoint/list", acme()),
        ("endpoint/list", json!({ "all_merchants": true })),
        ("endpoint/list", json!({ "all_merchants": true, "failing": true })),
        ("endpoint/show", rma_endpoint()),
        ("endpoint/test", with(json!({ "interface": "exchange_variants" }))),
        ("endpoint/check", with(json!({ "interface": "outbound_asn" }))),
        ("endpoint/pause", rma_endpoint()),
        ("endpoint/resume", rma_endpoint()),
        ("endpoint/rotate-secret", with(json!({ "interface": "rma", "yes": true }))),
        ("endpoint/replay", replay),
        ("endpoint/replays", acme()),
        ("endpoint/cancel-replay", with(json!({ "job": nobody }))),
        (
            "carrier/set",
            with(json!({ "url": "https://api.easypost.com", "destination": "Acme; 1 Dock St; Troy; NY; 12180; US", "secret": "EZTK-1" })),
        ),
        ("carrier/show", acme()),
        ("carrier/rotate-secret", with(json!({ "yes": true }))),
        ("carrier/remove", with(json!({ "yes": true }))),
        ("warehouse/set", with(json!({ "warehouse": "WH-1", "name": place["name"] }))),
        ("warehouse/list", acme()),
        ("warehouse/show", with(json!({ "warehouse": "WH-1" }))),
        ("warehouse/remove", with(json!({ "warehouse": "WH-1" }))),
        ("vendor/add", with(json!({ "name": "Vendor" }))),
        ("vendor/set", with(json!({ "vendor": "1", "name": "Vendor One" }))),
        ("vendor/list", acme()),
        ("vendor/show", with(json!({ "vendor": "1" }))),
        ("vendor/remove", with(json!({ "vendor": "1" }))),
        ("exceptions/list", acme()),
        ("exceptions/show", with(json!({ "id": nobody }))),
        ("exceptions/notes", with(json!({ "id": nobody }))),
        ("exceptions/assign", with(json!({ "id": nobody, "email": "admin.script@ops.example.com" }))),
        ("exceptions/note", with(json!({ "id": nobody, "text": "x" }))),
        ("exceptions/resolve", with(json!({ "id": nobody, "reason": "x" }))),
        ("messages/list", acme()),
        ("messages/list", json!({ "all_merchants": true })),
        ("messages/show", with(json!({ "id": message }))),
        ("messages/retry", with(json!({ "id": message }))),
        ("failures/list", acme()),
        ("failures/list", json!({ "all_merchants": true })),
        ("failures/show", with(json!({ "id": message }))),
        ("failures/retry", with(json!({ "endpoint": "rma" }))),
        ("failures/jobs", acme()),
        ("failures/cancel", with(json!({ "job": nobody }))),
        ("failures/note", with(json!({ "id": message, "text": "x" }))),
        ("failures/owner", with(json!({ "id": message, "name": "sam" }))),
        ("failures/notes", with(json!({ "id": message }))),
        ("failures/contacted", with(json!({ "id": message }))),
        ("failures/discard", with(json!({ "id": message, "yes": true }))),
        ("failures/note", with(json!({ "endpoint": "rma", "note": "x", "yes": true }))),
        ("failures/discard", with(json!({ "endpoint": "rma", "yes": true }))),
        ("deliverers", json!({})),
        ("orders/import-report", with(json!({ "id": nobody }))),
        ("orders/show", with(json!({ "order": "A-1" }))),
        ("orders/find", json!({ "text": "A-1" })),
        ("orders/refused", acme()),
        ("orders/warned", acme()),
        ("returns/list", acme()),
        ("returns/show", with(json!({ "rma_identifier": rma }))),
        ("returns/label", with(json!({ "rma_identifier": rma }))),
        ("returns/resend", with(json!({ "rma_identifier": rma }))),
        ("returns/convert-exchange", with(json!({ "rma_identifier": rma }))),
        ("returns/exchange-placed", with(json!({ "rma_identifier": rma, "order": "X-1" }))),
        (
            "returns/exchange-address",
            with(json!({ "rma_identifier": rma, "name": "Pat", "street1": "1 Main St", "city": "Troy", "country_code": "US" })),
        ),
        ("returns/confirm-refund", with(json!({ "rma_identifier": rma }))),
        ("returns/cancel", with(json!({ "rma_identifier": rma, "yes": true }))),
        ("returns/work/list", acme()),
        ("returns/work/done", with(json!({ "subject": rma, "kind": "refund_in_question" }))),
        ("shopper/export", with(json!({ "order": "A-1" }))),
        ("shopper/find", json!({ "email": "nobody@example.com" })),
        ("policy/show", acme()),
        ("policy/set", with(json!({ "window_days": 45 }))),
        ("portal/set", with(json!({ "help_email": "help@example.com" }))),
        ("portal/show", acme()),
        ("portal/link", with(json!({ "order": "A-1" }))),
        ("portal/remove-host", with(json!({ "host": "returns.acme.example" }))),
        ("mails/set", with(json!({ "sender_name": "Acme" }))),
        ("mails/show", acme()),
        ("mails/list", with(json!({ "rma_identifier": rma }))),
        ("mails/read", with(json!({ "message": nobody }))),
        ("mails/resend", with(json!({ "message": nobody }))),
        ("withdrawals/list", acme()),
        ("withdrawals/show", with(json!({ "reference": "W-1" }))),
        ("withdrawals/match", with(json!({ "reference": "W-1", "order": "A-1" }))),
        ("brand/set", with(json!({ "accent": "#00695c" }))),
        ("brand/show", acme()),
        ("brand/remove", acme()),
        ("operator/add", json!({ "email": "support.new@ops.example.com", "name": "Support New", "role": "support" })),
        ("operator/list", json!({})),
        ("operator/set", json!({ "email": "support.new@ops.example.com", "role": "viewer" })),
        ("operator/reset", json!({ "email": "support.new@ops.example.com" })),
        ("operator/disable", json!({ "email": "support.new@ops.example.com" })),
        ("operator/enable", json!({ "email": "support.new@ops.example.com" })),
        ("operator/roles", json!({})),
        ("operator/tokens", json!({ "email": "admin.script@ops.example.com" })),
        ("operator/revoke-token", json!({ "email": "admin.script@ops.example.com", "token": nobody })),
        ("audit/list", json!({})),
        ("audit/verify", json!({})),
        ("request/list", json!({})),
        ("request/erase", with(json!({ "order": ["A-1"], "why": "asked for" }))),
        ("request/discard", with(json!({ "endpoint": "rma", "reason": "503", "why": "x" }))),
        ("request/make-admin", json!({ "email": "support.new@ops.example.com", "why": "x" })),
        ("request/rotate-keys", json!({ "kind": "sealing", "why": "x" })),
        ("request/decide", json!({ "id": nobody, "decision": "approve" })),
        ("report/deliveries", acme()),
        ("limit/set", json!({ "name": "requests-per-minute", "value": 100 })),
        ("limit/list", json!({})),
        ("limit/reset", json!({ "name": "requests-per-minute" })),
        ("keys/status", json!({})),
        ("clock/show", json!({})),
        ("clock/advance", json!({ "by": "1s" })),
        ("endpoint/remove", with(json!({ "interface": "rma", "yes": true }))),
        ("cell/list", json!({})),
        ("cell/drain", json!({ "name": "main", "yes": true })),
        ("cell/open", json!({ "name": "main" })),
    ]
}

struct Ids {
    rma: String,
    message: String,
    client_id: String,
}

/// A merchant with a return, an administrator's script, and every command that can be called from elsewhere: its path, whether it
/// reads only, and parameters.
pub async fn every_command(world: &World) -> (Script<'_>, Vec<(&'static str, bool, Value)>) {
    let merchant = world.merchant("acme").await;
    // Nothing is delivered, and the address is as long each time.
    let endpoint = EndpointChange { url: Some("https://hooks.example.com/rmas".to_owned()), ..EndpointChange::default() };
    set_endpoint(&world.app, "test", merchant.id, Interface::Rma, endpoint).await.unwrap();
    merchant.sells("A-1", 2).await;
    let rma = merchant.starts_a_return("A-1", 1).await;
    let message = world.database.texts("select message_id::text from message where kind = 'rma'").await.remove(0);
    let script = world.script(Role::Admin).await;
    let operations = operator_api().operations;
    let calls = calls(&Ids { rma, message, client_id: merchant.client_id.clone() });
    let declared: BTreeSet<&str> = operations.iter().map(|operation| operation.path.as_str()).collect();
    let called: BTreeSet<&str> = calls.iter().map(|(path, _)| *path).collect();
    assert_eq!(called, declared, "a new command is called here");
    let reads = |path: &str| operations.iter().any(|operation| operation.path == path && operation.reads);
    (script, calls.into_iter().map(|(path, parameters)| (path, reads(path), parameters)).collect())
}

#[tokio::test]
async fn every_command_prints_one_json_document_for_a_script() {
    let world = World::new().await;
    let mut silent = Vec::new();
    let (script, calls) = every_command(&world).await;
    for (path, reads, parameters) in &calls {
        if printed(&script, path, *reads, parameters).await.is_none() {
            silent.push(*path);
        }
    }
    // What takes more than this world has is refused, in words and not on standard output.
    assert!(silent.len() < calls.len() / 2, "{silent:?}");
}

#[tokio::test]
async fn a_command_prints_the_same_shape_the_first_time_and_the_next() {
    let world = World::new().await;
    world.merchant("acme").await;
    let script = world.script(Role::Admin).await;
    let url = json!({ "merchant": "acme", "interface": "rma", "url": "https://hooks.example.com/rmas" });
    let account = json!({
        "merchant": "acme", "url": "https://api.easypost.com", "destination": "Acme; 1 Dock St; Troy; NY; 12180; US", "secret": "EZTK-1",
    });
    for (path, parameters) in [("endpoint/set", url), ("carrier/set", account)] {
        let first = printed(&script, path, false, &parameters).await.unwrap();
        let next = printed(&script, path, false, &parameters).await.unwrap();
        assert_eq!(shape(&first), shape(&next), "{path}");
        assert!(first.is_object() && next.is_object(), "{path}");
    }
}

#[tokio::test]
async fn commands_of_the_machine_print_json_too() {
    let database = Database::create().await;
    out(&backhaul(&database, &["merchant", "add", "acme", "--name", "Acme"]));
    let lines: [&[&str]; 10] = [
        &["migrate"],
        &["restored"],
        &["doctor"],
        &["config", "check"],
        &["config", "default"],
        &["openapi"],
        &["keys", "status"],
        &["endpoint", "reseal", "--merchant", "acme"],
        &["shopper", "erase", "--merchant", "acme", "--email", "nobody@example.com", "--yes"],
        &["carrier", "reseal", "--merchant", "acme"],
    ];
    for words in lines {
        let output = command(&database).args(words).args(["-o", "json"]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let is_json = serde_json::from_str::<Value>(&text).is_ok() || (text.is_empty() && !output.status.success());
        assert!(is_json, "{words:?}: {text}\n{}", String::from_utf8_lossy(&output.stderr));
    }
}
