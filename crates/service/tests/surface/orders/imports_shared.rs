//! Imports share a node: their number is limited, they leave connections to others, and they end when their caller may not go on.

use std::time::Duration;

use backhaul::flow::merchants::configure_merchant as configure;
use reqwest::Method;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::orders::imports::{only_import, open_import};
use crate::orders::intake::{hold_writers, let_go, until_blocked};
use crate::world::{Merchant, World, order};

/// An import that has begun and whose end is still to come.
async fn begun(merchant: &Merchant<'_>) -> (TcpStream, String) {
    let file = format!("{}\n{}\n", order("1"), order("2"));
    let (sent, rest) = file.split_at(file.len() - 5);
    let stream = open_import(merchant, "", file.len(), sent.as_bytes()).await;
    only_import(merchant, |import| import["state"] == "running").await;
    (stream, rest.to_owned())
}

/// Sends the rest of an import, and reads the answer.
async fn ends((mut stream, rest): (TcpStream, String)) -> (u16, Value) {
    stream.write_all(rest.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), serde_json::from_str(body).unwrap())
}

#[tokio::test]
async fn a_merchant_imports_one_file_at_a_time_and_a_node_two() {
    let world = World::new().await;
    let [acme, bolt, cove] = [world.merchant("acme").await, world.merchant("bolt").await, world.merchant("cove").await];
    let first = begun(&acme).await;
    let again = acme.imports(&[order("3")]).await;
    assert_eq!((again.status.as_u16(), again.header("retry-after")), (429, "5"), "{}", again.text);
    let why = again.body["message"].as_str().unwrap();
    assert!(why.starts_with("The limit of 1 import at a time for one merchant is reached."), "{why}");
    let second = begun(&bolt).await;
    let third = cove.imports(&[order("1")]).await;
    assert_eq!(third.status, 429, "{}", third.text);
    assert!(third.body["message"].as_str().unwrap().starts_with("The limit of 2 imports at a time is reached."), "{}", third.text);
    let listed = cove.calls(Method::GET, "/v1/order_imports", |request| request).await.body;
    assert_eq!(listed["items"].as_array().unwrap().len(), 0, "a refused import has not begun");
    assert_eq!(ends(first).await.0, 200);
    assert_eq!(cove.imports(&[order("1")]).await.status, 200, "there is room again");
    assert_eq!(ends(second).await.0, 200);
}

#[tokio::test]
async fn an_import_ends_when_its_credential_is_revoked_or_its_merchant_is_paused() {
    let world = World::new().await;
    let [acme, bolt] = [world.merchant("acme").await, world.merchant("bolt").await];
    let (revoked, paused) = (begun(&acme).await, begun(&bolt).await);
    configure::revoke_credential(&world.app, "test", acme.id, &acme.client_id).await.unwrap();
    let stored = store::merchants::accounts::find(world.app.cell(), &"bolt".parse().unwrap()).await.unwrap().unwrap();
    configure::pause_merchant(&world.app, "test", &stored).await.unwrap();
    world.time_passes(Duration::from_secs(5));
    for (import, status) in [(revoked, 401), (paused, 403)] {
        let (answered, body) = ends(import).await;
        assert_eq!(answered, status, "{body}");
        let message = body["message"].as_str().unwrap();
        assert!(message.contains("Everything read so far is stored. Send the same file again to"), "{message}");
    }
    let stored: i64 = world.database.count("customer_order").await;
    assert_eq!(stored, 2, "the first line of each, which had arrived before");
}

#[tokio::test]
async fn imports_leave_connections_to_everybody_else() {
    let world = World::with(&[("BACKHAUL__DATABASE__CONNECTIONS", "12")]).await;
    let [acme, bolt] = [world.merchant("acme").await, world.merchant("bolt").await];
    let mut connection = world.database.connect_beside_the_service().await;
    // Two imports of four chunks each wait for the lock.
    let file = (0..2_000).map(|at| order(&at.to_string()).to_string()).collect::<Vec<_>>().join("\n");
    hold_writers(&mut connection).await;
    let checking = async {
        until_blocked(&mut connection, 1).await;
        let asking = async {
            // Meanwhile the imports have read so much that they would take every connection.
            for _ in 0..200 {
                assert_eq!(acme.calls(Method::GET, "/v1/returns", |request| request).await.status, 200);
            }
        };
        let answered = tokio::time::timeout(Duration::from_secs(10), asking).await;
        let_go(&mut connection).await;
        answered
    };
    let (first, second, answered) = tokio::join!(acme.imports_text("", file.clone()), bolt.imports_text("", file.clone()), checking);
    assert_eq!(answered, Ok(()), "other requests got a connection");
    assert_eq!((first.status.as_u16(), second.status.as_u16()), (200, 200), "{} {}", first.text, second.text);
}
