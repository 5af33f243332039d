//! Every kind of answer, and the choice of an answer by path.

use std::io::ErrorKind;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt as _;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use sandbox::merchant::{Answer, Merchant};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::caller::{Caller, LONG, send, soon};

const SHORT: Duration = Duration::from_millis(20);
const POST: &str = "POST /rma HTTP/1.1\r\nhost: merchant.example.com\r\ncontent-length: 2\r\n\r\n{}";

#[tokio::test]
async fn every_path_is_answered_with_200_at_first() {
    let merchant = Merchant::start().await.unwrap();
    let answer = Caller::of(&merchant).await.post("/rma", &[], "{}").await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-type"], "application/json");
    assert_eq!(answer.body(), "{}");
    assert_eq!(merchant.url("/rma"), format!("http://127.0.0.1:{}/rma", merchant.address().port()));
    assert_eq!(merchant.url("rma"), merchant.url("/rma"));
}

#[tokio::test]
async fn the_longest_path_that_fits_wins() {
    let merchant = Merchant::start().await.unwrap();
    merchant.answer("/a/b", Answer::status(202));
    merchant.answer("/", Answer::status(503));
    merchant.answer("/a", Answer::status(500));
    let mut caller = Caller::of(&merchant).await;
    for (path, status) in [("/a/b", 202), ("/a/b/c", 202), ("/a/bc", 500), ("/a", 500), ("/a/?page=2", 500), ("/ab", 503), ("/", 503)] {
        assert_eq!(caller.status(path).await, status, "{path}");
    }
    merchant.answer("/a", Answer::status(201));
    assert_eq!(caller.status("/a").await, 201);
}

#[tokio::test]
async fn queued_answers_come_first_and_once() {
    let merchant = Merchant::start().await.unwrap();
    merchant.answer("/", Answer::status(204));
    merchant.answer_next("/rma", [Answer::status(500), Answer::status(429).header("retry-after", "7")]);
    merchant.answer_next("/rma", [Answer::status(502)]);
    let mut caller = Caller::of(&merchant).await;
    assert_eq!(caller.status("/rma/1").await, 500);
    let slow_down = caller.post("/rma/2", &[], "").await;
    assert_eq!((slow_down.status().as_u16(), &slow_down.headers()["retry-after"]), (429, &"7".parse().unwrap()));
    assert_eq!(caller.status("/asn").await, 204);
    assert_eq!(caller.status("/rma/1").await, 502);
    assert_eq!(caller.status("/rma/1").await, 204);
}

