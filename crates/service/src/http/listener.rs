//! The accept loop: plain HTTP/1.1 and HTTP/2 with a deadline on the head of a request, and an orderly end.

use std::future::Future;
use std::io;
use std::net::SocketAddr;

use axum::Router;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tower::ServiceExt as _;

use crate::config::Http;

/// The address at the other end of the connection; every request carries it as an extension.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);

/// Serves `router` on `listener` until `leave` resolves; then accepts nothing, and lets what is in flight finish.
pub async fn serve(listener: TcpListener, router: Router, limits: &Http, leave: impl Future<Output = ()>) -> io::Result<()> {
    let mut connections = Builder::new(TokioExecutor::new());
    connections.http1().timer(TokioTimer::new()).header_read_timeout(limits.head_timeout());
    connections.http2().timer(TokioTimer::new()).keep_alive_interval(limits.head_timeout());
    let graceful = GracefulShutdown::new();
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
        // Small answers go out at once.
        let _ = stream.set_nodelay(true);
        let router = router.clone();
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let mut request = request.map(axum::body::Body::new);
            request.extensions_mut().insert(Peer(peer));
            router.clone().oneshot(request)
        });
        let connection = connections.serve_connection(TokioIo::new(stream), service).into_owned();
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // How a client leaves is its own affair.
            let _ = connection.await;
        });
    }
    drop(listener);
    if tokio::time::timeout(limits.drain_timeout(), graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests did not finish in time");
    }
    Ok(())
}
