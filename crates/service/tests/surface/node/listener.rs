//! The listener: TLS and its certificate, deadlines, limits.

pub mod site;

use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper::Request;
use rustls::HandshakeKind::{Full, Resumed};
use rustls::ProtocolVersion;
use rustls::version::{TLS12, TLS13};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use self::site::{Authority, LARGE, Site, ask, ask_with, closes, handshake, http2, shown, soon};
use crate::binary::{Served, command};
use crate::world::Database;

#[tokio::test]
async fn tls_1_2_is_what_callers_speak() {
    let site = Site::secure(&[]).await;
    let mut client = site.authority.client(&[&TLS12, &TLS13]);
    client.alpn_protocols = vec![b"http/1.1".to_vec()];
    let mut stream = site.connect_with(client).await.unwrap();
    assert_eq!(stream.get_ref().1.protocol_version(), Some(ProtocolVersion::TLSv1_2), "even if the caller supports a newer one");
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
    let answer = ask(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("x-content-type-options: nosniff"), "{answer}");
}

#[tokio::test]
async fn tls_1_3_is_spoken_only_where_it_is_allowed() {
    let site = Site::secure(&[]).await;
    let refused = site.connect_with(site.authority.client(&[&TLS13])).await.unwrap_err();
    assert!(refused.to_string().contains("ProtocolVersion"), "{refused}");
    site.holds(0).await;
    assert_eq!(site.handshake_failures(), 1);

    let site = Site::secure(&[("TLS__ALLOW_1_3", "true")]).await;
    for (version, spoken) in [(&TLS13, ProtocolVersion::TLSv1_3), (&TLS12, ProtocolVersion::TLSv1_2)] {
        let mut stream = site.connect_with(site.authority.client(&[version])).await.unwrap();
        assert_eq!(stream.get_ref().1.protocol_version(), Some(spoken));
        assert!(ask(&mut stream).await.starts_with("HTTP/1.1 200 "));
    }
}

#[tokio::test]
async fn a_caller_that_comes_back_need_not_shake_hands_in_full() {
    let site = Site::secure(&[]).await;
    let client = Arc::new(site.authority.client(&[&TLS12]));
    for kind in [Full, Resumed] {
        let mut stream = site.connect_with(client.clone()).await.unwrap();
        assert_eq!(stream.get_ref().1.handshake_kind(), Some(kind));
        ask(&mut stream).await;
    }
}

#[tokio::test]
async fn plain_http_on_the_port_of_tls_is_hung_up_on() {
    let site = Site::secure(&[]).await;
    let mut stream = site.connect().await;
    stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    closes(&mut stream).await;
    site.holds(0).await;
    assert_eq!(site.handshake_failures(), 1);
}

#[tokio::test]
async fn a_handshake_has_a_deadline() {
    let site = Site::secure(&[("HTTP__HANDSHAKE_TIMEOUT_MS", "40")]).await;
    let mut silent = site.connect().await;
    assert_eq!(closes(&mut silent).await, b"");
    let mut halting = site.connect().await;
    halting.write_all(&[22, 3, 1]).await.unwrap();
    closes(&mut halting).await;
    site.holds(0).await;
    assert_eq!(site.handshake_failures(), 2);
}

#[tokio::test]
async fn the_head_of_a_request_has_a_deadline() {
    let site = Site::secure(&[("HTTP__HEAD_TIMEOUT_MS", "300")]).await;
    // A deadline for the first byte, and for the rest.
    let mut silent = site.connect_securely().await;
    assert_eq!(closes(&mut silent).await, b"");
    let mut halting = site.connect_securely().await;
    halting.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
    assert_eq!(closes(&mut halting).await, b"");
    // Neither a header now and then nor an earlier request extends the deadline.
    let mut dripping = site.connect_securely().await;
    ask(&mut dripping).await;
    let (mut reading, mut writing) = tokio::io::split(dripping);
    let drip = async {
        let mut ticks = tokio::time::interval(Duration::from_millis(5));
        writing.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
        while writing.write_all(b"x: y\r\n").await.is_ok() {
            ticks.tick().await;
        }
    };
    tokio::select! {
        () = drip => {}
        rest = closes(&mut reading) => assert_eq!(rest, b""),
    }
    site.holds(0).await;
    assert_eq!((site.dropped("head"), site.dropped("idle")), (3, 0));
}

