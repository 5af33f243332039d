//! Rapid resets: a request that is abandoned still counts until its work is done.

use sandbox::raw_http2 as h2;
use sqlx::Executor as _;

use super::attacker::{Attacker, memory};
use crate::node::listener::site::soon;
use crate::world::{Merchant, World};

/// Few enough that an attack reaches it.
const FEW: (&str, &str) = ("BACKHAUL__HTTP__REQUESTS_IN_FLIGHT", "80");
/// The most requests of one address: a quarter.
const OF_ONE: u64 = 20;
const NO_RATE_LIMIT: (&str, &str) = ("BACKHAUL__LIMITS__REQUESTS_PER_MINUTE", "1000000");

const IN_FLIGHT: &str = "backhaul_http_requests_in_flight";
const ABANDONED: &str = "backhaul_http_requests_abandoned_total";
const LIMITED: &str = r#"backhaul_rate_limited_total{reason="requests_of_address_in_flight"}"#;

/// The frame that asks for an order.
fn asks(merchant: &Merchant<'_>, stream: u32) -> Vec<u8> {
    let token = format!("Bearer {}", merchant.token);
    let block = h2::request("GET", "/v1/orders/x", &[("authorization", &token)]);
    h2::frame(h2::HEADERS, h2::END_HEADERS | h2::END_STREAM, stream, &block)
}

fn resets(stream: u32) -> Vec<u8> {
    h2::frame(h2::RST_STREAM, 0, stream, &8_u32.to_be_bytes())
}

/// Starts `count` requests over one connection, a few at a time, and resets each before it is answered.
async fn starts_and_resets(world: &World, merchant: &Merchant<'_>, count: u32) {
    let mut attacker = Attacker::connect(&world.base).await;
    let streams: Vec<u32> = (0..count).map(|at| 2 * at + 1).collect();
    for streams in streams.chunks(10) {
        attacker.sends(&streams.iter().flat_map(|stream| asks(merchant, *stream)).collect::<Vec<u8>>()).await;
        assert!(attacker.is_answered().await, "a client that resets what it no longer needs is no attacker");
        attacker.sends(&streams.iter().flat_map(|stream| resets(*stream)).collect::<Vec<u8>>()).await;
        assert!(attacker.is_answered().await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_were_reset_count_until_they_are_done() {
    let world = World::with(&[FEW, NO_RATE_LIMIT]).await;
    let merchant = world.merchant("acme").await;
    assert_eq!(merchant.looks_up("x").await.status, 404);
    // The work of a request waits for somebody else, so that resetting it does not end it.
    let mut beside = world.database.connect_beside_the_service().await;
    beside.execute("begin; lock table customer_order in access exclusive mode").await.unwrap();
    starts_and_resets(&world, &merchant, 60).await;
    assert_eq!(world.metric(IN_FLIGHT).await, OF_ONE, "no more work is begun than one address may have");
    assert!(world.metric(LIMITED).await >= 1, "the others were refused");
    let refused = merchant.looks_up("x").await;
    assert_eq!(refused.status, 429, "a new connection does not help");
    let message = refused.body["message"].as_str().unwrap();
    assert!(message.starts_with("The limit of 20 requests at a time from one address is reached."), "{message}");

    beside.execute("rollback").await.unwrap();
    soon(async { while world.metric(IN_FLIGHT).await > 0 {} }).await;
    assert_eq!(merchant.looks_up("x").await.status, 404);
    let abandoned = world.metric(ABANDONED).await;
    assert!((1..=OF_ONE).contains(&abandoned), "{abandoned} were abandoned while they were worked on");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_resets_leave_nothing_behind() {
    let world = World::with(&[NO_RATE_LIMIT]).await;
    let merchant = world.merchant("acme").await;
    starts_and_resets(&world, &merchant, 200).await;
    let taken = memory();
    for _connection in 0..5 {
        starts_and_resets(&world, &merchant, 400).await;
    }
    assert_eq!(merchant.looks_up("x").await.status, 404, "others are served");
    soon(async { while world.metric(IN_FLIGHT).await > 0 {} }).await;
    let grown = memory().saturating_sub(taken) / 1024 / 1024;
    assert!(grown < 24, "{grown} MiB for 2,000 resets");
}

#[tokio::test]
async fn resets_in_one_breath_end_the_connection() {
    let world = World::with(&[NO_RATE_LIMIT]).await;
    let merchant = world.merchant("acme").await;
    let mut attacker = Attacker::connect(&world.base).await;
    let streams = (0..1_000).map(|at| 2 * at + 1);
    attacker.sends(&streams.flat_map(|stream| [asks(&merchant, stream), resets(stream)].concat()).collect::<Vec<u8>>()).await;
    let mut farewell = None;
    while let Some(frame) = attacker.reads().await {
        if frame.kind == h2::GOAWAY {
            farewell = frame.payload.get(4..8).map(<[u8]>::to_vec);
        }
    }
    assert_eq!(farewell, Some(vec![0, 0, 0, 11]), "ENHANCE_YOUR_CALM");
    assert_eq!(merchant.looks_up("x").await.status, 404);
}
