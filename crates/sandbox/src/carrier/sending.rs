//! The sending of one webhook: signed and posted.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1::handshake;
use hyper::header::{CONTENT_TYPE, HOST, USER_AGENT};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use sha2::Sha256;
use tokio::net::TcpStream;

/// The deadline of one attempt, from connecting to the end of the response.
const DEADLINE: Duration = Duration::from_secs(10);
/// The most bytes read of a response.
const MOST_ANSWER: usize = 64 * 1024;

/// The recipient of webhooks.
#[derive(Clone)]
pub(super) struct Target {
    uri: Uri,
    secret: String,
    /// The address to name in `X-Forwarded-For`.
    from: Option<IpAddr>,
}

/// The error for a URL that webhooks cannot be sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("webhooks can only be sent to a URL with `http://` and a host")]
pub struct NoTarget;

impl Target {
    pub(super) fn new(url: &str, secret: &str) -> Result<Self, NoTarget> {
        let uri: Uri = url.parse().map_err(|_| NoTarget)?;
        let is_http = uri.scheme_str() == Some("http") && uri.host().is_some();
        is_http.then(|| Self { uri, secret: secret.to_owned(), from: None }).ok_or(NoTarget)
    }

    /// The same target, called through a proxy that names `address` as the caller.
    pub(super) fn called_from(self, address: IpAddr) -> Self {
        Self { from: Some(address), ..self }
    }
}

/// Sends a webhook and returns whether it was accepted.
pub(super) async fn send(target: &Target, body: Bytes) -> bool {
    let sent = tokio::time::timeout(DEADLINE, post(target, body)).await;
    matches!(sent, Ok(Some(status)) if status.is_success())
}

async fn post(target: &Target, body: Bytes) -> Option<hyper::StatusCode> {
    let authority = target.uri.authority()?;
    // A URL has an IPv6 address in brackets, which the resolver does not understand.
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let stream = TcpStream::connect((host, authority.port_u16().unwrap_or(80))).await.ok()?;
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await.ok()?;
    let path = target.uri.path_and_query().map_or("/", |path| path.as_str());
    let mut request = Request::post(path)
        .header(HOST, authority.as_str())
        .header(CONTENT_TYPE, "application/json")
        .header(USER_AGENT, "SimCarrier/1.0")
        .header("X-Hmac-Signature", signature(&target.secret, &body)?);
    if let Some(from) = target.from {
        request = request.header("X-Forwarded-For", from.to_string());
    }
    let request = request.body(Full::new(body)).ok()?;
    let answer = async {
        let answer = sender.send_request(request).await.ok()?;
        let status = answer.status();
        // Only the status counts. The body is read so that the other side is not cut off.
        let _ = Limited::new(answer.into_body(), MOST_ANSWER).collect().await;
        Some(status)
    };
    tokio::pin!(connection);
    tokio::pin!(answer);
    tokio::select! {
        biased;
        status = &mut answer => status,
        // If the connection ends with the response, the rest of it is buffered already.
        _ = &mut connection => answer.await,
    }
}

/// The signature header for a body.
fn signature(secret: &str, body: &[u8]) -> Option<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).ok()?;
    mac.update(body);
    let mut text = "hmac-sha256-hex=".to_owned();
    for byte in mac.finalize().into_bytes() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_example_is_signed_rightly() {
        // The second test case of RFC 4231.
        let right = "hmac-sha256-hex=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(signature("Jefe", b"what do ya want for nothing?").as_deref(), Some(right));
    }

    #[test]
    fn a_target_is_http_and_has_a_host() {
        assert!(Target::new("http://127.0.0.1:8080/hook?a=b", "").is_ok());
        for url in ["", "/hook", "https://example.com", "ftp://example.com", "example.com/hook"] {
            assert!(Target::new(url, "").is_err(), "{url}");
        }
    }
}
