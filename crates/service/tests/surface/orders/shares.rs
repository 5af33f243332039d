//! Fair shares: a merchant that takes all it can leaves the others theirs.

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::orders::intake::{hold_writers, let_go, until_blocked};
use crate::world::{Merchant, World, message, order};

/// A body that has begun to arrive and does not end.
struct SlowBody(TcpStream);

impl SlowBody {
    /// Sends the head of an order message of `announced` bytes, and waits until its body is wanted.
    async fn begins(merchant: &Merchant<'_>, announced: usize) -> Self {
        let mut stream = TcpStream::connect(merchant.world.base.trim_start_matches("http://")).await.unwrap();
        let head = format!(
            "POST /returns_portal_orders HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
            Content-Length: {announced}\r\nExpect: 100-continue\r\n\r\n",
            merchant.token,
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(answer, *b"HTTP/1.1 100");
        stream.read_exact(&mut [0; 13]).await.unwrap();
        Self(stream)
    }

    /// The status of its answer.
    async fn status(&mut self) -> String {
        let mut answer = [0; 12];
        self.0.read_exact(&mut answer).await.unwrap();
        String::from_utf8(answer.to_vec()).unwrap()
    }
}

#[tokio::test]
async fn bodies_that_arrive_slowly_hold_up_no_other_merchant() {
    let world = World::with(&[("BACKHAUL__INTAKE__MESSAGES_IN_FLIGHT", "4")]).await;
    let (slow, other) = (world.merchant("slow").await, world.merchant("other").await);
    let mut held = Vec::new();
    for _ in 0..8 {
        held.push(SlowBody::begins(&slow, 1_000).await);
    }
    assert_eq!(other.publishes(&message([order("1")])).await.results(), ["created"]);
    assert_eq!(slow.publishes(&message([order("1")])).await.results(), ["created"], "nor the merchant's own other messages");
}

#[tokio::test]
async fn a_merchant_that_fills_its_share_of_the_intake_is_refused_while_another_is_served() {
    let world = World::with(&[("BACKHAUL__INTAKE__MESSAGES_IN_FLIGHT", "8")]).await;
    let (busy, other) = (world.merchant("busy").await, world.merchant("other").await);
    let mut connection = world.database.connect_beside_the_service().await;
    hold_writers(&mut connection).await;
    let sent: Vec<_> = (0..3).map(|at| message([order(&at.to_string())])).collect();
    let mut replies: FuturesUnordered<_> = sent.iter().take(1).map(|message| busy.publishes(message)).collect();
    tokio::select! {
        reply = replies.next() => panic!("answered while the writer is blocked: {}", reply.unwrap().text),
        () = until_blocked(&mut connection, 1) => {}
    }
    // With the next one, two messages, a quarter of eight, wait for the writer; the third is not let in.
    replies.extend(sent.iter().skip(1).map(|message| busy.publishes(message)));
    let refused = replies.next().await.unwrap();
    assert_eq!((refused.status.as_u16(), refused.header("retry-after")), (429, "1"), "{}", refused.text);
    let why = refused.body["message"].as_str().unwrap();
    assert!(why.starts_with("The limit of 2 order messages at a time for one merchant is reached."), "{why}");
    assert_eq!(world.metric(r#"backhaul_rate_limited_total{reason="messages_of_merchant"}"#).await, 1);
    let to_serve = message([order("1")]);
    let (served, waited, ()) = tokio::join!(other.publishes(&to_serve), replies.collect::<Vec<_>>(), async {
        while world.app.intake.queued() < 2 {
            tokio::task::yield_now().await;
        }
        let_go(&mut connection).await;
    });
    assert_eq!(served.results(), ["created"]);
    assert!(waited.iter().all(|reply| reply.results() == ["created"]));
    assert_eq!(busy.publishes(&message([order("4")])).await.results(), ["created"], "there is room again");
}

#[tokio::test]
async fn the_memory_for_the_bodies_of_one_merchant_is_bounded() {
    let world = World::with(&[("BACKHAUL__HTTP__BODY_MEMORY_MB", "4")]).await;
    let (slow, other) = (world.merchant("slow").await, world.merchant("other").await);
    let (large, part) = (900 * 1024, vec![b' '; 600 * 1024]);
    let mut first = SlowBody::begins(&slow, large).await;
    first.0.write_all(&part).await.unwrap();
    while world.metric("backhaul_http_body_bytes").await < 600 * 1024 {}
    // The second would take the merchant above its mebibyte, a quarter of four.
    let mut second = SlowBody::begins(&slow, large).await;
    second.0.write_all(&vec![b' '; large]).await.unwrap();
    assert_eq!(second.status().await, "HTTP/1.1 429");
    assert_eq!(world.metric(r#"backhaul_rate_limited_total{reason="body_memory_of_caller"}"#).await, 1);
    assert_eq!(other.publishes(&message([order("1")])).await.results(), ["created"]);
    // The first goes on: it ends in nothing but spaces, which is no message.
    first.0.write_all(&vec![b' '; large - part.len()]).await.unwrap();
    assert_eq!(first.status().await, "HTTP/1.1 400");
    while world.metric("backhaul_http_body_bytes").await > 0 {}
    assert_eq!(slow.publishes(&message([order("1")])).await.results(), ["created"]);
}