#[tokio::test]
async fn an_answer_can_depend_on_the_request() {
    let merchant = Merchant::start().await.unwrap();
    merchant.answer_by("/rma", |received| match received.json()["status"].as_str() {
        Some("CREATED") => Answer::status(201).json(&json!({"seen": received.number()})),
        _ => Answer::status(422),
    });
    let mut caller = Caller::of(&merchant).await;
    assert_eq!(caller.status("/rma").await, 422);
    let answer = caller.post("/rma", &[], r#"{"status": "CREATED"}"#).await;
    assert_eq!((answer.status().as_u16(), &answer.body()[..]), (201, &br#"{"seen":2}"#[..]));
    merchant.answer_by("/rma", |_| Answer::reset_unread());
    assert_eq!(send(&merchant, POST).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert_eq!(merchant.received()[2].body(), "{}");
}

#[tokio::test]
async fn a_reply_has_the_headers_and_the_body_it_was_given() {
    let merchant = Merchant::start().await.unwrap();
    let answer = Answer::status(418).header("X-Sample", "one").header("x-sample", "two").header("no name", "").body("tea");
    merchant.answer("/", answer);
    let mut caller = Caller::of(&merchant).await;
    for _ in 0..2 {
        let answer = caller.post("/", &[], "").await;
        assert_eq!(answer.status(), 418);
        assert_eq!(answer.headers().get_all("x-sample").iter().collect::<Vec<_>>(), ["one", "two"]);
        assert_eq!(answer.headers()["content-length"], "3");
        assert_eq!(answer.body(), "tea");
    }
    assert_eq!(merchant.connections(), 1, "the connection is kept");
}

#[tokio::test]
async fn a_delay_passes_before_the_answer() {
    let merchant = Merchant::start().await.unwrap();
    merchant.answer("/", Answer::ok().delay(SHORT));
    let begun = tokio::time::Instant::now();
    assert_eq!(Caller::of(&merchant).await.status("/").await, 200);
    assert!(begun.elapsed() >= SHORT);
}

#[tokio::test]
async fn a_connection_is_reset_after_the_request_was_read() {
    let merchant = Merchant::start().await.unwrap();
    merchant.answer_next("/", [Answer::reset()]);
    assert_eq!(send(&merchant, POST).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert_eq!(merchant.received()[0].body(), "{}");
    assert_eq!(Caller::of(&merchant).await.status("/").await, 200, "the next connection is a good one");
}

#[tokio::test]
async fn a_connection_is_reset_before_the_request_was_read() {
    let merchant = Merchant::start().await.unwrap();
    merchant.answer("/", Answer::reset_unread());
    // The announced body never arrives.
    let head = "POST /rma HTTP/1.1\r\nhost: merchant.example.com\r\nwebhook-id: msg_1\r\ncontent-length: 2\r\n\r\n";
    assert_eq!(send(&merchant, head).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
    let received = merchant.received();
    assert_eq!((received[0].message_id(), received[0].body().len()), (Some("msg_1"), 0));
}

#[tokio::test]
async fn a_connection_is_closed_without_an_answer() {
    let merchant = Merchant::start().await.unwrap();
    merchant.answer("/", Answer::close().delay(SHORT));
    assert_eq!(send(&merchant, POST).await.unwrap(), b"");
    assert_eq!(merchant.received()[0].body(), "{}");
}

#[tokio::test]
async fn a_body_drips_a_byte_at_a_time() {
    let merchant = Merchant::start().await.unwrap();
    merchant.answer("/", Answer::status(202).drip(Duration::from_millis(2), Some(3)));
    let begun = tokio::time::Instant::now();
    let mut caller = Caller::of(&merchant).await;
    let mut answer = caller.begin("/", &[], "").await.unwrap();
    assert_eq!(answer.headers()["content-length"], "3");
    for _ in 0..3 {
        assert_eq!(soon(answer.frame()).await.unwrap().unwrap().into_data().unwrap(), ".");
    }
    assert!(soon(answer.frame()).await.is_none());
    assert!(begun.elapsed() >= Duration::from_millis(6));
}

#[tokio::test]
async fn a_body_can_go_on_for_ever() {
    let merchant = Merchant::start().await.unwrap();
    merchant.answer("/drip", Answer::ok().drip(Duration::from_millis(1), None));
    merchant.answer("/flood", Answer::ok().endless());
    for (path, enough) in [("/drip", 5), ("/flood", 8 * 1024 * 1024)] {
        let mut answer = Caller::of(&merchant).await.begin(path, &[], "").await.unwrap();
        assert!(!answer.headers().contains_key("content-length"));
        let mut read = 0;
        while read < enough {
            read += soon(answer.frame()).await.unwrap().unwrap().into_data().unwrap().len();
        }
    }
}

#[tokio::test]
async fn a_body_is_cut_short() {
    let merchant = Merchant::start().await.unwrap();
    merchant.answer("/", Answer::ok().cut_short(r#"{"half":"#));
    let answer = String::from_utf8(send(&merchant, POST).await.unwrap()).unwrap();
    assert!(answer.contains("content-length: 9\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\n{\"half\":"), "{answer}");
    let body = Caller::of(&merchant).await.begin("/", &[], "").await.unwrap().into_body();
    assert!(soon(body.collect()).await.is_err());
}

#[tokio::test]
async fn what_hangs_is_answered_when_it_is_released() {
    let merchant = Merchant::start().await.unwrap();
    merchant.answer_next("/", [Answer::hang(), Answer::status(503).held()]);
    let call = |merchant: &Merchant| {
        let address = merchant.address();
        tokio::spawn(async move { Caller::over(TcpStream::connect(address).await.unwrap()).await.status("/").await })
    };
    let first = call(&merchant);
    merchant.wait_for(1, LONG).await.unwrap();
    let second = call(&merchant);
    merchant.wait_for(2, LONG).await.unwrap();
    assert_eq!((merchant.at_once(), merchant.most_at_once()), (2, 2));
    assert!(!first.is_finished() && !second.is_finished());
    merchant.release();
    assert_eq!((soon(first).await.unwrap(), soon(second).await.unwrap()), (200, 503));
    assert_eq!((merchant.at_once(), merchant.most_at_once()), (0, 2));
    merchant.clear();
    assert_eq!(merchant.most_at_once(), 0);
}

#[tokio::test]
async fn a_caller_who_gives_up_is_not_at_work() {
    let merchant = Merchant::start().await.unwrap();
    merchant.answer("/", Answer::hang());
    let mut stream = TcpStream::connect(merchant.address()).await.unwrap();
    stream.write_all(POST.as_bytes()).await.unwrap();
    merchant.wait_for(1, LONG).await.unwrap();
    assert_eq!(merchant.at_once(), 1);
    drop(stream);
    soon(async {
        while merchant.at_once() > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_redirect_names_another_url() {
    let merchant = Merchant::start().await.unwrap();
    merchant.answer("/rma", Answer::redirect("https://elsewhere.example.com/rma"));
    let answer = Caller::of(&merchant).await.post("/rma", &[], "").await;
    assert_eq!((answer.status().as_u16(), &answer.headers()["location"]), (302, &"https://elsewhere.example.com/rma".parse().unwrap()));
}

#[tokio::test]
async fn only_the_right_token_is_let_in() {
    let merchant = Merchant::start().await.unwrap();
    merchant.answer("/", Answer::unauthorized_until("fresh"));
    let mut caller = Caller::of(&merchant).await;
    let refused = caller.post("/", &[], "").await;
    assert_eq!((refused.status().as_u16(), &refused.headers()["www-authenticate"]), (401, &"Bearer".parse().unwrap()));
    assert_eq!(caller.post("/", &[("authorization", "Bearer stale")], "").await.status(), 401);
    assert_eq!(caller.post("/", &[("authorization", "Basic fresh")], "").await.status(), 401);
    assert_eq!(caller.post("/", &[("authorization", "bearer fresh")], "").await.status(), 200);
}

#[tokio::test]
async fn a_merchant_that_stops_is_gone_and_can_come_back() {
    let merchant = Merchant::start().await.unwrap();
    merchant.answer("/", Answer::hang());
    let address = merchant.address();
    let mut hanging = TcpStream::connect(address).await.unwrap();
    hanging.write_all(POST.as_bytes()).await.unwrap();
    merchant.wait_for(1, LONG).await.unwrap();
    merchant.stop().await;
    let mut rest = Vec::new();
    let _ = soon(hanging.read_to_end(&mut rest)).await;
    assert_eq!(rest, b"");
    assert_eq!(TcpStream::connect(address).await.unwrap_err().kind(), ErrorKind::ConnectionRefused);
    let again = Merchant::start_at(address).await.unwrap();
    assert_eq!((Caller::of(&again).await.status("/").await, again.count()), (200, 1));
}

#[tokio::test]
async fn a_merchant_that_is_dropped_ends_its_connections() {
    let merchant = Merchant::start().await.unwrap();
    let mut idle = TcpStream::connect(merchant.address()).await.unwrap();
    drop(merchant);
    let mut rest = Vec::new();
    let _ = soon(idle.read_to_end(&mut rest)).await;
    assert_eq!(rest, b"");
}

#[tokio::test]
async fn a_merchant_speaks_https() {
    let names = [Ipv4Addr::LOCALHOST.to_string()];
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    let certificate = made.cert.pem();
    let merchant = Merchant::start_tls(certificate.as_bytes(), made.signing_key.serialize_pem().as_bytes()).await.unwrap();
    merchant.answer_next("/", [Answer::ok(), Answer::reset()]);
    assert!(merchant.url("/").starts_with("https://127.0.0.1:"));

    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()).unwrap();
    let config = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(merchant.address()).await.unwrap();
    let name = ServerName::from(std::net::IpAddr::from(Ipv4Addr::LOCALHOST));
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
    let mut caller = Caller::over(stream).await;
    assert_eq!(caller.status("/").await, 200);
    assert!(caller.begin("/", &[], "").await.is_err());
    assert_eq!((merchant.count(), merchant.connections()), (2, 1));
    assert!(Merchant::start_tls(b"", b"").await.is_err());
}
