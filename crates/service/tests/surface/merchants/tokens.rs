//! Getting an access token, and the scopes it grants.

use std::time::Duration;

use backhaul::flow::merchants::configure_merchant as flow;
use domain::merchants::access::{Scope, Scopes};
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::Row as _;

use crate::world::{World, beginning, message, order};

#[tokio::test]
async fn a_client_gets_a_token_for_its_credential() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let reply = world.asks_for_a_token(&merchant.credentials()).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("content-type"), "application/json");
    assert_eq!(reply.header("cache-control"), "no-store");
    assert_eq!(reply.body["token_type"], "Bearer");
    assert_eq!(reply.body["expires_in"], 90_000);
    assert_eq!(reply.body["scope"], "orders warehouse carrier");
    assert_eq!(reply.body["created_at"], beginning().timestamp());
    assert_eq!(reply.body.as_object().unwrap().len(), 5, "the contract's five fields");
    assert!(reply.body["access_token"].as_str().unwrap().len() >= 43, "256 bits in base64, 96 of them a check");
}

#[tokio::test]
async fn a_form_is_as_good_as_json() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let form = |reply: Value| reply;
    let credentials = form(merchant.credentials());
    let reply = world.ask(Method::POST, "/oauth/token", |request| request.form(&credentials)).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    assert_eq!(reply.body["token_type"], "Bearer");
}

#[tokio::test]
async fn a_client_may_authenticate_with_http_basic() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let (id, secret) = (merchant.client_id.as_str(), merchant.client_secret.as_str());
    let grant = json!({ "grant_type": "client_credentials" });
    let asks = |id: &str, secret: &str, body: &Value| {
        let (id, secret, body) = (id.to_owned(), secret.to_owned(), body.clone());
        world.ask(Method::POST, "/oauth/token", move |request| request.basic_auth(id, Some(secret)).json(&body))
    };
    let reply = asks(id, secret, &grant).await;
    assert_eq!((reply.status.as_u16(), &reply.body["token_type"]), (200, &json!("Bearer")), "{}", reply.text);
    let form = world.ask(Method::POST, "/oauth/token", |request| request.basic_auth(id, Some(secret)).form(&grant)).await;
    assert_eq!(form.status, 200, "{}", form.text);
    // Each character of id and secret may be percent-encoded.
    let encoded = |text: &str| text.bytes().map(|byte| format!("%{byte:02x}")).collect::<Vec<_>>().concat();
    assert_eq!(asks(&encoded(id), &encoded(secret), &grant).await.status, 200);

    for (id, secret) in [(id, "guess"), ("nobody", secret), ("", "")] {
        let wrong = asks(id, secret, &grant).await;
        assert_eq!((wrong.status.as_u16(), &wrong.body["error"]), (401, &json!("invalid_client")));
        assert_eq!(wrong.header("www-authenticate"), r#"Basic realm="backhaul", charset="UTF-8""#);
    }
    for garbled in ["Basic", "Basic ", "basic not-base64", "BASIC aWQ="] {
        let reply = world.ask(Method::POST, "/oauth/token", |request| request.header("Authorization", garbled).json(&grant)).await;
        assert_eq!(reply.status, if garbled.trim() == "Basic" { 400 } else { 401 }, "{garbled:?}: {}", reply.text);
    }
}

#[tokio::test]
async fn a_client_authenticates_in_one_way_only() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let asks = |body: Value| {
        let (id, secret) = (merchant.client_id.clone(), merchant.client_secret.clone());
        world.ask(Method::POST, "/oauth/token", move |request| request.basic_auth(id, Some(secret)).json(&body))
    };
    let both = asks(merchant.credentials()).await;
    assert_eq!((both.status.as_u16(), &both.body["error"]), (400, &json!("invalid_request")), "{}", both.text);
    let another = asks(json!({ "grant_type": "client_credentials", "client_id": "another" })).await;
    assert_eq!((another.status.as_u16(), &another.body["error"]), (400, &json!("invalid_request")), "{}", another.text);
    let named = asks(json!({ "grant_type": "client_credentials", "client_id": merchant.client_id })).await;
    assert_eq!(named.status, 200, "the id alone authenticates nobody: {}", named.text);
}

