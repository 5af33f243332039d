//! The merchant's record of its requests.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use sandbox::merchant::{Answer, Merchant, Received, TooFew, WrongSignature};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::caller::{Caller, LONG, send};

const HEADERS: [(&str, &str); 3] = [("webhook-id", "msg_1"), ("x-service-sequence", "3"), ("x-service-attempt", "2")];

#[tokio::test]
async fn a_request_is_kept_as_it_came() {
    let merchant = Merchant::start().await.unwrap();
    let mut caller = Caller::of(&merchant).await;
    caller.post("/rma/1?page=2", &HEADERS, "{\"a\" :\r\n1}").await;
    caller.post("/asn", &[], "\u{0}").await;
    let received = merchant.received();
    let [first, second] = &received[..] else { panic!("{received:?}") };
    assert_eq!((first.number(), first.method().as_str(), first.path(), first.query()), (1, "POST", "/rma/1", Some("page=2")));
    assert_eq!(first.header("Webhook-Id"), Some("msg_1"));
    assert_eq!(first.headers()["host"], "merchant.example.com");
    assert_eq!((first.message_id(), first.sequence(), first.attempt()), (Some("msg_1"), Some(3), Some(2)));
    assert_eq!(first.body(), "{\"a\" :\r\n1}");
    assert_eq!(first.json(), json!({"a": 1}));
    assert_eq!((second.number(), second.path(), second.query(), second.message_id()), (2, "/asn", None, None));
    assert_eq!((second.sequence(), second.attempt(), second.header("webhook-id")), (None, None, None));
    assert_eq!(second.json(), json!(null));
    assert!(first.arrived() <= second.arrived());
    assert!(first.arrived_at().elapsed().unwrap() < LONG);
}

#[tokio::test]
async fn a_body_in_chunks_is_kept_whole() {
    let merchant = Merchant::start().await.unwrap();
    let request = "POST / HTTP/1.1\r\nhost: merchant.example.com\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n\
                   3\r\n{\"a\r\n5\r\n\": 1}\r\n0\r\n\r\n";
    send(&merchant, request).await.unwrap();
    assert_eq!(merchant.received()[0].body(), "{\"a\": 1}");
}

#[tokio::test]
async fn requests_are_told_apart_by_their_path() {
    let merchant = Merchant::start().await.unwrap();
    let mut caller = Caller::of(&merchant).await;
    for path in ["/rma/1", "/asn", "/rma", "/rmas", "/oauth/token"] {
        caller.post(path, &[], "").await;
    }
    let numbers = |received: Vec<Received>| received.iter().map(Received::number).collect::<Vec<_>>();
    assert_eq!(numbers(merchant.received()), [1, 2, 3, 4]);
    assert_eq!(numbers(merchant.received_at("/rma")), [1, 3]);
    assert_eq!(numbers(merchant.received_at("/")), [1, 2, 3, 4]);
    assert_eq!(numbers(merchant.received_at("/oauth/token")), [5]);
    assert_eq!(merchant.count(), 4);
    merchant.clear();
    assert_eq!((merchant.count(), merchant.received().len(), merchant.token_fetches()), (0, 0, 0));
    caller.post("/rma", &[], "").await;
    assert_eq!(numbers(merchant.received()), [6]);
}

#[tokio::test]
async fn a_refused_request_is_kept_too() {
    let merchant = Merchant::start().await.unwrap();
    merchant.answer("/", Answer::status(500));
    Caller::of(&merchant).await.post("/rma", &[], "{}").await;
    assert_eq!(merchant.received()[0].body(), "{}");
}

#[tokio::test]
async fn who_waits_is_woken() {
    let merchant = Arc::new(Merchant::start().await.unwrap());
    let waits = tokio::spawn({
        let merchant = Arc::clone(&merchant);
        async move { (merchant.wait_for(3, LONG).await, merchant.wait_for_at("/asn", 1, LONG).await) }
    });
    let mut caller = Caller::of(&merchant).await;
    for path in ["/rma/1", "/rma/2", "/oauth/token", "/asn"] {
        assert!(!waits.is_finished());
        caller.post(path, &[], "").await;
    }
    let (all, asns) = waits.await.unwrap();
    assert_eq!((all.unwrap().len(), asns.unwrap().len()), (3, 1));
    assert_eq!(merchant.wait_for(2, Duration::ZERO).await.unwrap().len(), 3);
}

#[tokio::test]
async fn who_waits_in_vain_is_told() {
    let merchant = Merchant::start().await.unwrap();
    Caller::of(&merchant).await.post("/rma", &[], "").await;
    let within = Duration::from_millis(5);
    let too_few = merchant.wait_for(2, within).await.unwrap_err();
    assert_eq!(too_few, TooFew { wanted: 2, came: 1, within });
    assert_eq!(too_few.to_string(), "only 1 of 2 requests arrived within 5ms");
    assert_eq!(merchant.wait_for_at("/asn", 1, within).await.unwrap_err(), TooFew { wanted: 1, came: 0, within });
}

#[tokio::test]
async fn without_bodies_the_id_and_the_digest_are_left() {
    let merchant = Merchant::start().await.unwrap();
    merchant.keep_bodies(false);
    let seen = Arc::new(AtomicUsize::default());
    merchant.on_request({
        let seen = Arc::clone(&seen);
        move |received| _ = seen.fetch_add(received.body().len(), Relaxed)
    });
    let mut caller = Caller::of(&merchant).await;
    caller.post("/rma", &HEADERS, "{}").await;
    assert_eq!(seen.load(Relaxed), 2, "an observer sees the body");
    let kept = &merchant.received()[0];
    assert_eq!((kept.number(), kept.path(), kept.method().as_str()), (1, "/rma", "POST"));
    assert_eq!((kept.message_id(), kept.sequence(), kept.attempt()), (Some("msg_1"), Some(3), Some(2)));
    assert_eq!(kept.digest(), <[u8; 32]>::from(Sha256::digest("{}")));
    assert!(kept.body().is_empty() && kept.headers().is_empty());
    assert_eq!(kept.verify("whsec_", kept.arrived_at()), Err(WrongSignature::NotKept));

    merchant.keep_bodies(true);
    caller.post("/rma", &HEADERS, "{}").await;
    let again = &merchant.received()[1];
    assert_eq!((again.digest(), &again.body()[..]), (kept.digest(), &b"{}"[..]));
}

#[tokio::test]
async fn many_callers_at_once_are_all_kept_in_order() {
    let merchant = Merchant::start().await.unwrap();
    let address = merchant.address();
    for caller in 0..8 {
        tokio::spawn(async move {
            let mut connection = Caller::over(tokio::net::TcpStream::connect(address).await.unwrap()).await;
            for message in 0..50 {
                connection.post("/rma", &[("webhook-id", &format!("{caller}-{message}"))], "{}").await;
            }
        });
    }
    let received = merchant.wait_for(400, LONG).await.unwrap();
    assert_eq!(received.iter().map(Received::number).collect::<Vec<_>>(), (1..=400).collect::<Vec<_>>());
    assert_eq!(merchant.connections(), 8);
    assert!(merchant.most_at_once() <= 8);
    for caller in 0..8 {
        let of_one = received.iter().filter_map(|received| received.message_id()?.strip_prefix(&format!("{caller}-"))?.parse().ok());
        assert_eq!(of_one.collect::<Vec<usize>>(), (0..50).collect::<Vec<_>>());
    }
}
