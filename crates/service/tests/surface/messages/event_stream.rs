//! The live feed: new messages arrive by themselves, a broken connection misses nothing, and a feed ends when it has to.

use std::time::Duration;

use backhaul::flow::merchants::configure_merchant as flow;
use backhaul::node::Phase;
use domain::messages::message::{Interface, Kind};
use serde_json::Value;
use store::messages::outbox::Message;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::node::listener::site::soon;
use crate::world::{Merchant, World};

/// A live feed as a client reads it.
struct Live {
    response: reqwest::Response,
    text: String,
}

/// A frame of the live feed.
#[derive(Debug, Default)]
struct Frame {
    id: String,
    event: String,
    data: Value,
    comment: bool,
}

impl Live {
    async fn of(merchant: &Merchant<'_>, query: &str, last: Option<&str>) -> Self {
        let world = merchant.world;
        let mut request = world.client.get(format!("{}/v1/events/stream{query}", world.base)).bearer_auth(&merchant.token);
        if let Some(last) = last {
            request = request.header("Last-Event-ID", last);
        }
        let response = request.send().await.unwrap();
        assert_eq!((response.status().as_u16(), &response.headers()["content-type"]), (200, &"text/event-stream".parse().unwrap()));
        Self { response, text: String::new() }
    }

    /// The next frame; none at the end.
    async fn frame(&mut self) -> Option<Frame> {
        loop {
            if let Some(end) = self.text.find("\n\n") {
                let frame: String = self.text.drain(..end + 2).collect();
                let mut read = Frame::default();
                for line in frame.trim_end().lines() {
                    match line.split_once(": ").unwrap() {
                        ("id", id) => id.clone_into(&mut read.id),
                        ("event", event) => event.clone_into(&mut read.event),
                        ("data", data) => read.data = serde_json::from_str(data).unwrap(),
                        ("", _) => read.comment = true,
                        ("retry", wait) => assert_eq!(wait, "2000"),
                        (field, _) => panic!("the field {field}"),
                    }
                }
                return Some(read);
            }
            let chunk = soon(self.response.chunk()).await.ok()??;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// The next event, skipping other frames.
    async fn event(&mut self) -> Frame {
        loop {
            let frame = self.frame().await.unwrap();
            if !frame.event.is_empty() {
                return frame;
            }
        }
    }

    /// Waits for the end of the feed.
    async fn ends(mut self) {
        while let Some(frame) = self.frame().await {
            assert_eq!(frame.event, "");
        }
    }
}

#[tokio::test]
async fn what_is_said_comes_live_and_a_broken_connection_misses_nothing() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    world.owe(merchant.id, "R-1", 1).await;
    let mut live = Live::of(&merchant, "?from=beginning", None).await;
    let first = live.event().await;
    assert_eq!((first.event.as_str(), &first.data["subject"], &first.data["body"]["step"]), ("rma.created", &"R-1".into(), &1.into()));
    let second = world.owe(merchant.id, "R-1", 2).await.to_string();
    assert_eq!(live.event().await.data["id"], second);
    drop(live);

    world.owe(merchant.id, "R-1", 3).await;
    let mut again = Live::of(&merchant, "?from=beginning", Some(&first.id)).await;
    assert_eq!(again.event().await.data["id"], second, "the last id wins over the URL's cursor");
    assert_eq!(again.event().await.data["sequence"], 3);
    let page = merchant.reads(&format!("?cursor={}", first.id)).await;
    assert_eq!(page.body["items"].as_array().unwrap().len(), 2, "an id is a cursor of the feed");
}

#[tokio::test]
async fn the_first_place_is_told_at_once_so_that_nothing_is_missed_before_the_first_event() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut live = Live::of(&merchant, "", None).await;
    let place = live.frame().await.unwrap();
    assert_eq!(place.event, "");
    drop(live);
    let id = world.owe(merchant.id, "R-1", 1).await.to_string();
    assert_eq!(Live::of(&merchant, "", Some(&place.id)).await.event().await.data["id"], id);
    assert_eq!(Live::of(&merchant, &format!("?cursor={}", place.id), None).await.event().await.data["id"], id);
    for (query, last) in [("?from=then", ""), ("?interface=x", ""), ("?cursor=x", ""), ("", "x")] {
        let reply = merchant
            .calls(reqwest::Method::GET, &format!("/v1/events/stream{query}"), |request| request.header("Last-Event-ID", last))
            .await;
        assert_eq!(reply.status, 400, "{query} {last}");
    }
}

#[tokio::test]
async fn a_quiet_feed_shows_that_it_is_there() {
    let world = World::with(&[("BACKHAUL__EVENTS__HEARTBEAT_MS", "50")]).await;
    let merchant = world.merchant("acme").await;
    let mut live = Live::of(&merchant, "?interface=exchange_order", None).await;
    let before = live.frame().await.unwrap();
    world.owe(merchant.id, "R-1", 1).await;
    let mut beats = 0;
    loop {
        let beat = live.frame().await.unwrap();
        assert!(beat.comment && beat.event.is_empty());
        beats += 1;
        if beat.id != before.id {
            break;
        }
    }
    assert!(beats >= 1, "a heartbeat moves on past events of other interfaces");
    assert!(live.frame().await.unwrap().comment);
}

