//! Sends requests to the service, several at a time, and keeps the answers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context as _, bail};

use crate::orders::load::Connection;

/// The field that names a return in an answer.
const NAMED: &str = r#""rma_identifier":""#;

/// The answers to requests.
pub(super) struct Answers {
    /// The latencies in microseconds, sorted.
    pub(super) latencies: Vec<u32>,
    /// The identifier of the return that each answer names, in the order of the requests.
    named: Vec<Option<String>>,
}

impl Answers {
    /// The identifiers of the returns that the answers name, in the order of the requests.
    pub(super) fn identifiers(self) -> anyhow::Result<Vec<String>> {
        self.named.into_iter().map(|named| named.context("an answer does not name its return")).collect()
    }
}

/// Sends all requests, `callers` at a time, each on a connection that is kept. Fails on an answer with another status.
pub(super) async fn send(address: SocketAddr, requests: Vec<Vec<u8>>, callers: usize, expected: u16) -> anyhow::Result<Answers> {
    let (requests, next) = (Arc::new(requests), Arc::new(AtomicUsize::new(0)));
    let tasks: Vec<_> = (0..callers).map(|_| tokio::spawn(call(address, Arc::clone(&requests), Arc::clone(&next), expected))).collect();
    let mut answers = Answers { latencies: Vec::with_capacity(requests.len()), named: vec![None; requests.len()] };
    for task in tasks {
        for (at, latency, named) in task.await?? {
            answers.latencies.push(latency);
            if let Some(place) = answers.named.get_mut(at) {
                *place = named;
            }
        }
    }
    answers.latencies.sort_unstable();
    Ok(answers)
}

/// The answers of one caller: the number of the request, its latency, and the return that the answer names.
async fn call(
    address: SocketAddr,
    requests: Arc<Vec<Vec<u8>>>,
    next: Arc<AtomicUsize>,
    expected: u16,
) -> anyhow::Result<Vec<(usize, u32, Option<String>)>> {
    let mut connection = Connection::open(address).await.context("the service does not accept a connection")?;
    let mut answered = Vec::new();
    loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        let Some(request) = requests.get(at) else { return Ok(answered) };
        let sent = Instant::now();
        let status = connection.exchange(request).await.context("a connection broke")?;
        if status != expected {
            bail!("request {at} was answered with {status}: {}", String::from_utf8_lossy(connection.body()));
        }
        let latency = u32::try_from(sent.elapsed().as_micros()).unwrap_or(u32::MAX);
        answered.push((at, latency, named(connection.body())));
    }
}

/// The return that an answer names first. A search is cheaper than parsing the answer, and the generator shares the machine.
fn named(body: &[u8]) -> Option<String> {
    let body = std::str::from_utf8(body).ok()?;
    let (_, rest) = body.split_once(NAMED)?;
    rest.split_once('"').map(|(identifier, _)| identifier.to_owned())
}
