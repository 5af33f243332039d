//! The connections of what speaks HTTP here: from the port to the answer, or to the end of the connection instead of one.

mod patient;

use std::error::Error as _;
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use self::patient::Patient;

/// The connection ends instead of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Broken {
    #[error("the connection is reset")]
    Reset,
    #[error("the connection is closed")]
    Closed,
}

/// Who answers the requests.
pub(crate) trait Exchange: Send + Sync + 'static {
    type Body: Body<Data = Bytes, Error = io::Error> + Send + 'static;

    /// How long the head of a request is waited for, the first and each one after it, and how long a caller may read nothing of
    /// an answer; without it, for ever.
    const PATIENCE: Option<Duration>;

    /// A connection was accepted.
    fn accepted(&self) {}

    /// One request and what becomes of it.
    fn exchange(&self, request: Request<Incoming>) -> impl Future<Output = Result<Response<Self::Body>, Broken>> + Send;
}

/// Accepts connections for as long as it is polled; they end with it.
pub(crate) async fn accept<E: Exchange>(listener: TcpListener, tls: Option<TlsAcceptor>, server: Arc<E>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    server.accepted();
                    connections.spawn(receive(stream, tls.clone(), Arc::clone(&server)));
                }
                // Out of file descriptors, or the caller is gone already; the others may go on.
                Err(_) => tokio::task::yield_now().await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn receive<E: Exchange>(stream: TcpStream, tls: Option<TlsAcceptor>, server: Arc<E>) {
    // An answer is small and goes out at once. Where that cannot be set, it comes later.
    let _ = stream.set_nodelay(true);
    match tls {
        None => attend(stream, server).await,
        Some(tls) => {
            if let Ok(stream) = tls.accept(stream).await {
                attend(stream, server).await;
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
async fn attend<E: Exchange>(stream: impl OverSocket, server: Arc<E>) {
    let service = service_fn(move |request| {
        let server = Arc::clone(&server);
        Box::pin(async move { server.exchange(request).await })
    });
    let stream = TokioIo::new(Patient::new(stream, E::PATIENCE));
    let mut connection = http1::Builder::new().timer(TokioTimer::new()).header_read_timeout(E::PATIENCE).serve_connection(stream, service);
    let ended = poll_fn(|context| connection.poll_without_shutdown(context)).await;
    let mut stream = connection.into_parts().io.into_inner().into_inner();
    let broken = ended.as_ref().err().and_then(|error| error.source()?.downcast_ref::<Broken>());
    if broken == Some(&Broken::Reset) {
        // A socket that lingers for no time is reset when it is closed.
        let _ = SockRef::from(stream.socket()).set_linger(Some(Duration::ZERO));
    } else {
        // The caller may be gone already.
        let _ = stream.shutdown().await;
    }
}
