//! The merchant's callers: hyper over one connection, or bytes on a socket.

use std::future::Future;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use sandbox::merchant::Merchant;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The timeout for everything; only a failing test waits that long.
pub const LONG: Duration = Duration::from_secs(20);

pub async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(LONG, what).await.expect("it did not happen")
}

/// A caller with one persistent connection.
pub struct Caller(SendRequest<Full<Bytes>>);

impl Caller {
    pub async fn of(merchant: &Merchant) -> Self {
        Self::over(TcpStream::connect(merchant.address()).await.unwrap()).await
    }

    pub async fn over(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Self {
        let (sender, connection) = handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        Self(sender)
    }

    /// Posts and reads the head of the response.
    pub async fn begin(&mut self, path: &str, headers: &[(&str, &str)], body: &str) -> hyper::Result<Response<Incoming>> {
        let request = Request::post(path).header("host", "merchant.example.com");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let request = request.body(Full::from(body.to_owned())).unwrap();
        soon(async {
            self.0.ready().await?;
            self.0.send_request(request).await
        })
        .await
    }

    /// Posts and reads the whole response.
    pub async fn post(&mut self, path: &str, headers: &[(&str, &str)], body: &str) -> Response<Bytes> {
        let (head, body) = self.begin(path, headers, body).await.unwrap().into_parts();
        Response::from_parts(head, soon(body.collect()).await.unwrap().to_bytes())
    }

    /// Posts an empty body and returns the status.
    pub async fn status(&mut self, path: &str) -> u16 {
        self.post(path, &[], "").await.status().as_u16()
    }
}

/// Sends these bytes and reads until the connection ends.
pub async fn send(merchant: &Merchant, bytes: &str) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(merchant.address()).await?;
    stream.write_all(bytes.as_bytes()).await?;
    let mut answer = Vec::new();
    soon(stream.read_to_end(&mut answer)).await?;
    Ok(answer)
}
