//! The accept loop: HTTP/1.1 and HTTP/2, plain or over TLS, with a deadline on everything a client does, limits on the number of
//! connections, and a graceful shutdown.
//!
//! - `connection_limit.rs` limits the connections, in all and by address; `presence.rs` says which may give way.
//! - `deadlines.rs` knows what a connection is waiting for, and until when.
//! - `explained.rs` gives hyper's own answers to unreadable heads a body; `plain_head.rs` refuses heads that can be read in two ways.
//! - `unread.rs` reads the rest of a body that an early answer left, or has the answer say that the connection closes.
//! - `stream.rs` and `answer.rs` report the traffic of a connection to its deadlines.

mod answer;
mod connection_limit;
mod deadlines;
mod explained;
mod plain_head;
mod presence;
mod stream;
mod unread;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Version, header};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt as _;
use uuid::Uuid;

use self::answer::Answer;
use self::connection_limit::ConnectionLimit;
use self::deadlines::{Deadlines, Overdue, PORTION};
use self::explained::Explained;
pub(super) use self::presence::Presence;
use self::stream::Observed;
use self::unread::Unread;
use super::error::{ApiError, ErrorFormat};
use super::size::{HEAD_BYTES, MOST_HEADERS};
use crate::platform::client_certificate::ClientCertificate;
use crate::platform::config::Http;
use crate::platform::entropy::Entropy;
use crate::platform::metrics::{Connections, ReasonLabels};

/// The address at the other end of the connection; every request carries it as an extension.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);

/// The other end of a connection.
type Caller = (Peer, Presence);

/// The largest HTTP/2 head that is read at all: one above the limit is read, so that its answer can say why it is refused.
const MOST_HEAD_BYTES: u32 = 4 * 16 * 1024;
/// The most concurrent requests on an HTTP/2 connection.
const MOST_STREAMS: u32 = 100;

/// Browsers that have seen this come back over HTTPS only. Subdomains are not ours to decide about: merchants' host names are
/// among those that we answer for.
const FOR_A_YEAR: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// The settings and limits of a listener, shared by its connections.
pub struct Door {
    limits: Http,
    connection_limit: ConnectionLimit,
    tls: Option<TlsAcceptor>,
    counts: Connections,
    protocol: Builder<TokioExecutor>,
    /// For the ids of requests that never reach the router.
    entropy: Entropy,
    /// Callers reach this listener over HTTPS: it has a certificate, or a proxy in front of it has.
    is_https: bool,
}

impl Door {
    /// For trusted networks: plain HTTP without a connection limit. Deadlines apply all the same.
    #[must_use]
    pub fn open(limits: &Http, entropy: &Entropy) -> Self {
        let counts = Connections::default();
        Self::new(limits, entropy, ConnectionLimit::unlimited(counts.clone()), None, counts)
    }

    /// For the internet: HTTPS if `tls` is given, with limited connections, counted in `counts`.
    #[must_use]
    pub fn public(limits: &Http, entropy: &Entropy, tls: Option<Arc<ServerConfig>>, counts: Connections) -> Self {
        let is_https = tls.is_some() || limits.behind_tls_proxy;
        let door = Self::new(limits, entropy, ConnectionLimit::new(limits, counts.clone()), tls.map(TlsAcceptor::from), counts);
        Self { is_https, ..door }
    }

    /// For the operator's machines: HTTPS if `tls` is given, with few connections, from wherever, counted in `counts`.
    #[must_use]
    pub fn admin(limits: &Http, entropy: &Entropy, tls: Option<Arc<ServerConfig>>, counts: Connections) -> Self {
        let connections = ConnectionLimit::of_admin(limits, counts.clone());
        let is_https = tls.is_some();
        Self { is_https, ..Self::new(limits, entropy, connections, tls.map(TlsAcceptor::from), counts) }
    }

    fn new(limits: &Http, entropy: &Entropy, connection_limit: ConnectionLimit, tls: Option<TlsAcceptor>, counts: Connections) -> Self {
        let mut protocol = Builder::new(TokioExecutor::new());
        // Our deadlines replace hyper's, which would take an idle connection for a slow head.
        protocol.http1().header_read_timeout(None).max_buf_size(HEAD_BYTES.into());
        // Pings detect a client that vanished. The limit on resets is left to hyper.
        let mut http2 = protocol.http2();
        http2.timer(TokioTimer::new()).keep_alive_interval(limits.head_timeout()).keep_alive_timeout(limits.head_timeout());
        http2.max_concurrent_streams(MOST_STREAMS).max_header_list_size(MOST_HEAD_BYTES);
        Self { limits: limits.clone(), connection_limit, tls, counts, protocol, entropy: entropy.clone(), is_https: false }
    }
}

/// Serves `router` on `listener` over plain HTTP, without a connection limit, until `leave` resolves.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: &Http,
    entropy: &Entropy,
    leave: impl Future<Output = ()>,
) -> io::Result<()> {
    serve_through(Door::open(limits, entropy), listener, router, leave).await
}

/// Serves `router` through `door` until `leave` resolves. Then it accepts no more connections and lets requests in flight finish.
pub async fn serve_through(door: Door, listener: TcpListener, router: Router, leave: impl Future<Output = ()>) -> io::Result<()> {
    // Every connection holds a receiver, so the channel closes when the last one has ended.
    let (shutdown, closing) = watch::channel(());
    let door = Arc::new(door);
    tokio::pin!(leave);
    loop {
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                // Out of file descriptors, or the client is gone already: neither ends the service.
                Err(error) => {
                    tracing::warn!(%error, "accepting a connection failed, will retry");
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                    continue;
                }
            },
            () = &mut leave => break,
        };
        let deadlines = Deadlines::new(&door.limits);
        let presence = Presence::new(deadlines.clone());
        let Some(permit) = door.connection_limit.admit(peer.ip(), &presence) else { continue };
        let (door, router, closing) = (Arc::clone(&door), router.clone(), closing.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = door.receive(stream, peer, &presence, deadlines, router, closing) => {}
                () = presence.gives_way() => {}
            }
            drop(permit);
        });
    }
    drop((listener, closing));
    let _ = shutdown.send(());
    if tokio::time::timeout(door.limits.drain_timeout(), shutdown.closed()).await.is_err() {
        tracing::warn!("shutting down the listener: some requests did not finish in time");
    }
    Ok(())
}

