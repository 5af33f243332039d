//! The outbound client against real peers: the destinations it reaches and refuses, and its timeouts.

pub mod inside;
pub mod peers;
mod tokens;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use backhaul::delivery::client::{CallResult, Client, Request};
use backhaul::platform::clock::Clock;
use backhaul::platform::config::Settings;
use bytes::Bytes;
use domain::messages::delivery::Outcome;
use hyper::Method;
use hyper::header::{HeaderMap, HeaderValue};
use rustls::version::{TLS12, TLS13};
use tokio::io::AsyncWriteExt as _;

use self::peers::{Authority, NameServer, Peer, ok, read_request};

/// A sandbox's client with these settings changed.
fn client(changed: &[(&str, String)]) -> Client {
    let usual = [("MODE", "sandbox".to_owned())];
    let settings = usual.iter().chain(changed).map(|(name, value)| (format!("BACKHAUL__{name}"), value.clone()));
    Client::new(&Settings::load(None, settings).unwrap(), Clock::system()).unwrap()
}

fn allowing(what: &[String]) -> (&'static str, String) {
    ("OUTBOUND__ALLOWED", format!("{what:?}"))
}

fn asking(server: SocketAddr) -> (&'static str, String) {
    ("OUTBOUND__NAME_SERVERS", format!("[\"{server}\"]"))
}

/// A client that may call this machine on this port.
fn neighbour(port: u16) -> Client {
    client(&[allowing(&[format!("127.0.0.1:{port}")])])
}

async fn get(client: &Client, url: &str) -> CallResult {
    client.call(client.request(Method::GET, url)).await
}

async fn hurried(client: &Client, url: &str) -> CallResult {
    client.call(Request { deadline: Duration::from_millis(300), ..client.request(Method::POST, url) }).await
}

fn answered(status: u16) -> Outcome {
    Outcome::Answered { status, retry_after: None }
}

fn unreachable(why: &str) -> Outcome {
    Outcome::Unreachable(why.to_owned())
}

const NAME_LEADS_INSIDE: &str = "the host name resolves to an address that may not be called";

