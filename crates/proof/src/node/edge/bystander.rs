//! A caller who has nothing to do with the attack.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::meter::percentile;

/// The time between two calls.
const EVERY: Duration = Duration::from_millis(10);
/// The longest that the caller waits for an answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// A caller who asks for an order again and again.
pub(super) struct Bystander {
    ended: Arc<AtomicBool>,
    calling: JoinHandle<anyhow::Result<Told>>,
}

/// What the caller saw.
pub(super) struct Told {
    pub(super) calls: usize,
    /// Calls with another answer than the right one.
    pub(super) failed: usize,
    pub(super) p99_ms: f64,
}

impl Bystander {
    /// Starts to call, over one connection.
    pub(super) fn start(address: SocketAddr, token: &str) -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let calling = tokio::spawn(call(address, format!("Bearer {token}"), ended.clone()));
        Self { ended, calling }
    }

    /// Ends after this time.
    pub(super) async fn ends_after(self, time: Duration) -> anyhow::Result<Told> {
        tokio::time::sleep(time).await;
        self.ends().await
    }

    /// Ends now.
    pub(super) async fn ends(self) -> anyhow::Result<Told> {
        self.ended.store(true, Ordering::SeqCst);
        self.calling.await?
    }
}

async fn call(address: SocketAddr, authorization: String, ended: Arc<AtomicBool>) -> anyhow::Result<Told> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let (mut times, mut failed, mut turns) = (Vec::new(), 0, tokio::time::interval(EVERY));
    while !ended.load(Ordering::SeqCst) {
        turns.tick().await;
        let asked = hyper::Request::get("/v1/orders/nothing").header("host", "localhost").header("authorization", &authorization);
        let asked = asked.body(Empty::<Bytes>::new())?;
        let began = Instant::now();
        let answer = tokio::time::timeout(PATIENCE, async {
            let answer = sender.send_request(asked).await?;
            let status = answer.status().as_u16();
            answer.into_body().collect().await?;
            Ok::<_, hyper::Error>(status)
        });
        // There is no such order.
        failed += usize::from(!matches!(answer.await, Ok(Ok(404))));
        times.push(u32::try_from(began.elapsed().as_micros()).unwrap_or(u32::MAX));
    }
    times.sort_unstable();
    Ok(Told { calls: times.len(), failed, p99_ms: percentile(&times, 0.99) })
}
