//! The merchant's connections: from the port to the answer.

use std::error::Error as _;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::answer::{Answer, Deed};
use super::content::Content;
use super::received::{Received, bearer};
use super::record::Record;
use super::rules::{Choice, Rules};
use super::tokens::{Issuer, is_endpoint};

/// What the merchant was told, and what it knows.
#[derive(Default)]
pub(super) struct State {
    pub(super) rules: Rules,
    pub(super) record: Record,
    pub(super) issuer: Issuer,
    /// Changes when what is held may go on.
    pub(super) release: watch::Sender<()>,
    pub(super) accepted: AtomicUsize,
    pub(super) at_once: AtOnce,
}

/// The connection ends instead of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Broken {
    #[error("the connection is reset")]
    Reset,
    #[error("the connection is closed")]
    Closed,
}

/// Accepts connections for as long as it is polled; they end with it.
pub(super) async fn accept(listener: TcpListener, tls: Option<TlsAcceptor>, state: Arc<State>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    state.accepted.fetch_add(1, Relaxed);
                    connections.spawn(receive(stream, tls.clone(), Arc::clone(&state)));
                }
                // Out of file descriptors, or the caller is gone already; the others may go on.
                Err(_) => tokio::task::yield_now().await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn receive(stream: TcpStream, tls: Option<TlsAcceptor>, state: Arc<State>) {
    // An answer is small and goes out at once. Where that cannot be set, it comes later.
    let _ = stream.set_nodelay(true);
    match tls {
        None => attend(stream, state).await,
        Some(tls) => {
            if let Ok(stream) = tls.accept(stream).await {
                attend(stream, state).await;
            }
        }
    }
}

/// A stream over a socket.
trait OverSocket: AsyncRead + AsyncWrite + Unpin {
    fn socket(&self) -> &TcpStream;
}

impl OverSocket for TcpStream {
    fn socket(&self) -> &TcpStream {
        self
    }
}

impl OverSocket for TlsStream<TcpStream> {
    fn socket(&self) -> &TcpStream {
        self.get_ref().0
    }
}

/// Answers the requests of a connection until it ends.
async fn attend(stream: impl OverSocket, state: Arc<State>) {
    let service = service_fn(move |request| {
        let state = Arc::clone(&state);
        Box::pin(async move { exchange(&state, request).await })
    });
    let mut connection = http1::Builder::new().header_read_timeout(None).serve_connection(TokioIo::new(stream), service);
    let ended = poll_fn(|context| connection.poll_without_shutdown(context)).await;
    let mut stream = connection.into_parts().io.into_inner();
    let broken = ended.as_ref().err().and_then(|error| error.source()?.downcast_ref::<Broken>());
    if broken == Some(&Broken::Reset) {
        // A socket that lingers for no time is reset when it is closed.
        let _ = SockRef::from(stream.socket()).set_linger(Some(Duration::ZERO));
    } else {
        // The caller may be gone already.
        let _ = stream.shutdown().await;
    }
}

/// One request and what becomes of it.
async fn exchange(state: &State, request: Request<Incoming>) -> Result<Response<Content>, Broken> {
    // A release counts for this request from here on, so that none is missed by one that has arrived.
    let mut release = state.release.subscribe();
    let _at_work = state.at_once.enter();
    let (head, body) = request.into_parts();
    let choice = if state.rules.requires_token(head.uri.path()) && !state.issuer.accepts(bearer(&head.headers)) {
        Choice::Fixed(Answer::unauthorized())
    } else {
        state.rules.choose(head.uri.path())
    };
    let unread = matches!(&choice, Choice::Fixed(Answer { deed: Deed::ResetUnread, .. }));
    let body = if unread { Bytes::new() } else { read(body).await? };
    let received = state.record.arrive(head, body);
    let answer = match choice {
        Choice::Fixed(answer) => answer,
        Choice::By(decide) => decide(&received),
    };
    state.record.keep(&received);
    if !answer.delay.is_zero() {
        tokio::time::sleep(answer.delay).await;
    }
    if answer.held {
        // It fails only when the merchant is gone, and then so is this.
        let _ = release.changed().await;
    }
    act(state, answer.deed, &received)
}

async fn read(body: Incoming) -> Result<Bytes, Broken> {
    // A caller that breaks off has sent nothing that counts.
    body.collect().await.map(http_body_util::Collected::to_bytes).map_err(|_| Broken::Closed)
}

fn act(state: &State, deed: Deed, received: &Received) -> Result<Response<Content>, Broken> {
    match deed {
        Deed::Usual if is_endpoint(received.path()) => act(state, state.issuer.issue(received).deed, received),
        Deed::Usual => act(state, Answer::ok().deed, received),
        Deed::Challenge(token) if received.bearer() == Some(&token) => act(state, Answer::ok().deed, received),
        Deed::Challenge(_) => act(state, Answer::unauthorized().deed, received),
        Deed::Reply(reply) => Ok(reply.response()),
        Deed::Reset | Deed::ResetUnread => Err(Broken::Reset),
        Deed::Close => Err(Broken::Closed),
    }
}

/// How many requests are at work at once.
#[derive(Default)]
pub(super) struct AtOnce {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// One of them, until it is dropped.
struct AtWork<'a>(&'a AtOnce);

impl AtOnce {
    fn enter(&self) -> AtWork<'_> {
        let now = self.now.fetch_add(1, Relaxed) + 1;
        self.most.fetch_max(now, Relaxed);
        AtWork(self)
    }

    pub(super) fn now(&self) -> usize {
        self.now.load(Relaxed)
    }

    pub(super) fn most(&self) -> usize {
        self.most.load(Relaxed)
    }

    pub(super) fn reset(&self) {
        self.most.store(self.now(), Relaxed);
    }
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Relaxed);
    }
}