#[tokio::test]
async fn a_connection_may_idle_only_so_long() {
    // An overdue head is counted apart from a request that never comes.
    let site = Site::secure(&[("HTTP__IDLE_TIMEOUT_MS", "300"), ("HTTP__HEAD_TIMEOUT_MS", "10000")]).await;
    let mut stream = site.connect_securely().await;
    for _ in 0..3 {
        ask(&mut stream).await;
    }
    let mut rest = Vec::new();
    soon(stream.read_to_end(&mut rest)).await.expect("it is closed cleanly");
    assert_eq!((rest.len(), site.dropped("idle")), (0, 1));

    let mut caller = http2(&site, |_| {}).await;
    let asked = Request::get("https://localhost/").body(Empty::<Bytes>::new()).unwrap();
    assert_eq!(soon(caller.send_request(asked)).await.unwrap().status(), 200);
    site.holds(0).await;
    assert_eq!(site.dropped("idle"), 2);
}

#[tokio::test]
async fn a_client_that_does_not_read_is_dropped() {
    let site = Site::secure(&[("HTTP__WRITE_TIMEOUT_MS", "60")]).await;
    let mut stream = site.connect_securely().await;
    stream.write_all(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    site.holds(1).await;
    site.holds(0).await;
    assert_eq!(site.dropped("write"), 1);
    assert!(closes(&mut stream).await.len() < LARGE);

    // This also covers a response that the kernel could buffer, and a client that reads a few bytes now and then.
    let site = Site::plain(&[("HTTP__WRITE_TIMEOUT_MS", "60")]).await;
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(site.address).await.unwrap();
    stream.write_all(b"GET /page HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut ticks = tokio::time::interval(Duration::from_millis(10));
    soon(async {
        while site.dropped("write") == 0 {
            let _ = stream.read(&mut [0; 16]).await;
            ticks.tick().await;
        }
    })
    .await;

    let site = Site::secure(&[]).await;
    let mut stream = site.connect_securely().await;
    stream.write_all(b"GET /large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await.unwrap();
    assert!(closes(&mut stream).await.len() > LARGE, "a client that reads gets everything");
}

#[tokio::test]
async fn a_client_of_http2_that_allows_nothing_to_be_sent_is_dropped() {
    let site = Site::secure(&[]).await;
    let large = || Request::get("https://localhost/large").body(Empty::new()).unwrap();
    let answer = soon(http2(&site, |_| {}).await.send_request(large())).await.unwrap();
    assert_eq!((answer.version(), answer.status().as_u16()), (hyper::Version::HTTP_2, 200));
    let all = soon(answer.into_body().collect()).await.unwrap();
    assert_eq!(all.to_bytes().len(), LARGE, "a client that reads gets everything");

    let site = Site::secure(&[("HTTP__WRITE_TIMEOUT_MS", "60")]).await;
    let mut caller = http2(&site, |builder| _ = builder.initial_stream_window_size(100)).await;
    let unread = soon(caller.send_request(large())).await.unwrap();
    site.holds(0).await;
    assert_eq!(site.dropped("write"), 1);
    assert!(soon(unread.into_body().collect()).await.is_err());
}

#[tokio::test]
async fn connections_beyond_the_limit_are_closed_at_once() {
    let site = Site::plain(&[("HTTP__CONNECTIONS", "2")]).await;
    let mut within = [site.connect().await, site.connect().await];
    for stream in &mut within {
        stream.write_all(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        stream.read_exact(&mut [0; 1024]).await.unwrap();
    }
    assert_eq!(closes(&mut site.connect().await).await, b"");
    assert_eq!((site.refused("full"), site.refused("address")), (1, 0));
    for stream in &mut within {
        soon(stream.read_exact(&mut vec![0; LARGE - 1024])).await.unwrap();
    }
    drop(within);
    site.holds(0).await;
    ask(&mut site.connect().await).await;
}

#[tokio::test]
async fn connections_from_one_address_are_limited() {
    async fn from(source: &str, site: &Site) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::new(source.parse().unwrap(), 0)).unwrap();
        socket.connect(site.address).await.unwrap()
    }
    let site = Site::plain(&[("HTTP__CONNECTIONS_PER_ADDRESS", "1")]).await;
    let mut first = from("127.0.0.2", &site).await;
    ask(&mut first).await;
    assert_eq!(closes(&mut from("127.0.0.2", &site).await).await, b"");
    assert_eq!(site.refused("address"), 1);
    ask(&mut from("127.0.0.3", &site).await).await;
    ask(&mut first).await;
}

/// Checks that an answer of HTTP/1.1 has the body of every other error.
fn explains(answer: &str, message: &str) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).unwrap_or_default();
    assert_eq!(header("content-length"), body.len().to_string(), "{answer}");
    assert_eq!((header("content-type"), header("x-content-type-options")), ("application/json", "nosniff"));
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(body, serde_json::json!({ "message": message, "errors": [], "request_id": header("x-request-id") }));
    assert_eq!(header("x-request-id").len(), 32, "{answer}");
}

