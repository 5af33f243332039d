//! HTTP/1.1 connections of the simulated servers: accepted, answered, or broken on purpose.

mod write_timeout;

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

use self::write_timeout::WriteTimeout;

/// A connection that ends without a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Broken {
    #[error("the connection is reset")]
    Reset,
    #[error("the connection is closed")]
    Closed,
}

/// A server's request handler.
pub(crate) trait Handler: Send + Sync + 'static {
    type Body: Body<Data = Bytes, Error = io::Error> + Send + 'static;

    /// Limits the wait for each request head, and the time a caller may stall while reading a response. `None` waits for ever.
    const TIMEOUT: Option<Duration>;

    /// Called for every connection accepted.
    fn accepted(&self) {}

    /// Answers one request, or breaks the connection.
    fn handle(&self, request: Request<Incoming>) -> impl Future<Output = Result<Response<Self::Body>, Broken>> + Send;
}

/// Accepts connections for as long as it is polled. Dropping the future ends them all.
pub(crate) async fn accept<H: Handler>(listener: TcpListener, tls: Option<TlsAcceptor>, server: Arc<H>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    server.accepted();
                    connections.spawn(receive(stream, tls.clone(), Arc::clone(&server)));
                }
                // Out of file descriptors, or the caller has left; the other connections continue.
                Err(_) => tokio::task::yield_now().await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn receive<H: Handler>(stream: TcpStream, tls: Option<TlsAcceptor>, server: Arc<H>) {
    // Responses are small and should go out at once. If the option cannot be set, they are only slower.
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
async fn attend<H: Handler>(stream: impl OverSocket, server: Arc<H>) {
    let service = service_fn(move |request| {
        let server = Arc::clone(&server);
        Box::pin(async move { server.handle(request).await })
    });
    let stream = TokioIo::new(WriteTimeout::new(stream, H::TIMEOUT));
    let mut connection = http1::Builder::new().timer(TokioTimer::new()).header_read_timeout(H::TIMEOUT).serve_connection(stream, service);
    let ended = poll_fn(|context| connection.poll_without_shutdown(context)).await;
    let mut stream = connection.into_parts().io.into_inner().into_inner();
    let broken = ended.as_ref().err().and_then(|error| error.source()?.downcast_ref::<Broken>());
    if broken == Some(&Broken::Reset) {
        // Closing a socket with a linger time of zero resets the connection.
        let _ = SockRef::from(stream.socket()).set_linger(Some(Duration::ZERO));
    } else {
        // Fails if the caller has left.
        let _ = stream.shutdown().await;
    }
}