#[tokio::test]
async fn a_call_is_sent_as_it_is_and_its_answer_kept() {
    let (sent, mut requests) = tokio::sync::mpsc::unbounded_channel();
    let peer = Peer::at("127.0.0.1:0", move |mut stream| {
        let sent = sent.clone();
        async move {
            let request = read_request(&mut stream).await.unwrap();
            sent.send(request).unwrap();
            let answer = "HTTP/1.1 429 Slow down\r\nretry-after: 120\r\ncontent-encoding: gzip\r\ncontent-length: 5\r\n\r\nnoise";
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    })
    .await;
    let client = neighbour(peer.port());
    let headers = HeaderMap::from_iter([("webhook-id".parse().unwrap(), HeaderValue::from_static("msg_1"))]);
    let body = Bytes::from_static(b"{\"a\": 1}");
    let exchange = client.call(Request { headers, body, ..client.request(Method::POST, &peer.url("/rma?a=b")) }).await;
    assert_eq!(exchange.outcome, Outcome::Answered { status: 429, retry_after: Some(chrono::TimeDelta::seconds(120)) });
    assert_eq!((&exchange.answer[..], exchange.truncated), (&b"noise"[..], false), "nothing is decompressed");
    let request = requests.recv().await.unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let mut lines: Vec<&str> = head.lines().collect();
    lines[1..].sort_unstable();
    let host = format!("host: {}", peer.address);
    let agent = concat!("user-agent: backhaul/", env!("CARGO_PKG_VERSION"));
    assert_eq!(lines, ["POST /rma?a=b HTTP/1.1", "content-length: 8", &host, agent, "webhook-id: msg_1"]);
    assert_eq!(body, "{\"a\": 1}");
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_not_followed() {
    let elsewhere = Peer::answering("127.0.0.1:0", &ok("secret")).await;
    let moved = format!("HTTP/1.1 302 Found\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n", elsewhere.url("/"));
    let peer = Peer::answering("127.0.0.1:0", &moved).await;
    let client = client(&[allowing(&["127.0.0.1".to_owned()])]);
    assert_eq!(get(&client, &peer.url("/")).await.outcome, answered(302));
    assert_eq!((peer.connections(), elsewhere.connections()), (1, 0));
}

#[tokio::test]
async fn an_endless_answer_is_cut() {
    let peer = Peer::at("127.0.0.1:0", async |mut stream| {
        read_request(&mut stream).await;
        _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
        while stream.write_all(&[b'x'; 4_096]).await.is_ok() {}
    })
    .await;
    let exchange = get(&neighbour(peer.port()), &peer.url("/")).await;
    assert_eq!((exchange.outcome, exchange.answer.len(), exchange.truncated), (answered(200), 16 * 1024, true));
    let client = neighbour(peer.port());
    let exchange = client.call(Request { most_kept: 1 << 20, ..client.request(Method::GET, &peer.url("/")) }).await;
    assert_eq!((exchange.outcome, exchange.answer.len(), exchange.truncated), (answered(200), 64 * 1024, true));
}

#[tokio::test]
async fn an_answer_of_just_the_size_is_whole() {
    let peer = Peer::answering("127.0.0.1:0", &ok(&"x".repeat(16 * 1024))).await;
    let exchange = get(&neighbour(peer.port()), &peer.url("/")).await;
    assert_eq!((exchange.answer.len(), exchange.truncated), (16 * 1024, false));
    let peer = Peer::answering("127.0.0.1:0", &ok(&"x".repeat(16 * 1024 + 1))).await;
    let exchange = get(&neighbour(peer.port()), &peer.url("/")).await;
    assert_eq!((exchange.answer.len(), exchange.truncated), (16 * 1024, true));
}

#[tokio::test]
async fn a_dripping_answer_ends_at_the_deadline() {
    let peer = Peer::at("127.0.0.1:0", async |mut stream| {
        read_request(&mut stream).await;
        _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n").await;
        let mut ticks = tokio::time::interval(Duration::from_millis(10));
        while stream.write_all(b"x").await.is_ok() {
            ticks.tick().await;
        }
    })
    .await;
    let exchange = hurried(&neighbour(peer.port()), &peer.url("/")).await;
    assert_eq!((exchange.outcome, exchange.truncated), (Outcome::TimedOut, true));
    assert!(exchange.answer.starts_with(b"x"), "the part that arrived is kept");
    assert!((300..3_000).contains(&exchange.took.as_millis()), "{:?}", exchange.took);
}

#[tokio::test]
async fn a_dripping_head_and_a_silent_peer_end_at_the_deadline() {
    let dripping = Peer::at("127.0.0.1:0", async |mut stream| {
        read_request(&mut stream).await;
        let mut ticks = tokio::time::interval(Duration::from_millis(10));
        _ = stream.write_all(b"HTTP/1.1 200 OK\r\nx: ").await;
        while stream.write_all(b"x").await.is_ok() {
            ticks.tick().await;
        }
    })
    .await;
    let silent = Peer::at("127.0.0.1:0", async |mut stream| while read_request(&mut stream).await.is_some() {}).await;
    for peer in [dripping, silent] {
        let exchange = hurried(&neighbour(peer.port()), &peer.url("/")).await;
        assert_eq!((exchange.outcome, exchange.answer.len(), exchange.truncated), (Outcome::TimedOut, 0, false));
    }
}

#[tokio::test]
async fn a_broken_connection_is_said_to_be_so() {
    let reset = Peer::at("127.0.0.1:0", async |mut stream| {
        read_request(&mut stream).await;
        socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
    })
    .await;
    assert_eq!(get(&neighbour(reset.port()), &reset.url("/")).await.outcome, unreachable("the connection was reset"));
    let closed = Peer::at("127.0.0.1:0", async |mut stream| _ = read_request(&mut stream).await).await;
    assert_eq!(get(&neighbour(closed.port()), &closed.url("/")).await.outcome, unreachable("the connection was closed without an answer"));
    let half = Peer::answering("127.0.0.1:0", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf").await;
    let exchange = get(&neighbour(half.port()), &half.url("/")).await;
    assert_eq!(exchange.outcome, unreachable("the connection broke before the answer was complete"));
    assert_eq!((&exchange.answer[..], exchange.truncated), (&b"half"[..], true));
    let other = Peer::answering("127.0.0.1:0", "220 mail.example.com ESMTP\r\n").await;
    assert_eq!(get(&neighbour(other.port()), &other.url("/")).await.outcome, unreachable("the answer is not HTTP"));
    let nobody = Peer::answering("127.0.0.1:0", "").await;
    let (client, url) = (neighbour(nobody.port()), nobody.url("/"));
    drop(nobody);
    tokio::task::yield_now().await;
    assert_eq!(get(&client, &url).await.outcome, unreachable("the connection was refused"));
}

#[tokio::test]
async fn a_connection_is_kept_and_no_request_is_sent_twice() {
    let requests: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = Arc::clone(&requests);
    // It answers two requests on a connection, and hangs up on the third after reading it.
    let peer = Peer::at("127.0.0.1:0", move |mut stream| {
        let log = Arc::clone(&log);
        async move {
            for left in (0..3).rev() {
                let Some(request) = read_request(&mut stream).await else { return };
                log.lock().unwrap().push(request.lines().next().unwrap().to_owned());
                if left > 0 {
                    stream.write_all(ok("").as_bytes()).await.unwrap();
                }
            }
        }
    })
    .await;
    let client = neighbour(peer.port());
    let mut outcomes = Vec::new();
    for path in ["/1", "/2", "/3", "/4"] {
        outcomes.push(client.call(client.request(Method::POST, &peer.url(path))).await.outcome);
    }
    let hung_up = unreachable("the connection was closed without an answer");
    assert_eq!(outcomes, [answered(200), answered(200), hung_up, answered(200)]);
    assert_eq!(*requests.lock().unwrap(), ["POST /1 HTTP/1.1", "POST /2 HTTP/1.1", "POST /3 HTTP/1.1", "POST /4 HTTP/1.1"]);
    assert_eq!(peer.connections(), 2);
}

#[tokio::test]
async fn a_connection_that_was_closed_meanwhile_costs_no_call() {
    let (gone, mut noticed) = tokio::sync::mpsc::unbounded_channel();
    let peer = Peer::at("127.0.0.1:0", move |mut stream| {
        let gone = gone.clone();
        async move {
            read_request(&mut stream).await;
            stream.write_all(ok("").as_bytes()).await.unwrap();
            stream.shutdown().await.unwrap();
            // The client hangs up once it has noticed.
            assert_eq!(read_request(&mut stream).await, None);
            gone.send(()).unwrap();
        }
    })
    .await;
    let client = neighbour(peer.port());
    for _ in 0..20 {
        assert_eq!(client.call(client.request(Method::POST, &peer.url("/"))).await.outcome, answered(200));
        noticed.recv().await.unwrap();
    }
    assert_eq!(peer.connections(), 20);
}

#[tokio::test]
async fn tls_is_spoken_with_those_whom_we_trust() {
    let authority = Authority::new();
    let server = NameServer::knowing(["hooks.test", "other.test"].map(|name| (name, vec![vec!["127.0.0.1"]]))).await;
    for version in [&TLS12, &TLS13] {
        let peer = Peer::secure(authority.server("hooks.test", &[version]), &ok("hello")).await;
        let allowed = ["hooks.test", "other.test", "127.0.0.1"].map(|what| format!("{what}:{}", peer.port()));
        let [url, other] = ["hooks", "other"].map(|name| format!("https://{name}.test:{}/", peer.port()));
        let roots = ("OUTBOUND__EXTRA_ROOTS", authority.file.to_str().unwrap().to_owned());
        let trusting = client(&[allowing(&allowed), asking(server.address), roots]);
        let exchange = get(&trusting, &url).await;
        assert_eq!((exchange.outcome, &exchange.answer[..]), (answered(200), &b"hello"[..]));
        assert_eq!(get(&trusting, &other).await.outcome, unreachable("TLS: the certificate is for another name"));
        let wary = client(&[allowing(&allowed), asking(server.address)]);
        assert_eq!(get(&wary, &url).await.outcome, unreachable("TLS: the certificate is from an unknown authority"));
    }
    let plain = Peer::at("127.0.0.1:0", async |mut stream| {
        _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        read_request(&mut stream).await;
    })
    .await;
    let url = format!("https://127.0.0.1:{}/", plain.port());
    assert_eq!(get(&neighbour(plain.port()), &url).await.outcome, unreachable("TLS: the handshake failed"));
}

#[tokio::test]
async fn a_file_that_holds_no_roots_is_refused() {
    let settings = |file: &str| {
        let changed = [("BACKHAUL__OUTBOUND__EXTRA_ROOTS".to_owned(), file.to_owned())];
        Client::new(&Settings::load(None, changed.into_iter()).unwrap(), Clock::system())
    };
    for file in ["/nowhere.pem", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")] {
        let error = settings(file).err().unwrap().to_string();
        assert!(error.starts_with("outbound.extra_roots: "), "{error}");
    }
}

/// A listener inside, and one that may be called, both on the same port.
async fn inside_and_outside() -> (Peer, Peer) {
    let outside = Peer::answering("127.0.0.2:0", "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").await;
    let inside = Peer::answering(&format!("127.0.0.1:{}", outside.port()), &ok("secret")).await;
    (inside, outside)
}

#[tokio::test]
async fn a_name_that_leads_inside_is_not_followed() {
    let (inside, outside) = inside_and_outside().await;
    let port = inside.port();
    let names = [
        ("outside.test", vec![vec!["127.0.0.2"]]),
        ("inside.test", vec![vec!["127.0.0.1"]]),
        ("zero.test", vec![vec!["0.0.0.0"]]),
        ("mixed.test", vec![vec!["127.0.0.2", "127.0.0.1"]]),
        ("mixed-kinds.test", vec![vec!["127.0.0.2", "::1"]]),
        ("mapped.test", vec![vec!["::ffff:127.0.0.1"]]),
        ("metadata.test", vec![vec!["169.254.169.254"]]),
        ("changing.test", vec![vec!["127.0.0.2"], vec!["127.0.0.1"]]),
    ];
    let server = NameServer::knowing(names.clone()).await;
    // A listed name lifts the rules for scheme and port; only a listed network lifts the rule for the address.
    let allowed: Vec<String> = names.iter().map(|(name, _)| format!("{name}:{port}")).chain([format!("127.0.0.2:{port}")]).collect();
    let client = client(&[allowing(&allowed), asking(server.address)]);
    let call = async |name: &str| get(&client, &format!("http://{name}:{port}/")).await.outcome;
    let refused = Outcome::Refused(NAME_LEADS_INSIDE.to_owned());
    assert_eq!(call("outside.test").await, answered(200));
    assert_eq!(call("changing.test").await, answered(200));
    assert_eq!(outside.connections(), 2);
    for name in
        ["inside.test", "zero.test", "mixed.test", "mixed-kinds.test", "mapped.test", "metadata.test", "changing.test", "changing.test"]
    {
        assert_eq!(call(name).await, refused, "{name}");
    }
    assert_eq!(
        call("localhost").await,
        Outcome::Refused(
            "the URL must start with https://; plain http is called only at places that the setting outbound.allowed names".to_owned()
        )
    );
    assert_eq!(get(&client, "https://localhost/").await.outcome, refused);
    assert_eq!((inside.connections(), outside.connections()), (0, 2));
}

#[tokio::test]
async fn no_spelling_of_this_machine_is_called() {
    let inside = Peer::answering("127.0.0.1:0", &ok("secret")).await;
    let port = inside.port();
    let client = client(&[]);
    let mut tried = 0;
    for url in inside::urls(port) {
        let outcome = get(&client, &url).await.outcome;
        assert!(matches!(outcome, Outcome::Refused(_)), "{url}: {outcome:?}");
        tried += 1;
    }
    assert!(tried > 100);
    assert_eq!(inside.connections(), 0);
}

#[tokio::test]
async fn a_name_that_nobody_knows_or_answers_for_is_unreachable() {
    let server = NameServer::knowing([("empty.test", vec![vec![]])]).await;
    let client_of = |server| client(&[asking(server), ("OUTBOUND__CONNECT_TIMEOUT_MS", "200".to_owned())]);
    let client = client_of(server.address);
    for name in ["absent.test", "empty.test"] {
        assert_eq!(get(&client, &format!("https://{name}/")).await.outcome, unreachable("the name has no address"), "{name}");
    }
    let (_kept, silent) = NameServer::silent().await;
    assert_eq!(get(&client_of(silent), "https://hooks.test/").await.outcome, unreachable("connecting timed out"));
}
