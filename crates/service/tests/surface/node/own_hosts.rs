//! Merchants' own host names, on the portal's listener and on the one that it shares with the API.

use std::time::Duration;

use axum::Extension;
use axum::http::Uri;
use backhaul::flow::merchants::configure_portal::{PortalChange, remove_host, set_portal};
use backhaul::http::own_host::{self, OwnHost};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

use crate::world::{World, serve};

/// A portal's listener whose pages say what they were asked for. Returns its address.
async fn portal(world: &World) -> String {
    let page = async |uri: Uri, own: Option<Extension<OwnHost>>| format!("{uri}{}", if own.is_some() { " own" } else { "" });
    serve(&world.app, own_host::serve(&world.app, axum::Router::new().fallback(page))).await
}

async fn add_host(world: &World, merchant: domain::id::MerchantId, host: &str) {
    let change = PortalChange { hosts: [host.parse().unwrap()].into(), ..PortalChange::default() };
    set_portal(&world.app, "test", merchant, change).await.unwrap();
}

/// The status and text of `path`, asked for with this `Host`.
async fn ask(world: &World, base: &str, host: &str, path: &str) -> (u16, String) {
    let answer = world.client.get(format!("{base}{path}")).header("Host", host).send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

#[tokio::test]
async fn a_merchants_own_host_shows_its_portal_and_no_other() {
    let world = World::new().await;
    let (acme, bolt) = (world.merchant("acme").await.id, world.merchant("bolt").await.id);
    add_host(&world, acme, "returns.acme.example").await;
    add_host(&world, bolt, "Rücksendung.Bolt.Example").await;
    let base = portal(&world).await;
    for (host, asked, shown) in [
        ("returns.acme.example", "/", "/r/acme own"),
        ("returns.acme.example", "/items?lang=de", "/r/acme/items?lang=de own"),
        ("returns.acme.example:8443", "/items", "/r/acme/items own"),
        ("RETURNS.Acme.Example", "/items", "/r/acme/items own"),
        ("returns.acme.example.", "/items", "/r/acme/items own"),
        ("returns.acme.example", "/r/acme/items", "/r/acme/items"),
        ("returns.acme.example", "/r/bolt", "/r/acme/r/bolt own"),
        ("returns.acme.example", "/assets/portal.css", "/assets/portal.css"),
        ("returns.acme.example", "/favicon.ico", "/favicon.ico"),
        ("xn--rcksendung-9db.bolt.example", "/", "/r/bolt own"),
        ("returns.example.com", "/r/acme", "/r/acme"),
        ("returns.example.com", "/items", "/items"),
        ("127.0.0.1", "/items", "/items"),
    ] {
        assert_eq!(ask(&world, &base, host, asked).await, (200, shown.to_owned()), "{host}{asked}");
    }
}

#[tokio::test]
async fn http2_names_its_host_in_the_target() {
    let world = World::new().await;
    let acme = world.merchant("acme").await.id;
    add_host(&world, acme, "returns.acme.example").await;
    let base = portal(&world).await;
    let stream = TcpStream::connect(base.trim_start_matches("http://")).await.unwrap();
    let (mut caller, connection) = hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let asked = hyper::Request::get("http://Returns.acme.example:8443/items").body(Empty::<Bytes>::new()).unwrap();
    let answer = caller.send_request(asked).await.unwrap().into_body().collect().await.unwrap().to_bytes();
    assert_eq!(answer, "http://Returns.acme.example:8443/r/acme/items own");
}

#[tokio::test]
async fn a_host_that_is_removed_is_forgotten_within_seconds() {
    let world = World::new().await;
    let acme = world.merchant("acme").await.id;
    let base = portal(&world).await;
    let shown = async || ask(&world, &base, "returns.acme.example", "/").await.1;
    assert_eq!(shown().await, "/");
    add_host(&world, acme, "returns.acme.example").await;
    assert_eq!(shown().await, "/", "that nobody has it is remembered for a moment");
    world.time_passes(Duration::from_secs(4));
    assert_eq!(shown().await, "/r/acme own");
    remove_host(&world.app, "test", acme, "returns.acme.example".parse().unwrap()).await.unwrap();
    world.time_passes(Duration::from_secs(4));
    assert_eq!(shown().await, "/");
}

#[tokio::test]
async fn a_host_costs_a_statement_once_in_seconds_and_none_beyond_the_rate_limit() {
    let world = World::with(&[("BACKHAUL__LIMITS__REQUESTS_PER_MINUTE", "3")]).await;
    let base = portal(&world).await;
    assert_eq!(ask(&world, &base, "nobody.example", "/").await.0, 200);
    // From now on a look-up fails.
    world.database.rename("portal_host", "elsewhere").await;
    assert_eq!(ask(&world, &base, "nobody.example", "/").await.0, 200, "remembered");
    assert_eq!(ask(&world, &base, "another.example", "/").await.0, 500, "looked up");
    // The router behind the hosts refuses the request; this one counts nothing of its own.
    assert_eq!(ask(&world, &base, "third.example", "/").await.0, 200, "the limit is reached: not looked up");
    assert_eq!(ask(&world, &base, "third.example", "/assets/portal.css").await.0, 200);
}

#[tokio::test]
async fn the_api_stays_where_it_is_on_a_shared_listener() {
    let world = World::new().await;
    let acme = world.merchant("acme").await;
    add_host(&world, acme.id, "returns.acme.example").await;
    let status = async |host: &str, path: &str| ask(&world, &world.base, host, path).await.0;
    for host in ["returns.acme.example", "api.example.com"] {
        assert_eq!((status(host, "/openapi.json").await, status(host, "/v1/orders/1").await), (200, 401), "{host}");
        assert_eq!(status(host, "/r/acme").await, 200, "{host}");
        // A redirect to the icon, which the client follows.
        assert_eq!(status(host, "/favicon.ico").await, 200, "{host}");
    }
    assert_eq!((status("returns.acme.example", "/").await, status("returns.acme.example", "/r/bolt").await), (200, 404));
    let (unknown, text) = ask(&world, &world.base, "unknown.example", "/").await;
    assert_eq!(unknown, 404);
    assert!(text.contains("request_id"), "the API's own answer: {text}");
    // Callers of the API do not depend on the table of hosts.
    world.database.execute("drop table portal_host").await;
    assert_eq!(status("new.example", "/v1/orders/1").await, 401);
}

#[tokio::test]
async fn a_request_through_the_hosts_counts_once() {
    let world = World::new().await;
    let left = async |path: &str| {
        let answer = world.client.get(format!("{}{path}", world.base)).header("Host", "nobody.example").send().await.unwrap();
        answer.headers()["ratelimit-remaining"].to_str().unwrap().parse::<u32>().unwrap()
    };
    let first = left("/nowhere").await;
    assert_eq!((left("/nowhere").await, left("/openapi.json").await), (first - 1, first - 2));
}

#[tokio::test]
async fn no_limit_refuses_a_withdrawal_at_a_merchants_own_host() {
    let world = World::with(&[("BACKHAUL__LIMITS__REQUESTS_PER_MINUTE", "10")]).await;
    let shop = world.shop("acme").await;
    add_host(&world, shop.merchant.id, "returns.acme.example").await;
    let asks = async |path: &str| ask(&world, &world.portal, "returns.acme.example", path).await.0;
    for _ in 0..10 {
        asks("/").await;
    }
    assert_eq!(asks("/").await, 429);
    assert_eq!(asks("/withdraw").await, 200);
}
