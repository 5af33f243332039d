//! Secrets and personal data in any field never appear in the logs, not even at TRACE.

use serde_json::{Value, json};

use crate::binary::{Served, backhaul, command};
use crate::world::{Database, line, message, order, refund};

/// The text that must not appear in any log.
const CANARY: &str = "canary7f3a";

/// Puts the canary into every string of the value that can carry it.
fn infest(value: &mut Value, keep: &[&str], name: &str) {
    match value {
        Value::String(text) if !keep.contains(&name) => *text = format!("{CANARY}-{text}"),
        Value::Array(values) => values.iter_mut().for_each(|value| infest(value, keep, name)),
        Value::Object(fields) => fields.iter_mut().for_each(|(name, value)| infest(value, keep, &name.clone())),
        _ => {}
    }
}

#[tokio::test]
async fn no_secret_and_no_personal_data_is_ever_logged() {
    let database = Database::create().await;
    let issued = {
        assert!(backhaul(&database, &["merchant", "add", "acme", "--name", CANARY]).status.success());
        let issued = backhaul(&database, &["credential", "issue", "--merchant", "acme", "--scope", "orders", "-o", "json"]);
        serde_json::from_slice::<Value>(&issued.stdout).unwrap()
    };
    let served = Served::start(command(&database).env("BACKHAUL__LOG__LEVEL", "trace").env("RUST_LOG", "trace").arg("serve"));
    let client = reqwest::Client::new();
    let post = |path: &str, body: String, token: String| {
        let request = client.post(format!("{}{path}", served.base)).header("Content-Type", "application/json").header("X-Canary", CANARY);
        let request = request.header("Cookie", CANARY).header("User-Agent", CANARY);
        let request = if token.is_empty() { request } else { request.bearer_auth(token) };
        async move { request.body(body).send().await.unwrap() }
    };
    let credentials =
        json!({ "grant_type": "client_credentials", "client_id": issued["client_id"], "client_secret": issued["client_secret"] });
    let answer: Value =
        serde_json::from_str(&post("/oauth/token", credentials.to_string(), String::new()).await.text().await.unwrap()).unwrap();
    let token = answer["access_token"].as_str().unwrap().to_owned();

    let mut infested = order("1");
    infested["items"] = json!([line("L1", 2)]);
    infested["refunds"] = json!([refund("F1", 1)]);
    infested["unknown"] = json!({ "nested": ["x"] });
    infest(&mut infested, &["status", "currency", "created_at", "updated_at", "shipped_date"], "");
    let good = message([infested.clone()]);
    assert_eq!(post("/returns_portal_orders", good.to_string(), token.clone()).await.status(), 200);
    infested["refunds"][0]["total_refund_amount_cents"] = json!(1);
    assert_eq!(post("/returns_portal_orders", message([infested.clone()]).to_string(), token.clone()).await.status(), 200);
    infested["currency"] = CANARY.into();
    infested[CANARY] = "\u{0}".into();
    assert_eq!(post("/returns_portal_orders", message([infested]).to_string(), token.clone()).await.status(), 422);
    assert_eq!(post("/returns_portal_orders", format!("{{\"{CANARY}"), token.clone()).await.status(), 400);
    assert_eq!(post(&format!("/returns_portal_orders?validate_only={CANARY}"), "{}".to_owned(), token.clone()).await.status(), 400);
    assert_eq!(post("/returns_portal_orders", "{}".to_owned(), CANARY.to_owned()).await.status(), 401);
    let wrong = json!({ "grant_type": "client_credentials", "client_id": CANARY, "client_secret": CANARY });
    assert_eq!(post("/oauth/token", wrong.to_string(), String::new()).await.status(), 401);
    for path in [format!("/v1/orders/{CANARY}"), format!("/{CANARY}"), format!("/v1/orders/1?{CANARY}")] {
        client.get(format!("{}{path}", served.base)).bearer_auth(&token).send().await.unwrap();
    }
    // A failure of the service is logged, but without data.
    database.execute("alter table customer_order add constraint no_more check (length(snapshot) < 0) not valid").await;
    let mut another = order(CANARY);
    another["customer"]["email"] = CANARY.into();
    assert_eq!(post("/returns_portal_orders", message([another]).to_string(), token.clone()).await.status(), 500);

    let (_, log) = served.terminate();
    assert!(log.contains("\"level\":\"DEBUG\""), "the log is as verbose as it gets:\n{log}");
    assert!(log.contains("no_more"), "the failure is logged:\n{log}");
    let secrets = [CANARY, &token, issued["client_secret"].as_str().unwrap()];
    let client_id = issued["client_id"].as_str().unwrap();
    for line in log.lines() {
        assert!(secrets.iter().all(|secret| !line.contains(secret)), "{line}");
        // Who asked is told by the line of the request and by security events, and nowhere else.
        let tells_the_caller =
            ["security", "backhaul::http::middleware"].iter().any(|target| line.contains(&format!("\"target\":\"{target}\"")));
        assert!(!line.contains(client_id) || tells_the_caller, "{line}");
    }
}
