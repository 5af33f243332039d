//! The operator's view: health, metrics, request ids, and errors with a next step.

use std::sync::Arc;

use backhaul::node::Phase;
use chrono::TimeDelta;
use domain::merchants::access::Scope;
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::Row as _;

use crate::world::{World, message, order};

#[tokio::test]
async fn a_healthy_service_is_alive_and_ready() {
    let world = World::new().await;
    assert_eq!(world.admin("/healthz").await.0, 200);
    let (status, body) = world.admin("/readyz").await;
    assert_eq!(status, 200, "{body}");
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["ready"], true);
    let of_home = body["checks"].as_array().unwrap().iter().filter(|check| check["cell"].is_null());
    let checks: Vec<&str> = of_home.map(|check| check["name"].as_str().unwrap()).collect();
    assert_eq!(checks, ["database", "writes", "durability", "mode", "schema", "keys"]);
}

#[tokio::test]
async fn a_read_only_or_careless_database_is_not_ready() {
    for (setting, check) in [("default_transaction_read_only = on", "writes"), ("synchronous_commit = off", "durability")] {
        let world = World::new().await;
        let mut connection = world.database.connect().await;
        let database: String = sqlx::query_scalar("select current_database()").fetch_one(&mut connection).await.unwrap();
        sqlx::raw_sql(sqlx::AssertSqlSafe(format!("alter database {database} set {setting}"))).execute(&mut connection).await.unwrap();
        let (status, body) = world.admin("/readyz").await;
        assert_eq!(status, 503, "{body}");
        let body: Value = serde_json::from_str(&body).unwrap();
        let bad: Vec<&str> = body["checks"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|check| check["ok"] == false)
            .map(|check| check["name"].as_str().unwrap())
            .collect();
        assert_eq!(bad, [check]);
    }
}

#[tokio::test]
async fn a_process_whose_clock_is_wrong_is_not_ready() {
    let world = World::new().await;
    for (wrong_by, ready) in [(0, true), (5_000, false), (-5_000, false)] {
        let node = world.node_with_a_clock_wrong_by(TimeDelta::milliseconds(wrong_by)).await;
        let (status, body) = node.admin("/readyz").await;
        assert_eq!(status, if ready { 200 } else { 503 }, "{body}");
        let body: Value = serde_json::from_str(&body).unwrap();
        let check = body["checks"].as_array().unwrap().iter().find(|check| check["name"] == "clock").unwrap();
        let mend =
            (!ready).then_some("synchronise both machines' clocks (NTP); until then this process delivers nothing and runs no timers");
        assert_eq!((check["ok"].as_bool(), check["mend"].as_str()), (Some(ready), mend), "{check}");
    }
}

#[tokio::test]
async fn a_schema_that_is_behind_is_not_ready() {
    let world = World::new().await;
    let mut connection = world.database.connect().await;
    sqlx::query("delete from _sqlx_migrations where version = (select max(version) from _sqlx_migrations)")
        .execute(&mut connection)
        .await
        .unwrap();
    let (status, body) = world.admin("/readyz").await;
    assert_eq!(status, 503);
    assert!(body.contains("1 migration behind") && body.contains("backhaul migrate"), "{body}");
}

#[tokio::test]
async fn a_service_that_leaves_is_not_ready() {
    let world = World::new().await;
    world.app.enter(Phase::Leaving);
    assert_eq!(world.admin("/readyz").await.0, 503);
    assert_eq!(world.admin("/healthz").await.0, 200);
    world.app.enter(Phase::Starting);
    assert_eq!(world.admin("/readyz").await.0, 503, "nor is a node that is still starting");
}

#[tokio::test]
async fn every_answer_has_a_request_id_of_its_own() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let refused = merchant.publishes(&json!({})).await;
    assert_eq!(refused.body["request_id"], refused.header("x-request-id"));
    let found = merchant.looks_up("x").await;
    assert_ne!(found.header("x-request-id"), refused.header("x-request-id"));
    let chosen = merchant.calls(Method::GET, "/v1/orders/x", |request| request.header("X-Request-Id", "mine")).await;
    assert_ne!(chosen.header("x-request-id"), "mine");
}