/// Sends small answers at once, and bounds what the kernel buffers of large ones: otherwise it would take most answers whole, and
/// a client that does not read them would go unnoticed. A failure here is not worth refusing a connection for.
fn tune(stream: &TcpStream, limits: &Http) {
    let _ = stream.set_nodelay(true);
    #[cfg(target_os = "linux")]
    {
        let socket = socket2::SockRef::from(stream);
        let _ = socket.set_tcp_notsent_lowat(PORTION.into());
        let _ = socket.set_tcp_user_timeout(Some(limits.write_timeout()));
    }
}

impl Door {
    /// Handles one connection, from its handshake to its end.
    async fn receive(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        presence: &Presence,
        deadlines: Deadlines,
        router: Router,
        closing: watch::Receiver<()>,
    ) {
        tune(&stream, &self.limits);
        let stream = Observed::new(stream, deadlines.clone());
        let caller = (Peer(peer), presence.clone());
        let Some(tls) = &self.tls else { return self.respond(stream, caller, &deadlines, router, closing).await };
        match tokio::time::timeout(self.limits.handshake_timeout(), tls.accept(stream)).await {
            Ok(Ok(stream)) => {
                let shown = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first()).and_then(ClientCertificate::read);
                presence.show(shown);
                self.respond(stream, caller, &deadlines, router, closing).await;
            }
            // Scanners and broken clients fail here all day, so they are counted and not logged.
            Ok(Err(_)) | Err(_) => _ = self.counts.handshake_failures.inc(),
        }
    }

    /// Answers the requests of a connection until it ends or its client misses a deadline.
    async fn respond<S>(&self, stream: S, caller: Caller, deadlines: &Deadlines, router: Router, mut closing: watch::Receiver<()>)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        deadlines.start();
        let service = service_fn(|request: hyper::Request<Incoming>| {
            let in_flight = deadlines.request_arrived(request.version() == Version::HTTP_2);
            let answer = answer(router.clone(), caller.clone(), request, self.entropy.clone(), self.limits.body_timeout());
            let is_https = self.is_https;
            async move {
                let mut answer = answer.await?;
                if is_https {
                    answer.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, FOR_A_YEAR);
                }
                Ok::<_, std::convert::Infallible>(answer.map(|body| Answer::new(body, in_flight)))
            }
        });
        let stream = Explained::new(stream, deadlines.clone(), self.entropy.clone());
        let connection = self.protocol.serve_connection(TokioIo::new(stream), service);
        let timer = tokio::time::sleep(self.limits.head_timeout());
        tokio::pin!(connection, timer);
        let mut shutting_down = false;
        loop {
            tokio::select! {
                biased;
                // A client may end a connection in any way.
                _ = connection.as_mut() => return,
                overdue = deadlines.overdue(timer.as_mut()) => {
                    self.counts.dropped.get_or_create(&ReasonLabels { reason: overdue.as_str() }).inc();
                    match overdue {
                        // An idle client did nothing wrong: a graceful shutdown keeps its next request from being lost.
                        Overdue::Request if !shutting_down => {}
                        Overdue::Head | Overdue::Request | Overdue::Reading => return,
                    }
                }
                _ = closing.changed(), if !shutting_down => {}
            }
            shutting_down = true;
            deadlines.close_soon();
            connection.as_mut().graceful_shutdown();
        }
    }
}

/// Answers a request, or refuses it because its head is too large or can be read in two ways.
async fn answer(
    router: Router,
    (peer, presence): Caller,
    request: hyper::Request<Incoming>,
    entropy: Entropy,
    body_timeout: Duration,
) -> Result<axum::response::Response, std::convert::Infallible> {
    let refusal = if is_too_large(request.headers()) {
        Some(ApiError::HeadTooLarge)
    } else {
        (!plain_head::is_plain(&request)).then_some(ApiError::AmbiguousHead)
    };
    let is_multiplexed = request.version() >= Version::HTTP_2;
    let waits = request.headers().contains_key(header::EXPECT);
    let unread = Unread::default();
    // What follows an ambiguous head may be part of the body for a proxy in front, and a request for us.
    let mut closes = refusal.is_some();
    let mut answer = if let Some(refusal) = refusal {
        let request_id = Uuid::from_bytes(entropy.bytes()).simple().to_string();
        refusal.respond(&request_id, ErrorFormat::accepted_by(request.headers()))
    } else {
        let mut request = request.map(|body| if is_multiplexed { Body::new(body) } else { Body::new(unread.lend(body)) });
        request.extensions_mut().insert(peer);
        request.extensions_mut().insert(presence);
        router.oneshot(request).await?
    };
    // A browser must not guess that an answer is a page or a script.
    answer.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // Whoever was too slow with the body has been waited for already.
    closes |= answer.status() == StatusCode::REQUEST_TIMEOUT || !unread.discard(waits, body_timeout).await;
    if closes && !is_multiplexed {
        answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(answer)
}

/// Whether an HTTP/2 head is above the limits. For HTTP/1.1 hyper refuses it before.
fn is_too_large(headers: &HeaderMap) -> bool {
    let size: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    headers.len() > MOST_HEADERS || size > HEAD_BYTES.into()
}