#[tokio::test]
async fn a_missing_content_type_is_read_as_json() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let reply = world.ask(Method::POST, "/oauth/token", |request| request.body(merchant.credentials().to_string())).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    let text = message([order("1001")]).to_string();
    let reply = merchant.calls(Method::POST, "/returns_portal_orders", |request| request.body(text)).await;
    assert_eq!(reply.results(), ["created"]);
}

#[tokio::test]
async fn another_content_type_is_refused() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let reply = world.ask(Method::POST, "/oauth/token", |request| request.header("Content-Type", "text/xml").body("<a/>")).await;
    assert_eq!(reply.status, 415);
    for other in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"] {
        let reply =
            merchant.calls(Method::POST, "/returns_portal_orders", |request| request.header("Content-Type", other).body("{}")).await;
        assert_eq!(reply.status, 415, "{other}");
        assert_eq!(reply.body["message"], "The Content-Type must be application/json.");
    }
}

#[tokio::test]
async fn a_wrong_client_is_told_so_and_nothing_more() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let wrong_secret = json!({ "grant_type": "client_credentials", "client_id": merchant.client_id, "client_secret": "guess" });
    let wrong_id = json!({ "grant_type": "client_credentials", "client_id": "nobody", "client_secret": merchant.client_secret });
    let mut bodies = Vec::new();
    for wrong in [wrong_secret, wrong_id] {
        let mut reply = world.asks_for_a_token(&wrong).await;
        assert_eq!(reply.status, 401);
        assert_eq!(reply.body["error"], "invalid_client");
        assert_eq!(reply.header("cache-control"), "no-store", "on every response");
        assert!(reply.header("www-authenticate").starts_with("Basic "));
        reply.body["request_id"].take();
        bodies.push(reply.body);
    }
    assert_eq!(bodies[0], bodies[1], "an unknown client and a wrong secret look the same");
}

#[tokio::test]
async fn another_grant_is_not_supported() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    for grant in ["password", "authorization_code", "refresh_token", ""] {
        let mut request = merchant.credentials();
        request["grant_type"] = grant.into();
        let reply = world.asks_for_a_token(&request).await;
        assert_eq!((reply.status.as_u16(), &reply.body["error"]), (400, &json!("unsupported_grant_type")), "{grant}");
    }
}

#[tokio::test]
async fn an_incomplete_or_malformed_request_says_what_is_missing() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    for field in ["grant_type", "client_id", "client_secret"] {
        let mut request = merchant.credentials();
        request.as_object_mut().unwrap().remove(field);
        let reply = world.asks_for_a_token(&request).await;
        assert_eq!((reply.status.as_u16(), &reply.body["error"]), (400, &json!("invalid_request")));
        assert!(reply.body["message"].as_str().unwrap().starts_with(&format!("The request lacks {field}.")), "{}", reply.text);
    }
    for malformed in ["", "{", "[]", "17", r#"{"grant_type": 1}"#, "\u{0}"] {
        let reply = world.ask(Method::POST, "/oauth/token", |request| request.body(malformed)).await;
        assert_eq!((reply.status.as_u16(), &reply.body["error"]), (400, &json!("invalid_request")), "{malformed:?}: {}", reply.text);
    }
}

#[tokio::test]
async fn the_bearer_scheme_is_compared_without_regard_to_case() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    for scheme in ["bearer", "Bearer", "BEARER"] {
        let reply =
            world.ask(Method::GET, "/v1/orders/x", |request| request.header("Authorization", format!("{scheme} {}", merchant.token))).await;
        assert_eq!(reply.status, 404, "{scheme}: authorised, and there is no such order");
    }
    let reply =
        world.ask(Method::GET, "/v1/orders/x", |request| request.header("Authorization", format!("Basic {}", merchant.token))).await;
    assert_eq!(reply.status, 401);
}