#[tokio::test]
async fn every_error_has_the_same_shape() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let narrow = world.merchant_with("narrow", World::all_scopes_but(Scope::Orders)).await;
    let large = "x".repeat(5 * 1024 * 1024 + 1);
    let mut replies = vec![
        world.ask(Method::GET, "/v1/orders/x", |request| request).await,
        merchant.looks_up("x").await,
        merchant.publishes_text("{").await,
        merchant.publishes(&json!({})).await,
        merchant.publishes_text(large).await,
        merchant.calls(Method::DELETE, "/v1/orders/x", |request| request).await,
        merchant.calls(Method::GET, "/nowhere", |request| request).await,
        merchant.calls(Method::POST, "/returns_portal_orders", |request| request.header("Content-Type", "text/plain").body("x")).await,
        world.asks_for_a_token(&json!({})).await,
        narrow.looks_up("x").await,
    ];
    world.database.rename("customer_order", "hidden").await;
    replies.push(merchant.looks_up("x").await);
    let statuses: Vec<u16> = replies.iter().map(|reply| reply.status.as_u16()).collect();
    assert_eq!(statuses, [401, 404, 400, 422, 413, 405, 404, 415, 400, 403, 500]);
    for reply in replies {
        assert_eq!(reply.header("content-type"), "application/json");
        let body = reply.body.as_object().unwrap();
        assert!(
            body["message"].as_str().unwrap().ends_with('.') && body["errors"].is_array() && body["request_id"].is_string(),
            "{}",
            reply.text
        );
        for error in body["errors"].as_array().unwrap() {
            let names: Vec<&String> = error.as_object().unwrap().keys().collect();
            assert_eq!(names, ["code", "field", "message"]);
        }
    }
}

#[tokio::test]
async fn a_caller_who_prefers_problem_details_gets_them() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let accept = "text/html, Application/Problem+JSON;q=0.9";
    let reply = merchant.calls(Method::POST, "/returns_portal_orders", |request| request.header("Accept", accept).json(&json!({}))).await;
    assert_eq!((reply.status.as_u16(), reply.header("content-type")), (422, "application/problem+json"));
    assert_eq!(reply.body["status"], 422);
    assert_eq!(reply.body["type"], "about:blank");
    assert_eq!(reply.body["title"], "Unprocessable Entity");
    assert_eq!(reply.body["errors"][0]["field"], "returns_portal_order");
    assert_eq!(reply.body["request_id"], reply.header("x-request-id"));
}

#[tokio::test]
async fn accept_never_refuses() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    for accept in ["text/html", "image/png", "application/json;q=0", "nonsense"] {
        let reply = merchant
            .calls(Method::POST, "/returns_portal_orders", |request| request.header("Accept", accept).json(&message([order("1")])))
            .await;
        assert_eq!((reply.status.as_u16(), reply.header("content-type")), (200, "application/json"), "{accept}");
    }
}

#[tokio::test]
async fn a_database_that_is_gone_is_unavailable_and_comes_back() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut connection = world.database.connect().await;
    world.database.rename("customer_order", "hidden").await;
    let reply = merchant.publishes(&message([order("1")])).await;
    assert_eq!(reply.status, 500, "a wrong schema is the service's fault");
    assert!(reply.body["message"].as_str().unwrap().contains("quote the request_id"), "{}", reply.text);
    world.database.rename("hidden", "customer_order").await;
    assert_eq!(merchant.publishes(&message([order("1")])).await.results(), ["created"]);

    sqlx::query("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()")
        .execute(&mut connection)
        .await
        .unwrap();
    // The first call may meet a broken connection; none hangs, and the service recovers by itself.
    let mut answers = Vec::new();
    for at in 0..20 {
        answers.push(merchant.publishes(&message([order(&format!("after-{at}"))])).await.status.as_u16());
    }
    assert!(answers.iter().all(|status| [200, 503].contains(status)), "{answers:?}");
    assert_eq!(answers.last(), Some(&200));
}

