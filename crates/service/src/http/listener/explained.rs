//! Hyper answers a head that it cannot read by itself, without a body. This stream sends our error in its place.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::http::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use uuid::Uuid;

use super::deadlines::Deadlines;
use crate::http::error::{ApiError, ErrorFormat};
use crate::platform::entropy::Entropy;

/// The stream of a connection, above TLS.
pub(super) struct Explained<S> {
    stream: S,
    deadlines: Deadlines,
    entropy: Entropy,
    replacement: Option<Replacement>,
}

/// An answer that is sent in place of one of hyper's.
struct Replacement {
    bytes: Vec<u8>,
    sent: usize,
    /// The length of the replaced answer.
    replaces: usize,
}

impl<S> Explained<S> {
    pub(super) fn new(stream: S, deadlines: Deadlines, entropy: Entropy) -> Self {
        Self { stream, deadlines, entropy, replacement: None }
    }

    /// The replacement for `bytes`, if they are an answer of hyper's own: a whole answer without a body, while no request is in
    /// flight.
    fn replacement_for(&self, bytes: &[u8]) -> Option<Replacement> {
        let error = error_of(bytes).filter(|_| self.deadlines.is_idle())?;
        let request_id = Uuid::from_bytes(self.entropy.bytes()).simple().to_string();
        Some(Replacement { bytes: answer(&error, &request_id), sent: 0, replaces: bytes.len() })
    }
}

/// The error that an answer of hyper's own stands for.
fn error_of(bytes: &[u8]) -> Option<ApiError> {
    let rest = bytes.strip_prefix(b"HTTP/1.1 ")?;
    let error = match rest.get(..3)? {
        b"400" => ApiError::MalformedHead,
        b"414" => ApiError::UriTooLong,
        b"431" => ApiError::HeadTooLarge,
        _ => return None,
    };
    let empty = rest.ends_with(b"\r\n\r\n") && memchr::memmem::find(rest, b"\r\ncontent-length: 0\r\n").is_some();
    empty.then_some(error)
}

/// The whole answer, after which the connection closes.
fn answer(error: &ApiError, request_id: &str) -> Vec<u8> {
    let body = error.body(request_id, ErrorFormat::Json);
    let status = error.status();
    let reason = status.canonical_reason().unwrap_or_default();
    let head = format!(
        "HTTP/1.1 {} {reason}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nx-request-id: {request_id}\r\n\
        x-content-type-options: nosniff\r\nconnection: close\r\n\r\n",
        StatusCode::as_u16(&status),
        body.len(),
    );
    [head.into_bytes(), body].concat()
}

impl<S: AsyncWrite + Unpin> Explained<S> {
    /// Sends the replacement, and then reports the replaced answer as written.
    fn poll_replace(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        while let Some(replacement) = &mut self.replacement {
            let rest = replacement.bytes.get(replacement.sent..).unwrap_or_default();
            if rest.is_empty() {
                let replaced = replacement.replaces;
                self.replacement = None;
                return Poll::Ready(Ok(replaced));
            }
            let written = ready!(Pin::new(&mut self.stream).poll_write(context, rest))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            replacement.sent += written;
        }
        Poll::Ready(Ok(0))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Explained<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Explained<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.replacement.is_none() {
            self.replacement = self.replacement_for(bytes);
        }
        if self.replacement.is_some() {
            return self.poll_replace(context);
        }
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let first = bytes.iter().find(|part| !part.is_empty()).map_or(&[][..], |part| part);
        if self.replacement.is_some() || error_of(first).is_some() {
            return self.poll_write(context, first);
        }
        Pin::new(&mut self.stream).poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
