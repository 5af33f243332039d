//! Malformed requests, and requests that two readers would read differently: none is worked on.

use futures::future::join_all;
use sandbox::raw_http2 as h2;
use sandbox::raw_http2::{END_HEADERS, END_STREAM, frame, header, request};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::attacker::Attacker;
use crate::node::listener::site::{Site, closes};

/// A request that is fine by itself. Whoever hides it in another one must not have it answered.
const HIDDEN: &str = "GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// A head for `POST /read`, which reads the body that follows.
fn post(headers: &str, body: &str) -> String {
    format!("POST /read HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n{body}")
}

/// A head for `GET /` with these headers.
fn get(headers: &str) -> String {
    format!("GET / HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n")
}

/// Requests of HTTP/1.1 that are to be refused.
fn of_http1() -> Vec<(&'static str, String)> {
    let chunked = |body: &str| post("Transfer-Encoding: chunked\r\n", body);
    let smuggled = format!("0\r\n\r\n{HIDDEN}");
    vec![
        ("bytes that are no HTTP", "\0\0\0\0\r\n\r\n".to_owned()),
        ("the first bytes of TLS", "\u{16}\u{3}\u{1}\0\u{5}hello\r\n\r\n".to_owned()),
        ("no target", "GET\r\n\r\n".to_owned()),
        ("no version", "GET /\r\n\r\n".to_owned()),
        ("a version that does not exist", "GET / HTTP/1.9\r\nHost: localhost\r\n\r\n".to_owned()),
        ("a version of its own", "GET / HTTP/3.0\r\nHost: localhost\r\n\r\n".to_owned()),
        ("a version in small letters", "GET / http/1.1\r\nHost: localhost\r\n\r\n".to_owned()),
        ("two blanks in the first line", "GET  / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned()),
        ("a method that is no token", "G<T / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned()),
        ("a target with a NUL", "GET /\0 HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned()),
        ("a target with a blank", "GET /a b HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned()),
        ("a target without a host", "GET http:// HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned()),
        ("no host", "GET / HTTP/1.1\r\n\r\n".to_owned()),
        ("two hosts", get("Host: elsewhere\r\n")),
        ("a host with a blank", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n".to_owned()),
        ("a host with a user", "GET / HTTP/1.1\r\nHost: user@localhost\r\n\r\n".to_owned()),
        ("a list of hosts", "GET / HTTP/1.1\r\nHost: localhost, elsewhere\r\n\r\n".to_owned()),
        ("another host than the target's", "GET http://localhost/ HTTP/1.1\r\nHost: elsewhere\r\n\r\n".to_owned()),
        ("a header without a colon", get("X-Odd\r\n")),
        ("a header without a name", get(": odd\r\n")),
        ("a header with a blank in its name", get("X Odd: odd\r\n")),
        ("a blank before the colon", get("Content-Length : 5\r\n")),
        ("a folded header", get("X-Odd: one\r\n two\r\n")),
        ("a header before the others, indented", "GET / HTTP/1.1\r\n X: y\r\nHost: localhost\r\n\r\n".to_owned()),
        ("a NUL in a header", get("X-Odd: o\0d\r\n")),
        ("a carriage return in a header", get("X-Odd: o\rd\r\n")),
        ("a control character in a name", get("X-\u{7}Odd: odd\r\n")),
        ("101 headers", get(&"x: y\r\n".repeat(101))),
        ("17 KiB of headers", get(&format!("x: {}\r\n", "y".repeat(17 * 1024)))),
        ("17 KiB of a target", format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "y".repeat(17 * 1024))),
        ("two lengths", post("Content-Length: 5\r\nContent-Length: 6\r\n", "abcdef")),
        ("a list of lengths", post("Content-Length: 5, 6\r\n", "abcdef")),
        ("a negative length", post("Content-Length: -5\r\n", "abcde")),
        ("a length with a plus", post("Content-Length: +5\r\n", "abcde")),
        ("a length in hexadecimal", post("Content-Length: 0x5\r\n", "abcde")),
        ("an empty length", post("Content-Length: \r\n", "abcde")),
        ("a length beyond all numbers", post("Content-Length: 99999999999999999999\r\n", "abcde")),
        ("chunks by another name", post("Transfer-Encoding: xchunked\r\n", &smuggled)),
        ("chunks that are not the last encoding", post("Transfer-Encoding: chunked, identity\r\n", &smuggled)),
        ("chunks twice", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", &smuggled)),
        ("chunks within an encoding that nobody reads", post("Transfer-Encoding: gzip, chunked\r\n", &smuggled)),
        ("no encoding as an encoding", post("Transfer-Encoding: identity\r\nContent-Length: 5\r\n", &smuggled)),
        ("chunks in HTTP/1.0", format!("POST /read HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n{smuggled}")),
        ("a chunk without a length", chunked("\r\nabc\r\n0\r\n\r\n")),
        ("a chunk with a negative length", chunked("-3\r\nabc\r\n0\r\n\r\n")),
        ("a chunk with a prefix", chunked("0x3\r\nabc\r\n0\r\n\r\n")),
        ("a chunk of letters", chunked("xyz\r\nabc\r\n0\r\n\r\n")),
        ("a chunk beyond all numbers", chunked("fffffffffffffffff\r\nabc\r\n0\r\n\r\n")),
        ("a chunk that is longer than its length", chunked("3\r\nabcdef\r\n0\r\n\r\n")),
        ("a chunk with a line feed alone", chunked("3\nabc\r\n0\r\n\r\n")),
        ("chunks with endless extensions", chunked(&format!("3;{}\r\nabc\r\n0\r\n\r\n", "x".repeat(64 * 1024)))),
        ("endless trailers", chunked(&format!("0\r\n{}\r\n", "x: y\r\n".repeat(20_000)))),
        ("a tunnel", "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n".to_owned()),
        ("a trace", "TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned()),
        ("the server itself", "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned()),
    ]
}

/// A site that soon closes connections on which nothing happens.
async fn site() -> Site {
    Site::plain(&[("HTTP__HEAD_TIMEOUT_MS", "3000"), ("HTTP__IDLE_TIMEOUT_MS", "500")]).await
}

/// Sends bytes and reads until the server closes the connection.
async fn answers(site: &Site, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(site.address).await.unwrap();
    let _ = stream.write_all(bytes).await;
    String::from_utf8_lossy(&closes(&mut stream).await).into_owned()
}

#[tokio::test]
async fn malformed_requests_of_http1_are_refused() {
    let site = site().await;
    let sound = answers(&site, post("Content-Length: 3\r\n", "abc").as_bytes()).await;
    assert!(sound.starts_with("HTTP/1.1 200 ") && sound.ends_with("read 3"), "the list is about what is malformed: {sound}");
    let requests = of_http1();
    assert!(requests.len() >= 40, "{}", requests.len());
    let answers = join_all(requests.iter().map(|(_, request)| answers(&site, request.as_bytes()))).await;
    let taken: Vec<String> = requests
        .iter()
        .zip(&answers)
        .filter(|(_, answer)| {
            answer.contains("hidden") || answer.lines().any(|line| line.starts_with("HTTP/1.1 ") && !line.starts_with("HTTP/1.1 4"))
        })
        .map(|((what, _), answer)| format!("{what}: {answer}"))
        .collect();
    assert!(taken.is_empty(), "{} of {} were taken:\n{}", taken.len(), requests.len(), taken.join("\n"));
}

#[tokio::test]
async fn nothing_follows_a_request_that_two_readers_may_read_differently() {
    let site = site().await;
    // The protocol's reader drops the length and goes by the chunks, as it may. A proxy in front may have gone by the length.
    for both in ["Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"] {
        let answer = answers(&site, post(both, &format!("0\r\n\r\n{HIDDEN}")).as_bytes()).await;
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
        assert!(!answer.contains("hidden"), "{answer}");
    }
    let mut stream = TcpStream::connect(site.address).await.unwrap();
    stream.write_all(post("Content-Length: 50\r\n", "abc").as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let answer = String::from_utf8(closes(&mut stream).await).unwrap();
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "a body that ends early: {answer}");
}

/// What an attacker sends after the opening of HTTP/2.
fn of_http2() -> Vec<(&'static str, Vec<u8>)> {
    let asks = |block: &[u8]| frame(h2::HEADERS, END_HEADERS | END_STREAM, 1, block);
    let with = |name: &str, value: &[u8]| asks(&[request("GET", "/", &[]), header(name.as_bytes(), value)].concat());
    let of = |headers: &[(&str, &str)]| {
        asks(&headers.iter().flat_map(|(name, value)| header(name.as_bytes(), value.as_bytes())).collect::<Vec<u8>>())
    };
    let setting = |name: u16, value: u32| frame(h2::SETTINGS, 0, 0, &[&name.to_be_bytes()[..], &value.to_be_bytes()].concat());
    let open = |stream| frame(h2::HEADERS, 0, stream, &request("GET", "/", &[]));
    vec![
        ("a frame beyond the largest", [&[0xff, 0xff, 0xff, h2::DATA, 0, 0, 0, 0, 1][..], &[0; 1024]].concat()),
        ("data for the connection", frame(h2::DATA, 0, 0, b"abc")),
        ("data for a stream that is not open", frame(h2::DATA, 0, 5, b"abc")),
        ("headers for the connection", frame(h2::HEADERS, END_HEADERS | END_STREAM, 0, &request("GET", "/", &[]))),
        ("a stream of the server's", frame(h2::HEADERS, END_HEADERS | END_STREAM, 2, &request("GET", "/", &[]))),
        ("half a setting", frame(h2::SETTINGS, 0, 0, &[0, 1, 0])),
        ("settings of a stream", frame(h2::SETTINGS, 0, 1, &[])),
        ("an acknowledgement with settings", frame(h2::SETTINGS, h2::ACK, 0, &[0, 1, 0, 0, 0, 0])),
        ("pushes that are neither on nor off", setting(2, 2)),
        ("a window beyond the largest", setting(4, 0x8000_0000)),
        ("frames below the smallest", setting(5, 1)),
        ("a window that grows by nothing", frame(h2::WINDOW_UPDATE, 0, 0, &[0; 4])),
        ("a window that grows beyond the largest", frame(h2::WINDOW_UPDATE, 0, 0, &0x7fff_ffff_u32.to_be_bytes())),
        ("half a window", frame(h2::WINDOW_UPDATE, 0, 0, &[0, 1])),
        ("a short ping", frame(h2::PING, 0, 0, &[0; 7])),
        ("a ping of a stream", frame(h2::PING, 0, 1, &[0; 8])),
        ("a reset of the connection", frame(h2::RST_STREAM, 0, 0, &[0; 4])),
        ("a reset of a stream that is not open", frame(h2::RST_STREAM, 0, 7, &[0; 4])),
        ("a short reset", frame(h2::RST_STREAM, 0, 1, &[0; 3])),
        ("a short priority", frame(h2::PRIORITY, 0, 1, &[0; 4])),
        ("a promise of the client's", frame(h2::PUSH_PROMISE, END_HEADERS, 1, &[0, 0, 0, 2])),
        ("a continuation of nothing", frame(h2::CONTINUATION, END_HEADERS, 1, &request("GET", "/", &[]))),
        ("a frame within headers", [open(1), frame(h2::PING, 0, 0, &[0; 8])].concat()),
        ("headers of another stream within headers", [open(1), open(3)].concat()),
        ("a continuation of another stream", [open(1), frame(h2::CONTINUATION, END_HEADERS, 3, &[])].concat()),
        ("an entry that no table has", asks(&[0xff, 0x80, 0x01])),
        ("a number that does not end", asks(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])),
        ("a table beyond the largest", asks(&[0x3f, 0xff, 0xff, 0x7f])),
        ("a text that ends early", asks(&[0, 5, b'x'])),
        ("padding longer than the frame", frame(h2::HEADERS, END_HEADERS | END_STREAM | 8, 1, &[200, 0x82])),
        ("a name in capitals", with("X-Odd", b"odd")),
        ("a name with a blank", with("x odd", b"odd")),
        ("an empty name", with("", b"odd")),
        ("a line end in a value", with("x-odd", b"odd\r\nhost: elsewhere")),
        ("a NUL in a value", with("x-odd", b"o\0d")),
        ("a connection that is kept", with("connection", b"keep-alive")),
        ("chunks", with("transfer-encoding", b"chunked")),
        ("an upgrade", with("upgrade", b"h2c")),
        ("encodings that trailers do not have", with("te", b"gzip")),
        (
            "a pseudo-header after others",
            of(&[(":method", "GET"), (":scheme", "http"), ("x-odd", "odd"), (":path", "/"), (":authority", "localhost")]),
        ),
        ("an unknown pseudo-header", with(":odd", b"odd")),
        ("the pseudo-header of answers", with(":status", b"200")),
        ("two methods", of(&[(":method", "GET"), (":method", "POST"), (":scheme", "http"), (":path", "/"), (":authority", "localhost")])),
        ("two paths", of(&[(":method", "GET"), (":scheme", "http"), (":path", "/"), (":path", "/hidden"), (":authority", "localhost")])),
        ("no method", of(&[(":scheme", "http"), (":path", "/"), (":authority", "localhost")])),
        ("no path", of(&[(":method", "GET"), (":scheme", "http"), (":authority", "localhost")])),
        ("no scheme", of(&[(":method", "GET"), (":path", "/"), (":authority", "localhost")])),
        ("an empty path", of(&[(":method", "GET"), (":scheme", "http"), (":path", ""), (":authority", "localhost")])),
        ("a path with a blank", of(&[(":method", "GET"), (":scheme", "http"), (":path", "/a b"), (":authority", "localhost")])),
        ("no host at all", of(&[(":method", "GET"), (":scheme", "http"), (":path", "/")])),
        ("another host than the authority", with("host", b"elsewhere")),
        ("two hosts", of(&[(":method", "GET"), (":scheme", "http"), (":path", "/"), ("host", "localhost"), ("host", "elsewhere")])),
        ("a length that is no number", with("content-length", b"+5")),
        (
            "a body that is longer than its length",
            [
                frame(h2::HEADERS, END_HEADERS, 1, &request("POST", "/read", &[("content-length", "2")])),
                frame(h2::DATA, END_STREAM, 1, b"abcdef"),
            ]
            .concat(),
        ),
        (
            "a body that is shorter than its length",
            [
                frame(h2::HEADERS, END_HEADERS, 1, &request("POST", "/read", &[("content-length", "20")])),
                frame(h2::DATA, END_STREAM, 1, b"abcdef"),
            ]
            .concat(),
        ),
        (
            "streams that count backwards",
            [
                frame(h2::HEADERS, END_HEADERS, 5, &request("POST", "/read", &[])),
                frame(h2::HEADERS, END_HEADERS, 3, &request("POST", "/read", &[])),
            ]
            .concat(),
        ),
        ("101 headers", asks(&[request("GET", "/", &[]), header(b"x", b"y").repeat(101)].concat())),
        ("a flood of continuations", [open(1), frame(h2::CONTINUATION, 0, 1, &header(b"x", b"y")).repeat(100_000)].concat()),
        ("a flood of empty continuations", [open(1), frame(h2::CONTINUATION, 0, 1, &[]).repeat(100_000)].concat()),
        ("a header that is repeated from the table", {
            // One literal of 4,000 bytes enters the table, and one byte each repeats it.
            let literal = [&[0x40][..], &header(b"x-bomb", &[b'y'; 4_000])[1..]].concat();
            asks(&[request("GET", "/", &[]), literal, vec![0xbe; 12_000]].concat())
        }),
    ]
}

/// Sends bytes after the opening of HTTP/2 and tells how the first request was answered: by its status if it begins with 2, or
/// by nothing.
async fn taken(site: &Site, bytes: &[u8]) -> Option<String> {
    let mut attacker = Attacker::connect(&site.address.to_string()).await;
    attacker.sends(bytes).await;
    while let Some(frame) = attacker.reads().await {
        match frame.kind {
            // Entries 8 to 10 of the table are statuses of success.
            h2::HEADERS if matches!(frame.payload.first(), Some(0x88..=0x8a)) => return Some(format!("{frame:?}")),
            h2::HEADERS | h2::RST_STREAM if frame.stream > 0 => return None,
            _ => {}
        }
    }
    None
}

#[tokio::test]
async fn malformed_requests_of_http2_are_refused() {
    let site = site().await;
    let sound = frame(h2::HEADERS, END_HEADERS | END_STREAM, 1, &request("GET", "/", &[]));
    assert!(taken(&site, &sound).await.is_some(), "the list is about what is malformed");
    let requests = of_http2();
    assert!(requests.len() >= 40, "{}", requests.len());
    let answers = join_all(requests.iter().map(|(_, bytes)| taken(&site, bytes))).await;
    let taken: Vec<String> =
        requests.iter().zip(answers).filter_map(|((what, _), answer)| answer.map(|answer| format!("{what}: {answer}"))).collect();
    assert!(taken.is_empty(), "{} of {} were taken:\n{}", taken.len(), requests.len(), taken.join("\n"));
    site.holds(0).await;
}