#[tokio::test]
async fn database_trouble_is_answered_with_503() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    assert_eq!(merchant.looks_up("1").await.status, 404, "the token is cached");
    let mut connection = world.database.connect().await;
    let name: String = sqlx::query_scalar("select current_database()").fetch_one(&mut connection).await.unwrap();
    let mut elsewhere = world.database.connect_elsewhere().await;
    let shut = format!(
        "alter database {name} with allow_connections false; \
         select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'"
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(shut)).execute(&mut elsewhere).await.unwrap();
    for reply in [
        merchant.publishes(&message([order("1")])).await,
        merchant.looks_up("1").await,
        world.asks_for_a_token(&merchant.credentials()).await,
    ] {
        assert_eq!((reply.status.as_u16(), reply.header("retry-after")), (503, "1"), "{}", reply.text);
        assert!(reply.body["message"].as_str().unwrap().contains("exponential backoff"), "{}", reply.text);
    }
    assert_eq!(world.admin("/readyz").await.0, 503);
    let open = format!("alter database {name} with allow_connections true");
    sqlx::raw_sql(sqlx::AssertSqlSafe(open)).execute(&mut elsewhere).await.unwrap();
    assert_eq!(merchant.publishes(&message([order("1")])).await.results(), ["created"], "it recovers by itself");
}

#[tokio::test]
async fn a_caller_who_hangs_up_leaves_nothing_half_done() {
    let world = Arc::new(World::new().await);
    let merchant = world.merchant("acme").await;
    for at in 0..200 {
        let body = message([order(&format!("O-{at}"))]).to_string();
        let request = world
            .client
            .post(format!("{}/returns_portal_orders", world.base))
            .bearer_auth(&merchant.token)
            .header("Content-Type", "application/json")
            .body(body);
        let _ = tokio::time::timeout(std::time::Duration::from_micros(50 * at), request.send()).await;
    }
    // Every connection of the pool still works, and none is in a transaction.
    assert_eq!(merchant.publishes(&message([order("last")])).await.results(), ["created"]);
    let mut connection = world.database.connect().await;
    let mut stuck = 1_i64;
    for _ in 0..1_000 {
        stuck = sqlx::query_scalar(
            "select count(*) from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'",
        )
        .fetch_one(&mut connection)
        .await
        .unwrap();
        if stuck == 0 {
            break;
        }
    }
    assert_eq!(stuck, 0);
}

#[tokio::test]
async fn requests_are_counted_by_route_and_never_by_path() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    merchant.looks_up("pat@example.com").await;
    let (_, page) = world.admin("/metrics").await;
    assert!(page.contains(r#"backhaul_http_requests_total{route="/v1/orders/{identifier}",method="GET",status="404"} 1"#), "{page}");
    assert!(page.contains("backhaul_http_request_seconds_bucket"));
    assert!(page.contains("backhaul_database_connections "));
    assert!(!page.contains("example.com"));
}

#[tokio::test]
async fn every_change_of_the_operator_leaves_one_audit_row() {
    use backhaul::flow::merchants::configure_merchant as flow;

    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let stored = store::merchants::accounts::find(world.app.cell(), &"acme".parse().unwrap()).await.unwrap().unwrap();
    flow::pause_merchant(&world.app, "cli:somebody", &stored).await.unwrap();
    flow::resume_merchant(&world.app, "cli:somebody", &stored).await.unwrap();
    flow::revoke_credential(&world.app, "cli:somebody", merchant.id, &merchant.client_id).await.unwrap();
    assert!(flow::revoke_credential(&world.app, "cli:somebody", merchant.id, &merchant.client_id).await.is_err(), "nothing left to revoke");
    assert!(
        backhaul::flow::merchants::add_merchant::add_merchant(&world.app, "cli:somebody", &"acme".parse().unwrap(), "Again", None)
            .await
            .is_err(),
        "the handle is taken"
    );
    let mut connection = world.database.connect().await;
    let rows =
        sqlx::query("select actor || ' ' || action as row from audit order by done_at, action").fetch_all(&mut connection).await.unwrap();
    let rows: Vec<String> = rows.iter().map(|row| row.get("row")).collect();
    assert_eq!(
        rows,
        [
            "test credential.issued",
            "cli:somebody credential.revoked",
            "test merchant.added",
            "cli:somebody merchant.paused",
            "cli:somebody merchant.resumed"
        ]
    );
}
