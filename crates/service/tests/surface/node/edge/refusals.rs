//! Refusals: a stranger's request is refused before it costs the database anything.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures::future::join_all;
use reqwest::Method;
use sandbox::fault_proxy::Fault;
use sqlx::Executor as _;

use crate::node::listener::site::soon;
use crate::world::{Merchant, World};

/// Tokens that look like a merchant's and were never issued.
fn forged(merchant: &Merchant<'_>) -> Vec<String> {
    let bytes = URL_SAFE_NO_PAD.decode(merchant.token.strip_prefix("bht_").unwrap()).unwrap();
    (0..bytes.len())
        .map(|at| {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            format!("bht_{}", URL_SAFE_NO_PAD.encode(bytes))
        })
        .collect()
}

#[tokio::test]
async fn a_forged_token_costs_no_query() {
    let (world, network) = World::over_a_network(&[]).await;
    let merchant = world.merchant("acme").await;
    let forged = forged(&merchant);
    assert_eq!(forged.len(), 48);
    // Whoever asks the database now gets no answer.
    network.inject(Fault::BlackHole);
    for token in &forged {
        let refused = soon(world.ask(Method::GET, "/v1/orders/x", |request| request.bearer_auth(token))).await;
        assert_eq!(
            (refused.status.as_u16(), refused.header("www-authenticate")),
            (401, r#"Bearer realm="backhaul", error="invalid_token""#)
        );
    }
    network.heal();
}

#[tokio::test]
async fn a_flood_of_token_requests_leaves_everybody_elses_connections_alone() {
    let world = World::new().await;
    let (victim, target) = (world.merchant("acme").await, world.merchant("other").await);
    // A new token refers to its credential. While somebody holds that row, every request for a token waits with its connection.
    let mut beside = world.database.connect().await;
    beside.execute("begin; select * from credential for update").await.unwrap();
    let credentials = target.credentials();
    let flood = join_all((0..40).map(|_| world.asks_for_a_token(&credentials)));
    let working = async {
        for round in 0..20 {
            let looked_up = tokio::time::timeout(Duration::from_secs(10), victim.looks_up(&format!("O-{round}"))).await;
            assert_eq!(looked_up.expect("others are not kept waiting").status, 404);
        }
        beside.execute("rollback").await.unwrap();
    };
    let (issued, ()) = tokio::join!(flood, working);
    assert!(issued.iter().all(|reply| reply.status == 200), "and those who waited get their tokens");
}
