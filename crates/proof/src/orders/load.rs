//! The load generator: connections that send requests and read responses with as little CPU as possible.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::meter::of;
use crate::orders::order::Request;

/// The requests to send.
#[derive(Clone)]
pub(crate) struct Load {
    pub(crate) connections: usize,
    /// Orders per request.
    pub(crate) orders: usize,
    pub(crate) duration: Duration,
    /// Order numbers are drawn from 0 up to this.
    pub(crate) numbers: u64,
}

/// The result of a load.
#[derive(Default)]
pub(crate) struct Outcome {
    /// Requests answered with 200.
    pub(crate) accepted: u64,
    /// Requests answered with anything else, or not at all.
    pub(crate) refused: u64,
    /// Latencies of accepted requests, in microseconds, sorted.
    pub(crate) latencies: Vec<u32>,
    pub(crate) elapsed: Duration,
}

impl Outcome {
    /// Accepted requests per second.
    #[expect(clippy::cast_precision_loss, reason = "counts of a run are small")]
    pub(crate) fn rate(&self) -> f64 {
        self.accepted as f64 / self.elapsed.as_secs_f64()
    }
}

/// The time of the last update that orders are sent with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Times {
    /// Always the same, so that the content decides whether an order has changed.
    Same,
    /// Later than before, as systems of merchants do.
    Later,
}

/// Sends `load` to the service at `address`, as fast as it is answered. All orders of a request belong to one merchant.
pub(crate) async fn drive(address: SocketAddr, tokens: &Arc<Vec<String>>, load: &Load, seed: u64) -> Outcome {
    drive_every(address, tokens, load, seed, Duration::ZERO).await
}

/// The same, with this time between the requests of a connection. Requests that are late are sent as soon as possible.
pub(crate) async fn drive_every(address: SocketAddr, tokens: &Arc<Vec<String>>, load: &Load, seed: u64, every: Duration) -> Outcome {
    drive_at(address, tokens, load, seed, every, Times::Same).await
}

/// The same, with orders that were last updated at these times.
pub(crate) async fn drive_at(
    address: SocketAddr,
    tokens: &Arc<Vec<String>>,
    load: &Load,
    seed: u64,
    every: Duration,
    times: Times,
) -> Outcome {
    let started = Instant::now();
    let drivers: Vec<_> = (0..load.connections)
        .map(|at| {
            // Connections take turns.
            let first = started + every.mul_f64(of(at) / of(load.connections));
            tokio::spawn(connection(address, tokens.clone(), load.clone(), (started, first, every), seed * 1_000 + at as u64, times))
        })
        .collect();
    let mut outcome = Outcome::default();
    for driver in drivers {
        let part = driver.await.unwrap_or_default();
        outcome.accepted += part.accepted;
        outcome.refused += part.refused;
        outcome.latencies.extend(part.latencies);
    }
    outcome.elapsed = started.elapsed();
    outcome.latencies.sort_unstable();
    outcome
}

async fn connection(
    address: SocketAddr,
    tokens: Arc<Vec<String>>,
    load: Load,
    (started, first, every): (Instant, Instant, Duration),
    seed: u64,
    times: Times,
) -> Outcome {
    let mut due = first;
    let mut outcome = Outcome::default();
    let mut rng = StdRng::seed_from_u64(seed);
    let merchants = tokens.len() as u64;
    let mut request = Request::new(load.orders, tokens.first().map_or(0, String::len));
    let mut stream: Option<Connection> = None;
    while started.elapsed() < load.duration {
        if due > Instant::now() {
            tokio::time::sleep_until(due.into()).await;
        }
        due += every;
        let connected = match stream.take() {
            Some(stream) => Some(stream),
            None => Connection::open(address).await,
        };
        let Some(connected) = connected else {
            outcome.refused += 1;
            tokio::time::sleep(Duration::from_millis(5)).await;
            continue;
        };
        let stream_now = stream.insert(connected);
        let merchant = rng.random_range(0..merchants);
        let numbers = (0..load.orders).map(|_| rng.random_range(0..load.numbers / merchants) * merchants + merchant).collect::<Vec<_>>();
        let token = usize::try_from(merchant).ok().and_then(|at| tokens.get(at)).map_or("", String::as_str);
        if times == Times::Later {
            request.update(u64::try_from(started.elapsed().as_micros()).unwrap_or_default());
        }
        let bytes = request.fill(token, numbers.into_iter(), rng.random_range(0..1_000_000_000));
        let sent = Instant::now();
        match stream_now.exchange(bytes).await {
            Some(200) => {
                outcome.accepted += 1;
                outcome.latencies.push(u32::try_from(sent.elapsed().as_micros()).unwrap_or(u32::MAX));
            }
            Some(_) => outcome.refused += 1,
            None => {
                outcome.refused += 1;
                stream = None;
            }
        }
    }
    outcome
}

/// A connection with a minimal HTTP client.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Option<Self> {
        let stream = tokio::time::timeout(Duration::from_secs(5), TcpStream::connect(address)).await.ok()?.ok()?;
        stream.set_nodelay(true).ok()?;
        Some(Self { stream, buffer: Vec::with_capacity(16 * 1024) })
    }

    /// Sends a request, reads the whole response and returns its status. `None` if the connection broke.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> Option<u16> {
        self.exchange_within(request, Duration::from_secs(20)).await
    }

    /// Like [`Self::exchange`], with another timeout.
    pub(crate) async fn exchange_within(&mut self, request: &[u8], within: Duration) -> Option<u16> {
        tokio::time::timeout(within, self.exchange_now(request)).await.ok()?
    }

    /// The body of the last response.
    pub(crate) fn body(&self) -> &[u8] {
        let head = self.buffer.windows(4).position(|window| window == b"\r\n\r\n").map_or(0, |at| at + 4);
        self.buffer.get(head..).unwrap_or_default()
    }

    /// The head of the last response.
    pub(crate) fn head(&self) -> &[u8] {
        self.buffer.get(..self.buffer.len() - self.body().len()).unwrap_or_default()
    }

    /// True if the last response said that the connection closes.
    pub(crate) fn closes(&self) -> bool {
        self.head().windows(19).any(|line| line == b"\r\nconnection: close")
    }

    /// True if the other end has closed the connection since.
    pub(crate) fn is_closed(&self) -> bool {
        !matches!(self.stream.try_read(&mut [0]), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
    }

    async fn exchange_now(&mut self, request: &[u8]) -> Option<u16> {
        self.stream.write_all(request).await.ok()?;
        self.buffer.clear();
        loop {
            if self.stream.read_buf(&mut self.buffer).await.ok()? == 0 {
                return None;
            }
            if let Some((status, length)) = answer(&self.buffer)
                && self.buffer.len() >= length
            {
                return Some(status);
            }
        }
    }
}

/// The status and the total length of the response, once its head has arrived.
fn answer(bytes: &[u8]) -> Option<(u16, usize)> {
    let head = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(bytes.get(..head)?).ok()?;
    let status = text.split(' ').nth(1)?.parse().ok()?;
    let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")).and_then(|length| length.trim().parse::<usize>().ok());
    Some((status, head + length.unwrap_or_default()))
}
