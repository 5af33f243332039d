//! The request limit per address, on one node and on several, and the operator's means to change it.

use std::time::{Duration, Instant};

use backhaul::flow::node::set_limit::{reset_limit, set_limit};
use backhaul::heartbeat;
use backhaul::node::limits::Name;
use reqwest::Method;
use serde_json::{Value, json};

use crate::binary::{Served, backhaul, command};
use crate::world::{Database, Merchant, Reply, World};

/// A limit that a test can use up.
const FEW: (&str, &str) = ("BACKHAUL__LIMITS__REQUESTS_PER_MINUTE", "10");

/// A request that only has to be counted.
async fn knock(world: &World) -> Reply {
    world.ask(Method::GET, "/nowhere", |request| request).await
}

/// A request that a proxy forwards.
async fn knock_for(world: &World, forwarded_for: &str) -> Reply {
    world.ask(Method::GET, "/nowhere", |request| request.header("X-Forwarded-For", forwarded_for)).await
}

/// The number of admitted requests out of `many`.
async fn admitted(world: &World, many: usize) -> usize {
    let mut admitted = 0;
    for _ in 0..many {
        admitted += usize::from(knock(world).await.status == 404);
    }
    admitted
}

/// One heartbeat of each node, in turn.
async fn beat(nodes: &[&World]) {
    for node in nodes {
        heartbeat::beat(&node.app, 0).await.unwrap();
    }
}