#[tokio::test]
async fn a_head_that_is_too_large_or_malformed_is_refused_like_any_other_request() {
    let site = Site::secure(&[]).await;
    let many = "x: y\r\n".repeat(101);
    let large = format!("x: {}\r\n", "y".repeat(17 * 1024));
    for headers in [many, large] {
        let mut stream = site.connect_securely().await;
        stream.write_all(format!("GET / HTTP/1.1\r\n{headers}\r\n").as_bytes()).await.unwrap();
        let answer = String::from_utf8(closes(&mut stream).await).unwrap();
        assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
        explains(&answer, "The request's headers exceed the limit of 100 headers or 16384 bytes. Send fewer or shorter ones.");
    }
    for (head, status, message) in [
        ("GET / HTTP/1.1\r\n:\r\n\r\n", 400, "The request's head is not valid HTTP. Correct its first line and its headers."),
        ("nonsense\r\n\r\n", 400, "The request's head is not valid HTTP. Correct its first line and its headers."),
    ] {
        let mut stream = site.connect_securely().await;
        stream.write_all(head.as_bytes()).await.unwrap();
        let answer = String::from_utf8(closes(&mut stream).await).unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        explains(&answer, message);
    }
    let mut stream = site.connect_securely().await;
    let most = "Host: localhost\r\n".to_owned() + &"x: y\r\n".repeat(89) + &format!("x: {}\r\n", "y".repeat(1500)).repeat(10);
    assert!(ask_with(&mut stream, &most).await.starts_with("HTTP/1.1 200 "), "100 headers of 15 KiB are fine");

    let mut caller = http2(&site, |_| {}).await;
    for (headers, length) in [(101, 1), (1, 17 * 1024)] {
        let mut asked = Request::get("https://localhost/").body(Empty::new()).unwrap();
        for at in 0..headers {
            let name: hyper::header::HeaderName = format!("x-{at}").parse().unwrap();
            asked.headers_mut().insert(name, "y".repeat(length).parse().unwrap());
        }
        // A client may refuse to send more than the limit that the listener announced.
        match soon(caller.send_request(asked)).await {
            Ok(answer) => {
                assert_eq!(answer.status(), 431);
                assert_eq!(answer.headers()["content-type"], "application/json");
                let body = answer.into_body().collect().await.unwrap().to_bytes();
                let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
                assert!(body["message"].as_str().unwrap().starts_with("The request's headers exceed the limit"), "{body}");
            }
            Err(refused) => assert!(headers == 1 && refused.is_user(), "{refused:?}"),
        }
    }
}

#[tokio::test]
async fn a_new_certificate_is_shown_without_a_restart() {
    let site = Site::secure(&[]).await;
    let certificates = site.certificates.clone().unwrap();
    tokio::spawn(certificates.keep_current(Duration::from_millis(10)));
    let mut old = site.connect_securely().await;
    ask(&mut old).await;
    let issued = site.authority.issue();
    assert_ne!(shown(&old), issued);
    soon(async { while shown(&site.connect_securely().await) != issued {} }).await;
    assert!(ask(&mut old).await.starts_with("HTTP/1.1 200 "), "an open connection survives the new certificate");
}

/// The `backhaul` command, with the certificate of `authority`.
fn with_certificate(database: &Database, authority: &Authority) -> Command {
    let mut command = command(database);
    command.env("BACKHAUL__TLS__CERTIFICATE", authority.certificate()).env("BACKHAUL__TLS__PRIVATE_KEY", authority.private_key());
    command
}

#[tokio::test]
async fn a_broken_pair_leaves_the_old_certificate_in_use() {
    let (database, authority) = (Database::create().await, Authority::new());
    let first = authority.issue();
    let served = Served::start(with_certificate(&database, &authority).env("BACKHAUL__TLS__RELOAD_SECONDS", "3600").arg("serve"));
    let address = served.base.trim_start_matches("http://").parse().unwrap();
    let look_again = || Command::new("kill").args(["-HUP", &served.child.id().to_string()]).status().unwrap();
    let seen = async || shown(&handshake(address, authority.client(&[&TLS12])).await.unwrap());

    std::fs::write(authority.private_key(), "no key").unwrap();
    look_again();
    assert!(served.wait_for("keeping the old one").contains("key.pem contains no private key in PEM format"));
    assert_eq!(seen().await, first);
    // A key of another authority is an error as well, and every error is reported once.
    Authority::new().copy_key_to(&authority);
    look_again();
    assert!(served.wait_for("keeping the old one").contains("cannot be used"));
    look_again();
    let second = authority.issue();
    look_again();
    served.wait_for("the TLS certificate was reloaded");
    assert_eq!(seen().await, second);
    let (clean, _) = served.terminate();
    assert!(clean);
}

