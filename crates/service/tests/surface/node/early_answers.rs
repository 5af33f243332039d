//! Answers that are clear before the body has arrived. A pooled client is never surprised: the connection goes on, or the answer says
//! that it closes.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::node::listener::site::soon;
use crate::world::World;

/// A connection of a client that keeps it for the next request.
struct Kept {
    stream: TcpStream,
    unread: Vec<u8>,
}

impl Kept {
    async fn open(base: &str) -> Self {
        let stream = TcpStream::connect(base.trim_start_matches("http://")).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, unread: Vec::new() }
    }

    /// The next answer: its status, and whether it says that the connection closes.
    async fn answered(&mut self) -> (u16, bool) {
        let mut buffer = [0; 16 * 1024];
        loop {
            let text = String::from_utf8_lossy(&self.unread).to_lowercase();
            if let Some((head, rest)) = text.split_once("\r\n\r\n") {
                let length =
                    head.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |length| length.parse().unwrap());
                if rest.len() >= length {
                    let (status, closes) = (head[9..12].parse().unwrap(), head.contains("\r\nconnection: close"));
                    self.unread.drain(..head.len() + 4 + length);
                    return (status, closes);
                }
            }
            let read = soon(self.stream.read(&mut buffer)).await.unwrap();
            assert!(read > 0, "the connection was closed without an answer: {text}");
            self.unread.extend_from_slice(&buffer[..read]);
        }
    }
}

/// Requests that are refused before their bodies are read, by the answer.
fn early(token: &str) -> Vec<(u16, String)> {
    let with = |status: u16, start: &str, kind: &str| {
        (status, format!("{start} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: 20\r\n"))
    };
    let known = format!("Authorization: Bearer {token}\r\n");
    let mut all = vec![
        with(401, "POST /returns_portal_orders", "application/json"),
        with(404, "POST /nowhere", "application/json"),
        with(405, "DELETE /v1/returns", "application/json"),
    ];
    let (status, head) = with(415, "POST /returns_portal_orders", "text/plain");
    all.push((status, head + &known));
    all
}

#[tokio::test]
async fn a_kept_connection_goes_on_after_an_early_answer_whose_body_follows() {
    let world = World::new().await;
    let token = world.merchant("acme").await.token;
    for (status, head) in early(&token) {
        let mut kept = Kept::open(&world.base).await;
        // The body comes in a second write, as many clients send it. Some of the answers are made before it is there.
        for _ in 0..50 {
            kept.stream.write_all(format!("{head}\r\n").as_bytes()).await.unwrap();
            tokio::task::yield_now().await;
            kept.stream.write_all(b"{\"orders\": [1, 2, 3]}"[..20].as_ref()).await.unwrap();
            assert_eq!(Box::pin(kept.answered()).await, (status, false), "{head}");
        }
    }
}

#[tokio::test]
async fn whoever_is_over_the_limit_keeps_the_connection_too() {
    let world = World::with(&[("BACKHAUL__LIMITS__REQUESTS_PER_MINUTE", "1")]).await;
    let mut kept = Kept::open(&world.base).await;
    for at in 0..50 {
        kept.stream.write_all(b"POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n").await.unwrap();
        tokio::task::yield_now().await;
        kept.stream.write_all(b"{}").await.unwrap();
        assert_eq!(Box::pin(kept.answered()).await, (if at == 0 { 400 } else { 429 }, false));
    }
}

#[tokio::test]
async fn a_body_that_does_not_come_or_is_too_much_closes_with_notice() {
    let world = World::with(&[("BACKHAUL__HTTP__BODY_TIMEOUT_MS", "200")]).await;
    for length in ["20", "99999999"] {
        let mut late = Kept::open(&world.base).await;
        let head = format!("POST /returns_portal_orders HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n");
        late.stream.write_all(head.as_bytes()).await.unwrap();
        assert_eq!(Box::pin(late.answered()).await, (401, true), "{length}");
    }
    // A client that asks first does not send its body after the answer.
    let mut asks = Kept::open(&world.base).await;
    let head = "POST /returns_portal_orders HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 20\r\n\r\n";
    asks.stream.write_all(head.as_bytes()).await.unwrap();
    assert_eq!(Box::pin(asks.answered()).await, (401, true));
}
