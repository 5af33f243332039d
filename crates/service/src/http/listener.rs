//! The accept loop: HTTP/1.1 and HTTP/2, plain or over TLS, with a deadline on whatever a client does, limits on how many
//! there are, and an orderly end.
//!
//! - The gate (`gate.rs`) says how many connections there may be.
//! - The pulse (`pulse.rs`) knows what a connection waits for, and until when.
//! - The stream (`stream.rs`) and the answer (`answer.rs`) tell it what comes and goes.

mod answer;
mod gate;
mod pulse;
mod stream;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, Version, header};
use axum::response::IntoResponse as _;
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

use self::answer::{Answer, PORTION};
use self::gate::Gate;
use self::pulse::{Overdue, Pulse};
use self::stream::Observed;
use crate::config::Http;
use crate::metrics::{Connections, ReasonLabels};

/// The address at the other end of the connection; every request carries it as an extension.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);

/// The largest head of a request, and the most headers in it: 431 beyond. The number is hyper's own for HTTP/1.1.
const HEAD_BYTES: u16 = 16 * 1024;
const MOST_HEADERS: usize = 100;
/// The most requests at once on a connection of HTTP/2.
const MOST_STREAMS: u32 = 100;

/// What stands between the network and the routes.
pub struct Door {
    limits: Http,
    gate: Gate,
    tls: Option<TlsAcceptor>,
    counts: Connections,
    protocol: Builder<TokioExecutor>,
}

impl Door {
    /// A door for machines that are trusted: plain HTTP, and nobody is turned away. Deadlines hold here too.
    #[must_use]
    pub fn open(limits: &Http) -> Self {
        let counts = Connections::default();
        Self::new(limits, Gate::open(counts.clone()), None, counts)
    }

    /// The public door: HTTPS where `tls` is given, so many connections and no more, counted in `counts`.
    #[must_use]
    pub fn public(limits: &Http, tls: Option<Arc<ServerConfig>>, counts: Connections) -> Self {
        Self::new(limits, Gate::limited(limits, counts.clone()), tls.map(TlsAcceptor::from), counts)
    }

    fn new(limits: &Http, gate: Gate, tls: Option<TlsAcceptor>, counts: Connections) -> Self {
        let mut protocol = Builder::new(TokioExecutor::new());
        // The pulse has the deadlines; hyper's own would count an idle connection as a slow head.
        protocol.http1().header_read_timeout(None).max_buf_size(HEAD_BYTES.into());
        // A client that is gone without a word is found out by pings. How many resets are too many, hyper knows best.
        let mut http2 = protocol.http2();
        http2.timer(TokioTimer::new()).keep_alive_interval(limits.head_timeout()).keep_alive_timeout(limits.head_timeout());
        http2.max_concurrent_streams(MOST_STREAMS).max_header_list_size(HEAD_BYTES.into());
        Self { limits: limits.clone(), gate, tls, counts, protocol }
    }
}

/// Serves `router` on `listener` in plain HTTP to everybody until `leave` resolves.
pub async fn serve(listener: TcpListener, router: Router, limits: &Http, leave: impl Future<Output = ()>) -> io::Result<()> {
    serve_through(Door::open(limits), listener, router, leave).await
}

/// Serves `router` through `door` until `leave` resolves; then accepts nothing, and lets what is in flight finish.
pub async fn serve_through(door: Door, listener: TcpListener, router: Router, leave: impl Future<Output = ()>) -> io::Result<()> {
    // Connections hold the receiving end as long as they live.
    let (part, parting) = watch::channel(());
    let door = Arc::new(door);
    tokio::pin!(leave);
    loop {
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                // Out of file descriptors, or the client went away already: neither ends the service.
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                    continue;
                }
            },
            () = &mut leave => break,
        };
        let Some(admitted) = door.gate.admit(peer.ip()) else { continue };
        let (door, router, parting) = (Arc::clone(&door), router.clone(), parting.clone());
        tokio::spawn(async move {
            door.receive(stream, peer, router, parting).await;
            drop(admitted);
        });
    }
    drop((listener, parting));
    let _ = part.send(());
    if tokio::time::timeout(door.limits.drain_timeout(), part.closed()).await.is_err() {
        tracing::warn!("some requests did not finish in time");
    }
    Ok(())
}

/// Small answers go out at once; of large ones the kernel holds no more than a portion that the client has no room for, and
/// it gives up a client that takes nothing. Otherwise it would swallow most answers whole, and nobody would notice that
/// they are not read. None of it is worth refusing a connection for.
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
    /// One connection, from its handshake to its end.
    async fn receive(&self, stream: TcpStream, peer: SocketAddr, router: Router, parting: watch::Receiver<()>) {
        tune(&stream, &self.limits);
        let pulse = Pulse::new(&self.limits);
        let stream = Observed::new(stream, pulse.clone());
        let Some(tls) = &self.tls else { return self.attend(stream, peer, &pulse, router, parting).await };
        match tokio::time::timeout(self.limits.handshake_timeout(), tls.accept(stream)).await {
            Ok(Ok(stream)) => self.attend(stream, peer, &pulse, router, parting).await,
            // Scanners and broken clients fail here all day; they are counted and not logged.
            Ok(Err(_)) | Err(_) => _ = self.counts.handshake_failures.inc(),
        }
    }

    /// Answers the requests of a connection until it ends or its client is late.
    async fn attend<S>(&self, stream: S, peer: SocketAddr, pulse: &Pulse, router: Router, mut parting: watch::Receiver<()>)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        pulse.start();
        let service = service_fn(|request: hyper::Request<Incoming>| {
            let asked = pulse.asked(request.version() == Version::HTTP_2);
            let answer = answer(router.clone(), peer, request);
            async move { answer.await.map(|answer| answer.map(|body| Answer::new(body, asked))) }
        });
        let connection = self.protocol.serve_connection(TokioIo::new(stream), service);
        let timer = tokio::time::sleep(self.limits.head_timeout());
        tokio::pin!(connection, timer);
        let mut asked_to_part = false;
        loop {
            tokio::select! {
                biased;
                // How a client leaves is its own affair.
                _ = connection.as_mut() => return,
                overdue = pulse.overdue(timer.as_mut()) => {
                    self.counts.dropped.get_or_create(&ReasonLabels { reason: overdue.as_str() }).inc();
                    match overdue {
                        // One who did nothing wrong is told, so that its next request is not lost on the way.
                        Overdue::Request if !asked_to_part => {}
                        Overdue::Head | Overdue::Request | Overdue::Reading => return,
                    }
                }
                _ = parting.changed(), if !asked_to_part => {}
            }
            asked_to_part = true;
            pulse.part();
            connection.as_mut().graceful_shutdown();
        }
    }
}

/// The answer of the routes, or that the head of the request is too large.
async fn answer(
    router: Router,
    peer: SocketAddr,
    request: hyper::Request<Incoming>,
) -> Result<axum::response::Response, std::convert::Infallible> {
    // HTTP/1.1 is refused by the parser; HTTP/2 knows a limit of size only.
    if request.headers().len() > MOST_HEADERS {
        return Ok(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE.into_response());
    }
    let mut request = request.map(Body::new);
    request.extensions_mut().insert(Peer(peer));
    let mut answer = router.oneshot(request).await?;
    // Nothing that is answered here is to be taken for a page or a script by a browser that guesses.
    answer.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    Ok(answer)
}