async fn tries(merchant: &Merchant<'_>, client_id: &str, secret: &str) -> u16 {
    let body = json!({ "grant_type": "client_credentials", "client_id": client_id, "client_secret": secret });
    merchant.world.asks_for_a_token(&body).await.status.as_u16()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sandbox_lets_2500_requests_a_minute_through_and_not_one_more() {
    let world = World::new().await;
    let url = format!("{}/nowhere", world.base);
    let callers = (0..4).map(|_| {
        let (client, url) = (world.client.clone(), url.clone());
        tokio::spawn(async move {
            let mut admitted = 0;
            for _ in 0..650 {
                let status = client.get(&url).send().await.unwrap().status().as_u16();
                assert!([404, 429].contains(&status), "{status}");
                admitted += usize::from(status == 404);
            }
            admitted
        })
    });
    let mut admitted = 0;
    for caller in callers.collect::<Vec<_>>() {
        admitted += caller.await.unwrap();
    }
    assert_eq!(admitted, 2_500);
    assert_eq!(world.metric(r#"backhaul_rate_limited_total{reason="requests"}"#).await, 100);
}

#[tokio::test]
async fn the_minute_slides_and_retry_after_is_right() {
    let world = World::with(&[FEW]).await;
    assert_eq!(admitted(&world, 4).await, 4);
    world.time_passes(Duration::from_secs(20));
    assert_eq!(admitted(&world, 7).await, 6, "ten per minute");
    let refused = knock(&world).await;
    assert_eq!((refused.status.as_u16(), refused.header("retry-after")), (429, "40"));
    world.time_passes(Duration::from_secs(39));
    let refused = knock(&world).await;
    assert_eq!((refused.status.as_u16(), refused.header("retry-after")), (429, "1"), "refused requests do not count");
    world.time_passes(Duration::from_secs(1));
    assert_eq!(admitted(&world, 10).await, 4, "the first four have left the minute, the six after them have not");
    assert_eq!(knock(&world).await.header("retry-after"), "20");
}

#[tokio::test]
async fn every_answer_says_where_its_caller_stands() {
    let world = World::with(&[FEW]).await;
    let stands = |reply: &Reply| {
        ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "ratelimit-policy", "ratelimit"]
            .map(|name| reply.header(name).to_owned())
    };
    let first = knock(&world).await;
    assert_eq!(stands(&first), ["10", "9", "60", r#""address";q=10;w=60"#, r#""address";r=9;t=60"#]);
    assert_eq!(first.header("retry-after"), "");
    world.time_passes(Duration::from_secs(15));
    for (method, path, status) in [
        (Method::GET, "/openapi.json", 200),
        (Method::POST, "/oauth/token", 400),
        (Method::POST, "/returns_portal_orders", 401),
        (Method::GET, "/v1/orders/x", 401),
        (Method::DELETE, "/v1/orders/x", 405),
    ] {
        let reply = world.ask(method, path, |request| request).await;
        assert_eq!((reply.status.as_u16(), reply.header("ratelimit-reset")), (status, "45"), "{path}");
    }
    admitted(&world, 4).await;
    let refused = world.ask(Method::POST, "/oauth/token", |request| request.body("{}")).await;
    assert_eq!(stands(&refused), ["10", "0", "45", r#""address";q=10;w=60"#, r#""address";r=0;t=45"#]);
    assert_eq!((refused.status.as_u16(), refused.header("retry-after")), (429, "45"));
    assert_eq!(
        refused.body["message"],
        "The limit of 10 requests per minute from one address is reached. Retry in 45 s at the earliest, with exponential backoff."
    );
    assert_eq!(refused.body["errors"], json!([]));
    assert_eq!(refused.body["request_id"], refused.header("x-request-id"));
    assert_eq!(world.admin("/healthz").await.0, 200, "the operator's listener has no limit");
}

#[test]
fn every_operation_documents_429() {
    let document: Value = serde_json::from_str(backhaul::http::openapi::text()).unwrap();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            assert!(operation["responses"]["429"]["headers"]["Retry-After"].is_object(), "{method} {path}");
        }
    }
}

#[tokio::test]
async fn nodes_hold_the_limit_together() {
    let first = World::with(&[FEW]).await;
    let (second, third) = (first.second_node().await, first.another_node(3).await);
    beat(&[&first, &second, &third, &first, &second]).await;
    assert_eq!(admitted(&first, 6).await, 6);
    first.time_passes(Duration::from_secs(5));
    assert_eq!(admitted(&second, 3).await, 3);
    beat(&[&first, &second, &third, &first]).await;
    let refused = {
        assert_eq!(admitted(&third, 1).await, 1, "the tenth");
        knock(&third).await
    };
    assert_eq!((refused.status.as_u16(), refused.header("retry-after")), (429, "55"), "once those of the first node are a minute old");
    assert_eq!(knock(&first).await.header("ratelimit-remaining"), "0", "six of its own and three of the second");

    first.time_passes(Duration::from_secs(55));
    assert_eq!(admitted(&third, 10).await, 6, "counts of other nodes age without another heartbeat");
}

#[tokio::test]
async fn a_node_alone_shares_nothing() {
    let world = World::with(&[FEW]).await;
    admitted(&world, 10).await;
    beat(&[&world]).await;
    let mut connection = world.database.home().connect().await;
    let rows: i64 = sqlx::query_scalar("select count(*) from rate_count").fetch_one(&mut connection).await.unwrap();
    assert_eq!(rows, 0);
    let other = world.second_node().await;
    beat(&[&other, &world]).await;
    let rows: Vec<String> = sqlx::query_scalar("select address from rate_count").fetch_all(&mut connection).await.unwrap();
    assert_eq!(rows, ["127.0.0.1"]);
    // Expired counts are deleted with the next full minute.
    world.time_passes(Duration::from_mins(3));
    beat(&[&other, &world]).await;
    let rows: i64 = sqlx::query_scalar("select count(*) from rate_count").fetch_one(&mut connection).await.unwrap();
    assert_eq!(rows, 0);
}

#[tokio::test]
async fn without_its_database_a_node_counts_for_itself() {
    let world = World::with(&[FEW]).await;
    let other = world.second_node().await;
    beat(&[&world, &other]).await;
    admitted(&other, 4).await;
    beat(&[&other, &world]).await;
    world.app.home().close().await;
    assert!(heartbeat::beat(&world.app, 0).await.is_err());
    assert_eq!(admitted(&world, 10).await, 6, "the last known counts still apply");
    assert_eq!(knock(&world).await.header("retry-after"), "60");
    world.time_passes(Duration::from_mins(1));
    assert_eq!(admitted(&world, 12).await, 10);
}

#[tokio::test]
async fn forged_hops_do_not_help() {
    let world = World::with(&[FEW]).await;
    for at in 0..10 {
        assert_eq!(knock_for(&world, &format!("198.51.100.{at}")).await.status, 404);
    }
    assert_eq!(knock_for(&world, "198.51.100.77").await.status, 429, "no proxy is trusted, so the header is ignored");

    let world = World::with(&[FEW, ("BACKHAUL__HTTP__TRUSTED_PROXIES", r#"["127.0.0.1", "10.0.0.0/8"]"#)]).await;
    for at in 0..10 {
        assert_eq!(knock_for(&world, &format!("203.0.113.{at}, 198.51.100.1, 10.0.0.{at}")).await.status, 404);
    }
    assert_eq!(knock_for(&world, "203.0.113.77, 198.51.100.1").await.status, 429, "the last hop that is not a trusted proxy");
    assert_eq!(knock_for(&world, "203.0.113.77, 198.51.100.2").await.status, 404, "another client of the same proxy");
}

#[tokio::test]
async fn ipv6_counts_by_its_64_bit_network() {
    let world = World::with(&[FEW, ("BACKHAUL__HTTP__TRUSTED_PROXIES", r#"["127.0.0.1"]"#)]).await;
    for at in 0..10 {
        assert_eq!(knock_for(&world, &format!("2001:db8:1:2:{at}::{at}")).await.status, 404);
    }
    assert_eq!(knock_for(&world, "2001:db8:1:2:ffff::1").await.status, 429);
    assert_eq!(knock_for(&world, "2001:db8:1:3::1").await.status, 404);
}

#[tokio::test]
async fn ten_wrong_secrets_a_minute_are_enough_and_lock_nobody_out_elsewhere() {
    let world = World::with(&[("BACKHAUL__HTTP__TRUSTED_PROXIES", r#"["127.0.0.1"]"#)]).await;
    let merchant = world.merchant("acme").await;
    let other = world.merchant("other").await;
    for _ in 0..10 {
        assert_eq!(tries(&merchant, &merchant.client_id, &merchant.client_secret).await, 200, "correct secrets are not counted");
        assert_eq!(tries(&merchant, &merchant.client_id, "guess").await, 401);
    }
    let refused = world.asks_for_a_token(&merchant.credentials()).await;
    assert_eq!((refused.status.as_u16(), refused.header("retry-after")), (429, "60"), "even the correct secret is refused");
    assert!(refused.body["message"].as_str().unwrap().contains("10 wrong secrets per minute for one client"), "{}", refused.text);
    let elsewhere =
        |body: Value| world.ask(Method::POST, "/oauth/token", move |request| request.header("X-Forwarded-For", "198.51.100.7").json(&body));
    assert_eq!(elsewhere(merchant.credentials()).await.status, 200, "from another address the merchant gets a token");
    assert_eq!(tries(&other, &other.client_id, &other.client_secret).await, 200, "and so does another client from this address");
    world.time_passes(Duration::from_mins(1));
    assert_eq!(tries(&merchant, &merchant.client_id, &merchant.client_secret).await, 200);
    assert_eq!(world.metric(r#"backhaul_rate_limited_total{reason="secrets_of_client"}"#).await, 1);
}

#[tokio::test]
async fn a_hundred_wrong_secrets_a_minute_are_enough_for_all_clients() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    for at in 0..100 {
        assert_eq!(tries(&merchant, &format!("client-{at}"), "guess").await, 401);
    }
    assert_eq!(tries(&merchant, "another", "guess").await, 429);
    assert_eq!(world.metric(r#"backhaul_rate_limited_total{reason="secrets_of_address"}"#).await, 1);
    world.time_passes(Duration::from_mins(1));
    assert_eq!(tries(&merchant, "another", "guess").await, 401);
}

#[tokio::test]
async fn a_limit_that_the_operator_lowers_holds_on_every_node() {
    let world = World::with(&[FEW]).await;
    let other = world.second_node().await;
    set_limit(&world.app, "cli:somebody", Name::RequestsPerMinute, 3).await.unwrap();
    set_limit(&world.app, "cli:somebody", Name::MessagesInFlight, 7).await.unwrap();
    beat(&[&world, &other]).await;
    for node in [&world, &other] {
        assert_eq!((node.app.limits.requests_per_minute(), node.app.limits.messages_in_flight()), (3, 7));
    }
    assert_eq!(admitted(&other, 10).await, 3);
    reset_limit(&world.app, "cli:somebody", Name::RequestsPerMinute).await.unwrap();
    beat(&[&other]).await;
    assert_eq!((other.app.limits.requests_per_minute(), other.app.limits.messages_in_flight()), (10, 7));
    assert_eq!(admitted(&other, 10).await, 7);
    world.app.home().close().await;
    assert!(heartbeat::beat(&world.app, 0).await.is_err());
    assert_eq!(world.app.limits.requests_per_minute(), 3, "a node without news keeps the last known limit");
}

#[tokio::test]
async fn a_limit_is_heard_of_while_every_connection_is_busy() {
    let world = World::with(&[FEW, ("BACKHAUL__DATABASE__CONNECTIONS", "10")]).await;
    let merchant = world.merchant("acme").await;
    let _busy = [world.app.begin(merchant.id).await.unwrap(), world.app.begin(merchant.id).await.unwrap()];
    set_limit(&world.app, "cli:somebody", Name::RequestsPerMinute, 3).await.unwrap();
    beat(&[&world]).await;
    assert_eq!(world.app.limits.requests_per_minute(), 3);
}

#[tokio::test]
async fn limit_set_takes_effect_within_5_seconds_on_every_node() {
    let database = Database::create().await;
    let nodes = [(); 2].map(|()| Served::start(command(&database).arg("serve")));
    let client = reqwest::Client::new();
    let limit = async |node: &Served| {
        let answer = client.get(format!("{}/nowhere", node.base)).send().await.unwrap();
        answer.headers()["ratelimit-limit"].to_str().unwrap().to_owned()
    };
    for node in &nodes {
        assert_eq!(limit(node).await, "2500");
    }
    let set = backhaul(&database, &["limit", "set", "requests-per-minute", "2000", "-o", "json"]);
    let asked = Instant::now();
    assert!(set.status.success(), "{}", String::from_utf8_lossy(&set.stderr));
    for node in &nodes {
        while limit(node).await != "2000" {
            assert!(asked.elapsed() < Duration::from_secs(5), "a node still has the old limit");
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn the_operator_lists_lowers_and_resets_limits() {
    let database = Database::create().await;
    let json = |words: &[&str]| -> Value {
        let output = backhaul(&database, &[words, &["-o", "json"]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let set = json(&["limit", "set", "messages-in-flight", "16"]);
    assert_eq!((&set["name"], &set["value"], &set["default"]), (&json!("messages-in-flight"), &json!(16), &json!(512)));
    let listed = json(&["limit", "list"]);
    assert_eq!(listed["items"][0]["value"], 16);
    assert_eq!(listed["items"][0]["set_by"], "cli:tester");
    assert_eq!(
        listed["items"][1],
        json!({ "name": "requests-per-minute", "value": 2_500, "default": 2_500, "set_by": null, "set_at": null })
    );
    let reset = json(&["limit", "reset", "messages-in-flight"]);
    assert_eq!((&reset["value"], &reset["set_by"]), (&json!(512), &json!("cli:tester")), "the limit shows who reset it");

    for (value, expected) in [
        ("2501", "requests-per-minute can be at most 2500; to raise it, change limits.requests_per_minute in the settings"),
        ("0", "a limit must be at least 1"),
    ] {
        let refused = backhaul(&database, &["limit", "set", "requests-per-minute", value]);
        assert!(!refused.status.success());
        let error = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(error.contains(expected), "{error}");
    }
    let table = String::from_utf8(backhaul(&database, &["limit", "list"]).stdout).unwrap();
    assert!(table.starts_with("NAME"), "{table}");
}