#[tokio::test]
async fn a_token_expires_after_25_hours() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    world.time_passes(Duration::from_secs(89_999));
    assert_eq!(merchant.looks_up("x").await.status, 404, "a second before, it is valid");
    world.time_passes(Duration::from_secs(1));
    let reply = merchant.looks_up("x").await;
    assert_eq!(reply.status, 401);
    assert_eq!(reply.header("www-authenticate"), r#"Bearer realm="backhaul", error="invalid_token""#);
}

#[tokio::test]
async fn no_token_and_no_such_token_are_refused() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let reply = world.ask(Method::GET, "/v1/orders/x", |request| request).await;
    assert_eq!(reply.status, 401);
    assert_eq!(reply.header("www-authenticate"), r#"Bearer realm="backhaul""#);
    assert_eq!(reply.body["errors"], json!([]));
    let mut forged = merchant.token.clone();
    let last = if forged.pop() == Some('A') { 'B' } else { 'A' };
    forged.push(last);
    for token in [forged.as_str(), "bht_x", "x", ""] {
        let reply = world.ask(Method::GET, "/v1/orders/x", |request| request.header("Authorization", format!("Bearer {token}"))).await;
        assert_eq!(reply.status, 401, "{token}");
    }
}

#[tokio::test]
async fn a_revoked_credential_opens_nothing_within_5_seconds_on_every_node() {
    let world = World::new().await;
    let other_node = world.second_node().await;
    let merchant = world.merchant("acme").await;
    let on_other_node = || other_node.ask(Method::GET, "/v1/orders/x", |request| request.bearer_auth(&merchant.token));
    assert_eq!(merchant.looks_up("x").await.status, 404);
    assert_eq!(on_other_node().await.status, 404, "both nodes have looked the token up");

    flow::revoke_credential(&world.app, "test", merchant.id, &merchant.client_id).await.unwrap();
    world.time_passes(Duration::from_secs(5));
    assert_eq!(merchant.looks_up("x").await.status, 401);
    assert_eq!(on_other_node().await.status, 401);
    assert_eq!(world.asks_for_a_token(&merchant.credentials()).await.status, 401, "nor does it get another token");
}

#[tokio::test]
async fn a_look_up_is_relied_on_for_a_moment_only() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    assert_eq!(merchant.looks_up("x").await.status, 404);
    let mut connection = world.database.connect().await;
    sqlx::query("delete from access_token").execute(&mut connection).await.unwrap();
    assert_eq!(merchant.looks_up("x").await.status, 404, "cached");
    world.time_passes(Duration::from_secs(4));
    assert_eq!(merchant.looks_up("x").await.status, 401, "it is looked up again");
}

#[tokio::test]
async fn a_token_is_looked_up_with_the_merchant_that_it_names() {
    let world = World::new().await;
    let (acme, zeta) = (world.merchant("acme").await, world.merchant("zeta").await);
    for merchant in [&acme, &zeta] {
        assert_eq!(
            backhaul::platform::keys::bearer::merchant_of(&merchant.token.as_str().into(), &world.app.fingerprints),
            Some(merchant.id)
        );
    }
    let mut connection = world.database.connect().await;
    let moved = sqlx::query("update access_token set merchant_id = $1 where merchant_id = $2").bind(zeta.id.0).bind(acme.id.0);
    assert_eq!(moved.execute(&mut connection).await.unwrap().rows_affected(), 1);
    assert_eq!(acme.looks_up("x").await.status, 401, "its row is among another merchant's");
    assert_eq!(zeta.looks_up("x").await.status, 404);
}

#[tokio::test]
async fn a_token_works_for_every_interface_unless_issued_narrower() {
    let world = World::new().await;
    let narrow = world.merchant_with("narrow", World::all_scopes_but(Scope::Orders)).await;
    let reply = world.asks_for_a_token(&narrow.credentials()).await;
    assert_eq!(reply.body["scope"], "warehouse carrier");
    let reply = narrow.publishes(&message([order("1001")])).await;
    assert_eq!(reply.status, 403);
    assert_eq!(reply.body["message"], "The access token lacks the scope orders. Ask the operator for a credential with it.");

    let only_orders = world.merchant_with("only-orders", [Scope::Orders].into_iter().collect::<Scopes>()).await;
    assert_eq!(only_orders.publishes(&message([order("1001")])).await.results(), ["created"]);
    assert_eq!(only_orders.looks_up("1001").await.status, 200);
}