#[tokio::test]
async fn a_live_feed_that_cannot_go_on_says_why_and_ends() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    world.owe(merchant.id, "R-1", 1).await;
    world.owe(merchant.id, "R-1", 2).await;
    let mut live = Live::of(&merchant, "?from=beginning", None).await;
    live.event().await;
    let second = live.event().await;
    // The database is restored to the moment before the second.
    let restored = "delete from message where position > 1;
        update feed_counter set last = 1, last_message = (select message_id from message where merchant_id = feed_counter.merchant_id)";
    sqlx::raw_sql(restored).execute(&mut world.database.connect().await).await.unwrap();
    let last = live.event().await;
    assert_eq!((last.event.as_str(), last.id.as_str(), &last.data["status"]), ("feed.refused", "", &409.into()));
    let said = last.data["message"].clone();
    assert!(said.as_str().unwrap().contains("restored to an earlier moment"), "{said}");
    live.ends().await;
    let again =
        merchant.calls(reqwest::Method::GET, "/v1/events/stream", |request| request.header("Last-Event-ID", second.id.as_str())).await;
    assert_eq!((again.status.as_u16(), &again.body["message"]), (409, &said), "a client that reconnects is told the same");
}

#[tokio::test]
async fn a_revoked_token_ends_a_live_feed_within_five_seconds() {
    let world = World::new().await;
    let (merchant, other) = (world.merchant("acme").await, world.merchant("other").await);
    let live = Live::of(&merchant, "", None).await;
    let mut others = Live::of(&other, "", None).await;
    flow::revoke_credential(&world.app, "test", merchant.id, &merchant.client_id).await.unwrap();
    world.time_passes(Duration::from_secs(5));
    live.ends().await;
    world.owe(other.id, "R-1", 1).await;
    assert_eq!(others.event().await.data["subject"], "R-1", "another merchant's goes on");
    world.time_passes(Duration::from_secs(90_001));
    others.ends().await;
}

#[tokio::test]
async fn a_process_that_leaves_ends_its_live_feeds() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut live = Live::of(&merchant, "", None).await;
    live.frame().await.unwrap();
    assert_eq!(world.metric("backhaul_event_followers").await, 1);
    world.app.enter(Phase::Leaving);
    live.ends().await;
    soon(async { while world.metric("backhaul_event_followers").await != 0 {} }).await;
}

#[tokio::test]
async fn there_are_so_many_live_feeds_and_no_more() {
    let limits = [("BACKHAUL__EVENTS__FOLLOWERS", "3"), ("BACKHAUL__EVENTS__FOLLOWERS_PER_MERCHANT", "2")];
    let world = World::with(&limits).await;
    let (merchant, other) = (world.merchant("acme").await, world.merchant("other").await);
    let asks = async |merchant: &Merchant<'_>| merchant.calls(reqwest::Method::GET, "/v1/events/stream", |request| request).await;
    let mut held = vec![Live::of(&merchant, "", None).await, Live::of(&merchant, "", None).await];
    let refused = asks(&merchant).await;
    assert_eq!((refused.status.as_u16(), refused.header("retry-after")), (429, "1"));
    assert!(refused.body["message"].as_str().unwrap().starts_with("The limit of 2 live feeds at a time for one merchant is reached."));
    held.push(Live::of(&other, "", None).await);
    assert!(asks(&other).await.body["message"].as_str().unwrap().starts_with("The limit of 3 live feeds at a time is reached."));
    held.truncate(2);
    // There is a free slot again once the service notices that the other client is gone.
    soon(async { while asks(&other).await.status != 200 {} }).await;
}

/// The number of large messages for a client that does not read.
const MANY: i64 = 16;

#[tokio::test]
async fn a_client_that_does_not_read_is_cut_off_and_one_that_waits_is_not() {
    let short = [
        ("BACKHAUL__HTTP__WRITE_TIMEOUT_MS", "300"),
        ("BACKHAUL__HTTP__IDLE_TIMEOUT_MS", "300"),
        ("BACKHAUL__HTTP__HEAD_TIMEOUT_MS", "300"),
    ];
    let world = World::with(&short).await;
    let merchant = world.merchant("acme").await;
    let mut patient = Live::of(&merchant, "?from=now", None).await;
    patient.frame().await.unwrap();
    let body = format!(r#"{{"filling":"{}"}}"#, "x".repeat(256 * 1024));
    for sequence in 1..=MANY {
        let id = world.app.mint();
        let (kind, subject, body) = (Kind::Of(Interface::Rma), "R-1".to_owned(), body.clone());
        let mut tx = world.app.begin(merchant.id).await.unwrap();
        tx.owe(Message { id, kind, event: "rma.created", subject, sequence, body, due_at: world.app.now() });
        tx.commit().await.unwrap();
        assert_eq!(patient.event().await.event, "rma.created");
    }
    // A small window, so that no buffer on the way holds the unread messages.
    let deaf = tokio::net::TcpSocket::new_v4().unwrap();
    deaf.set_recv_buffer_size(4096).unwrap();
    let mut deaf = deaf.connect(world.base.trim_start_matches("http://").parse().unwrap()).await.unwrap();
    let request =
        format!("GET /v1/events/stream?from=beginning HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n", merchant.token);
    deaf.write_all(request.as_bytes()).await.unwrap();
    deaf.read_exact(&mut [0; 64]).await.unwrap();
    // Not over HTTP, where an idle connection lasts as short a time.
    soon(async {
        while world.app.metrics.followers.get() != 1 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let mut rest = Vec::new();
    let _ = soon(deaf.read_to_end(&mut rest)).await;
    assert!(rest.len() < 1024 * 1024, "it was cut off: {} bytes", rest.len());
    world.owe(merchant.id, "R-2", 1).await;
    assert_eq!(patient.event().await.data["subject"], "R-2");
}
