//! Callers with a steady rate that keep their connections open, over HTTP/1.1 or HTTP/2.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::time::MissedTickBehavior;

use crate::orders::load::Connection;
use crate::orders::order::{MERCHANTS, Request};
use crate::stage::Stage;

/// The longest that a caller waits for an answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// The answers that callers got.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) accepted: AtomicU64,
    /// Requests without a whole answer.
    pub(crate) resets: AtomicU64,
    pub(crate) server_errors: AtomicU64,
    /// Any other answer but 200.
    pub(crate) refused: AtomicU64,
    /// Connections that were opened.
    pub(crate) connections: AtomicU64,
}

impl Seen {
    fn count(&self, status: Option<u16>) {
        let count = match status {
            Some(200) => &self.accepted,
            Some(500..) => &self.server_errors,
            Some(_) => &self.refused,
            None => &self.resets,
        };
        count.fetch_add(1, Ordering::SeqCst);
    }
}

/// The way to the service and the pace of a caller.
#[derive(Clone)]
pub(crate) struct Route {
    pub(crate) stage: Arc<Stage>,
    pub(crate) address: SocketAddr,
    pub(crate) every: Duration,
    pub(crate) seen: Arc<Seen>,
    pub(crate) ended: Arc<AtomicBool>,
}

impl Route {
    /// Calls over HTTP/1.1 until the run ends. It opens a new connection when the service says `Connection: close` or has closed
    /// the old one, as every client does.
    pub(crate) async fn call(self, caller: u64) {
        let mut request = Request::new(1, self.stage.tokens.first().map_or(0, String::len));
        let mut kept: Option<Connection> = None;
        let mut turns = self.turns();
        let mut turn = 0;
        while !self.ended.load(Ordering::SeqCst) {
            turns.tick().await;
            turn += 1;
            let open = match kept.take().filter(|connection| !connection.is_closed()) {
                Some(connection) => Some(connection),
                None => self.open().await,
            };
            let Some(mut connection) = open else {
                self.seen.count(None);
                continue;
            };
            let number = caller * MERCHANTS * 10_000 + turn;
            let status = connection.exchange(request.fill(self.stage.token(number), std::iter::once(number), turn)).await;
            self.seen.count(status);
            kept = status.is_some_and(|_| !connection.closes()).then_some(connection);
        }
    }

    async fn open(&self) -> Option<Connection> {
        self.seen.connections.fetch_add(1, Ordering::SeqCst);
        Connection::open(self.address).await
    }

    /// Calls over HTTP/2 until the run ends. A request that the client could not send any more goes over a new connection.
    pub(crate) async fn call_http2(self, caller: u64) {
        let mut kept: Option<http2::SendRequest<Full<Bytes>>> = None;
        let mut turns = self.turns();
        let mut turn = 0;
        while !self.ended.load(Ordering::SeqCst) {
            turns.tick().await;
            turn += 1;
            let number = caller * MERCHANTS * 10_000 + turn;
            let status = tokio::time::timeout(PATIENCE, self.exchange_http2(&mut kept, number, turn)).await.ok().flatten();
            self.seen.count(status);
        }
    }

    async fn exchange_http2(&self, kept: &mut Option<http2::SendRequest<Full<Bytes>>>, number: u64, turn: u64) -> Option<u16> {
        let body = format!(r#"{{"returns_portal_order":{{"orders":[{}]}}}}"#, crate::orders::order::text(number, turn));
        let request = hyper::Request::post("http://localhost/returns_portal_orders")
            .header("authorization", format!("Bearer {}", self.stage.token(number)))
            .header("content-type", "application/json");
        let mut request = request.body(Full::from(body)).ok()?;
        loop {
            let mut sender = match kept.take().filter(|sender| !sender.is_closed()) {
                Some(sender) => sender,
                None => self.open_http2().await?,
            };
            if sender.ready().await.is_err() {
                continue;
            }
            match sender.try_send_request(request).await {
                Ok(answer) => {
                    let status = answer.status().as_u16();
                    answer.into_body().collect().await.ok()?;
                    *kept = Some(sender);
                    return Some(status);
                }
                // The connection was closing, and nothing of the request was sent.
                Err(mut error) => request = error.take_message()?,
            }
        }
    }

    async fn open_http2(&self) -> Option<http2::SendRequest<Full<Bytes>>> {
        self.seen.connections.fetch_add(1, Ordering::SeqCst);
        let stream = TcpStream::connect(self.address).await.ok()?;
        stream.set_nodelay(true).ok()?;
        let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.ok()?;
        tokio::spawn(connection);
        Some(sender)
    }

    /// The moments at which it calls. After a slow answer it catches up, so that the rate stays.
    fn turns(&self) -> tokio::time::Interval {
        let mut turns = tokio::time::interval(self.every);
        turns.set_missed_tick_behavior(MissedTickBehavior::Burst);
        turns
    }
}
