//! When all connections are taken, an idle one whose caller never showed a valid token gives way to a new one.

use std::net::SocketAddr;

use backhaul::http;
use backhaul::http::listener::{self, Door};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::node::listener::site::{closes, soon};
use crate::world::{Merchant, World};

/// Serves the world's routes as on the internet: with limited connections.
async fn public(world: &World) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let app = world.app.clone();
    let door = Door::public(&app.settings.http, &app.entropy, None, app.metrics.listener.clone());
    tokio::spawn(async move { listener::serve_through(door, listener, http::router(&app), std::future::pending()).await });
    address
}

/// Sends a request without a body and reads the answer, whose status it returns.
async fn ask(stream: &mut TcpStream, authorization: &str) -> u16 {
    stream.write_all(format!("GET /v1/orders/1 HTTP/1.1\r\nHost: localhost\r\n{authorization}\r\n").as_bytes()).await.unwrap();
    let (mut answer, mut buffer) = (String::new(), [0; 4096]);
    while !answer.ends_with('}') {
        let read = soon(stream.read(&mut buffer)).await.unwrap();
        assert_ne!(read, 0, "closed after {answer:?}");
        answer.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
    }
    answer[9..12].parse().unwrap()
}

fn token(merchant: &Merchant<'_>) -> String {
    format!("Authorization: Bearer {}\r\n", merchant.token)
}

#[tokio::test]
async fn the_oldest_idle_connection_that_never_authenticated_gives_way() {
    let world = World::with(&[("BACKHAUL__HTTP__CONNECTIONS", "3")]).await;
    let merchant = world.merchant("acme").await;
    let address = public(&world).await;
    let connect = async || TcpStream::connect(address).await.unwrap();
    let (mut known, mut silent, mut stranger) = (connect().await, connect().await, connect().await);
    assert_eq!(ask(&mut known, &token(&merchant)).await, 404);
    assert_eq!(ask(&mut stranger, "").await, 401);
    // All three are taken: the one that never said a word is older than the one that was refused.
    let mut fourth = connect().await;
    assert_eq!(ask(&mut fourth, &token(&merchant)).await, 404);
    assert_eq!(closes(&mut silent).await, b"");
    let mut fifth = connect().await;
    assert_eq!(ask(&mut fifth, &token(&merchant)).await, 404);
    assert_eq!(closes(&mut stranger).await, b"");
    // Those who authenticated stay.
    assert_eq!(closes(&mut connect().await).await, b"", "there is no room for a sixth");
    for stream in [&mut known, &mut fourth, &mut fifth] {
        assert_eq!(ask(stream, "").await, 401, "it is still open");
    }
    assert_eq!(world.metric(r#"backhaul_http_connections_dropped_total{reason="gave_way"}"#).await, 2);
    assert_eq!(world.metric(r#"backhaul_http_connections_refused_total{reason="full"}"#).await, 1);
    assert_eq!(world.metric("backhaul_http_connections_open").await, 3);
}

#[tokio::test]
async fn a_connection_with_a_request_in_flight_does_not_give_way() {
    let world = World::with(&[("BACKHAUL__HTTP__CONNECTIONS", "1")]).await;
    let address = public(&world).await;
    let mut busy = TcpStream::connect(address).await.unwrap();
    let head = "POST /oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n";
    busy.write_all(head.as_bytes()).await.unwrap();
    soon(busy.read_exact(&mut [0; 25])).await.unwrap();
    assert_eq!(closes(&mut TcpStream::connect(address).await.unwrap()).await, b"");
    busy.write_all(b"{}").await.unwrap();
    let mut answer = [0; 12];
    soon(busy.read_exact(&mut answer)).await.unwrap();
    assert_eq!(answer, *b"HTTP/1.1 400");
}
