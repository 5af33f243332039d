//! Heads that can be read in one way only. Where a proxy in front and this listener read a head differently, a request can be hidden
//! in the body of another one, or sent to another host than the proxy believes.

use axum::http::uri::Authority;
use axum::http::{HeaderValue, Method, Request, Version, header};

/// True if every reader finds the same host and the same body in this request.
pub(super) fn is_plain<B>(request: &Request<B>) -> bool {
    request.method() != Method::CONNECT && has_one_host(request) && has_one_body(request)
}

/// True if the request names one host, and names it as the URL does. HTTP/1.0 needs none.
fn has_one_host<B>(request: &Request<B>) -> bool {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let (host, second) = (hosts.next(), hosts.next());
    second.is_none()
        && match (request.uri().authority(), host) {
            (Some(authority), Some(host)) => host_of(host).is_some_and(|host| host == *authority) && is_bare(authority),
            (Some(authority), None) => request.version() >= Version::HTTP_2 && is_bare(authority),
            (None, Some(host)) => host_of(host).is_some_and(|host| is_bare(&host)),
            (None, None) => request.version() < Version::HTTP_11,
        }
}

fn host_of(host: &HeaderValue) -> Option<Authority> {
    Authority::try_from(host.as_bytes()).ok()
}

/// True if the authority is a host, perhaps with a port.
fn is_bare(authority: &Authority) -> bool {
    !authority.as_str().contains('@') && !authority.as_str().contains(',')
}

/// True if the length of the body is stated once: as a number, or by chunks.
fn has_one_body<B>(request: &Request<B>) -> bool {
    let headers = request.headers();
    let mut encodings = headers.get_all(header::TRANSFER_ENCODING).iter();
    let lengths = headers.get_all(header::CONTENT_LENGTH).iter().count();
    match (encodings.next(), encodings.next()) {
        (None, _) => lengths <= 1,
        (Some(encoding), None) => encoding.as_bytes().eq_ignore_ascii_case(b"chunked") && lengths == 0,
        (Some(_), Some(_)) => false,
    }
}
