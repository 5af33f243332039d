//! Metrics: no caller can make them grow.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use backhaul::http::console::guards;
use reqwest::Method;
use sandbox::merchant::Answer;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::attacker::{address, memory};
use crate::node::listener::site::soon;
use crate::world::World;
use crate::world::receiver::PATH;

/// Made-up methods, in all and on one connection.
const METHODS: usize = 100_000;
const CONNECTIONS: usize = 4;
const AT_ONCE: usize = 100;

/// Sends `count` requests over one connection, each with a method of its own, and counts the answers.
async fn invents_methods(base: String, first: usize, count: usize) {
    let stream = TcpStream::connect(address(&base)).await.unwrap();
    let (mut reading, mut writing) = stream.into_split();
    let mut buffer = vec![0; 256 * 1024];
    for batch in (first..first + count).step_by(AT_ONCE) {
        let mut requests = String::new();
        for method in batch..batch + AT_ONCE {
            write!(requests, "MADE-UP-{method} / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        }
        writing.write_all(requests.as_bytes()).await.unwrap();
        let (mut answers, mut carried) = (0, Vec::new());
        while answers < AT_ONCE {
            let read = soon(reading.read(&mut buffer)).await.unwrap();
            assert_ne!(read, 0, "the connection is kept");
            carried.extend_from_slice(&buffer[..read]);
            answers += memchr::memmem::find_iter(&carried, b"HTTP/1.1 4").count();
            // The beginning of an answer, of ten bytes, may be split over two reads.
            carried.drain(..carried.len().saturating_sub(9));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn made_up_methods_grow_neither_memory_nor_metrics() {
    let world = World::new().await;
    let all_send = async |first: usize, count: usize| {
        let each = count / CONNECTIONS;
        let senders = (0..CONNECTIONS).map(|at| tokio::spawn(invents_methods(world.base.clone(), first + at * each, each)));
        for sender in senders.collect::<Vec<_>>() {
            sender.await.unwrap();
        }
    };
    // What grows once, grows now: buffers, and the first lines of the metrics.
    all_send(0, 4_000).await;
    let page = async || world.admin("/metrics").await.1.lines().count();
    let (lines, taken) = (page().await, memory());
    all_send(4_000, METHODS).await;
    assert_eq!(page().await, lines, "{METHODS} methods are one label");
    let grown = memory().saturating_sub(taken) / 1024 / 1024;
    assert!(grown < 12, "{grown} MiB for {METHODS} methods");
    let counted =
        [404, 405, 429].map(|status| format!(r#"backhaul_http_requests_total{{route="unmatched",method="other",status="{status}"}}"#));
    let mut sum = 0;
    for line in &counted {
        sum += world.metric(line).await;
    }
    assert_eq!(sum, 104_000);
}

/// The text of every source file of the HTTP interface.
fn sources() -> String {
    fn read(directory: &Path, text: &mut String) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                read(&path, text);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                text.push_str(&std::fs::read_to_string(path).unwrap());
            }
        }
    }
    let mut text = String::new();
    read(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/http")), &mut text);
    text
}

/// True if the label can only take values of a closed set, and this is one of them.
fn is_closed(sources: &str, name: &str, value: &str) -> bool {
    let word = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    match name {
        "route" => value == "unmatched" || guards().iter().any(|guard| guard.path == value) || sources.contains(&format!("\"{value}\"")),
        "method" => ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other"].contains(&value),
        "status" => ["2xx", "3xx", "4xx", "5xx"].contains(&value) || value.parse().is_ok_and(|status: u16| (100..600).contains(&status)),
        "surface" => ["portal", "console"].contains(&value),
        "outcome" => {
            ["timed out", "unreachable", "refused", "other"].contains(&value)
                || value.parse().is_ok_and(|status: u16| (100..600).contains(&status))
        }
        // These are `&'static str` in their types, so they are written in the sources.
        "result" | "reason" | "interface" | "step" => word(value),
        "event" => value.split('.').all(word),
        // The names in the settings.
        "cell" => ["b", "c"].contains(&value),
        "version" => value == env!("CARGO_PKG_VERSION"),
        "le" => value == "+Inf" || value.parse::<f64>().is_ok(),
        _ => false,
    }
}

#[tokio::test]
async fn every_label_has_a_closed_set_of_values() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let receiver = world.receiver("other").await;
    receiver.systems.answer(PATH, Answer::status(799));
    receiver.is_owed("R-1", 1).await;
    world.deliver_all_due().await;
    for method in ["GET", "BREW", "get", "PROPFIND"] {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        for base in [&world.base, &world.portal, &world.console] {
            for path in ["/", "/nowhere/at/all", "/openapi.json", "/v1/orders/made-up", "/r/made-up", "/r/made-up/withdraw", "/sign-in"] {
                let asked = world.client.request(method.clone(), format!("{base}{path}")).header("X-Made-Up", "value");
                asked.send().await.unwrap();
            }
        }
    }
    merchant.publishes_text("nonsense").await;
    let (_, page) = world.admin("/metrics").await;
    let sources = sources();
    let mut names = BTreeSet::new();
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        let Some((_, labels)) = line.split_once('{') else { continue };
        let (labels, _) = labels.rsplit_once('}').unwrap();
        for label in labels.split("\",") {
            let (name, value) = label.trim_end_matches('"').split_once("=\"").unwrap();
            assert!(
                is_closed(&sources, name, value),
                "the label {name} has the value {value:?} in {line}: declare its values, and bound them"
            );
            names.insert(name.to_owned());
        }
    }
    // Nothing is labelled with the first cell.
    names.remove("cell");
    let expected = ["event", "interface", "le", "method", "outcome", "reason", "result", "route", "status", "step", "surface", "version"];
    assert_eq!(names.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}