#[tokio::test]
async fn requests_in_flight_are_answered_when_the_listener_leaves() {
    let mut site = Site::secure(&[]).await;
    let (mut busy, mut idle) = (site.connect_securely().await, site.connect_securely().await);
    ask(&mut idle).await;
    busy.write_all(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    busy.read_exact(&mut [0; 1024]).await.unwrap();
    site.leaves();
    assert_eq!(closes(&mut idle).await, b"");
    assert!(closes(&mut busy).await.len() > LARGE - 1024);
    site.left().await;
}

#[tokio::test]
async fn health_answers_while_the_public_listener_is_full() {
    let database = Database::create().await;
    let admin = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let mut command = command(&database);
    let served = Served::start(command.env("BACKHAUL__HTTP__ADMIN_LISTEN", &admin).env("BACKHAUL__HTTP__CONNECTIONS", "1").arg("serve"));
    let public = served.base.trim_start_matches("http://");
    let mut only = TcpStream::connect(public).await.unwrap();
    let head =
        "POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n";
    only.write_all(head.as_bytes()).await.unwrap();
    only.read_exact(&mut [0; 12]).await.unwrap();
    assert_eq!(closes(&mut TcpStream::connect(public).await.unwrap()).await, b"");
    assert_eq!(reqwest::get(format!("http://{admin}/readyz")).await.unwrap().status(), 200);
    let page = reqwest::get(format!("http://{admin}/metrics")).await.unwrap().text().await.unwrap();
    assert!(page.contains("backhaul_http_connections_open 1\n"), "{page}");
    assert!(page.contains(r#"backhaul_http_connections_refused_total{reason="full"} 1"#), "{page}");
}

#[tokio::test]
async fn the_doctor_says_whom_callers_must_trust() {
    let (database, authority) = (Database::create().await, Authority::new());
    authority.issue();
    let doctor = |mode: &str| -> Value {
        let mut command = with_certificate(&database, &authority);
        command.env("BACKHAUL__MODE", mode).env("BACKHAUL__KEYS__FINGERPRINT", "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=");
        command.env("BACKHAUL__KEYS__SEALING", "k1:QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=");
        let checks: Value = serde_json::from_slice(&command.args(["doctor", "-o", "json"]).output().unwrap().stdout).unwrap();
        checks["items"].as_array().unwrap().iter().skip_while(|check| check["name"] != "certificate").cloned().collect()
    };
    let in_a_sandbox = doctor("sandbox");
    assert_eq!(in_a_sandbox[0]["found"], "for localhost, 127.0.0.1; the private key matches");
    assert_eq!(in_a_sandbox[1]["ok"], true);
    assert_eq!((&in_a_sandbox[2]["name"], &in_a_sandbox[2]["ok"]), (&"authority".into(), &true.into()));
    assert!(in_a_sandbox[2]["found"].as_str().unwrap().contains("give clients the root certificate of CN=Example Root"), "{in_a_sandbox}");
    let in_production = doctor("production");
    assert_eq!((&in_production[1]["ok"], &in_production[2]["ok"]), (&true.into(), &false.into()), "{in_production}");

    Authority::new().copy_key_to(&authority);
    let mismatched = doctor("sandbox");
    assert_eq!((&mismatched[0]["name"], &mismatched[0]["ok"]), (&"certificate".into(), &false.into()), "{mismatched}");
    assert_eq!(mismatched[1]["name"], "disk", "nothing else is said of a certificate that cannot be used: {mismatched}");
    let refused = with_certificate(&database, &authority).arg("serve").output().unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("tls.certificate"), "it does not start either");
    let half = with_certificate(&database, &authority).env("BACKHAUL__TLS__CERTIFICATE", "").arg("serve").output().unwrap();
    assert!(!half.status.success(), "half a setting does not turn TLS off");
}

#[test]
fn the_page_for_callers_states_the_defaults() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/callers.md")).unwrap();
    let defaults: toml::Table = backhaul::platform::config::DEFAULTS.parse().unwrap();
    let row = |what: &str| page.lines().find(|line| line.starts_with(&format!("| {what} |"))).unwrap_or_else(|| panic!("{what}"));
    for (what, setting) in [
        ("the handshake of TLS", "handshake_timeout_ms"),
        ("the head of a request", "head_timeout_ms"),
        ("the body of a request", "body_timeout_ms"),
        ("reading the answer", "write_timeout_ms"),
        ("the next request on a connection", "idle_timeout_ms"),
    ] {
        let seconds = defaults["http"][setting].as_integer().unwrap() / 1_000;
        assert!(row(what).contains(&format!("| {seconds} seconds |")), "{}", row(what));
    }
    let connections = defaults["http"]["connections_per_address"].as_integer().unwrap();
    assert!(row("connections from one address").contains(&format!("| {},{:03} |", connections / 1_000, connections % 1_000)));
    assert!(page.contains("TLS 1.2") && page.contains("openssl s_client"));
}