#[tokio::test]
async fn a_paused_merchant_is_refused_and_then_answered_again() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let stored = store::merchants::accounts::find(world.app.cell(), &"acme".parse().unwrap()).await.unwrap().unwrap();
    flow::pause_merchant(&world.app, "test", &stored).await.unwrap();
    world.time_passes(Duration::from_secs(5));
    assert_eq!(merchant.looks_up("x").await.status, 403);
    flow::resume_merchant(&world.app, "test", &stored).await.unwrap();
    world.time_passes(Duration::from_secs(5));
    assert_eq!(merchant.looks_up("x").await.status, 404);
}

#[tokio::test]
async fn neither_tokens_nor_secrets_are_in_the_database() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut connection = world.database.connect().await;
    let rows = sqlx::query(
        "select access_token::text as row from access_token union all select credential::text from credential union all select audit::text from audit",
    );
    let rows: Vec<String> = rows.fetch_all(&mut connection).await.unwrap().iter().map(|row| row.get("row")).collect();
    assert!(rows.len() >= 3);
    for row in rows {
        assert!(!row.contains(&merchant.token) && !row.contains(&merchant.client_secret), "{row}");
    }
}

#[tokio::test]
async fn expired_tokens_are_swept_when_a_new_one_is_issued() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    world.time_passes(Duration::from_secs(90_001));
    merchant.gets_a_token().await;
    let mut connection = world.database.connect().await;
    let left: i64 = sqlx::query_scalar("select count(*) from access_token").fetch_one(&mut connection).await.unwrap();
    assert_eq!(left, 1);
}

#[tokio::test]
async fn a_client_asks_for_some_of_its_scopes() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let asks = async |scope: Value| {
        let mut body = merchant.credentials();
        body["scope"] = scope;
        world.asks_for_a_token(&body).await
    };
    let narrow = asks(json!("warehouse orders")).await;
    assert_eq!((narrow.status.as_u16(), &narrow.body["scope"]), (200, &json!("orders warehouse")), "{}", narrow.text);
    let carrier = asks(json!("carrier")).await;
    assert_eq!(carrier.body["scope"], "carrier");
    let token = carrier.body["access_token"].as_str().unwrap();
    let refused = world.ask(Method::GET, "/v1/orders/1", |request| request.bearer_auth(token)).await;
    assert_eq!(refused.status, 403, "the token has no more than it was asked for: {}", refused.text);
    // Without a scope, or with an empty one, the token has all of the credential's.
    for scope in [Value::Null, json!(""), json!(" ")] {
        assert_eq!(asks(scope.clone()).await.body["scope"], "orders warehouse carrier", "{scope}");
    }
    let mut form = merchant.credentials();
    form["scope"] = json!("orders");
    let form = world.ask(Method::POST, "/oauth/token", |request| request.form(&form)).await;
    assert_eq!(form.body["scope"], "orders", "{}", form.text);

    let bound = world.merchant_with("bolt", Scopes::from_iter([Scope::Warehouse])).await;
    for (holder, scope) in
        [(&merchant, "admin"), (&merchant, "orders admin"), (&merchant, "Orders"), (&bound, "orders"), (&bound, "warehouse orders")]
    {
        let mut body = holder.credentials();
        body["scope"] = json!(scope);
        let refused = world.asks_for_a_token(&body).await;
        assert_eq!((refused.status.as_u16(), &refused.body["error"]), (400, &json!("invalid_scope")), "{scope}: {}", refused.text);
        assert!(!refused.text.contains("access_token"));
    }
    let mut wrong = bound.credentials();
    wrong["scope"] = json!("orders");
    wrong["client_secret"] = json!("guess");
    assert_eq!(world.asks_for_a_token(&wrong).await.body["error"], "invalid_client", "whoever does not know the secret learns nothing");
}
