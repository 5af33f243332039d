//! An answer on its way to the client, in portions.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use super::pulse::Asked;

/// How much of an answer is handed out at once: 16 KiB. Taking a portion is what counts as reading, and no more than one
/// portion of an answer waits inside the protocol, however little a client of HTTP/2 allows to be sent.
pub(super) const PORTION: u16 = 16 * 1024;

/// The body of an answer, whose request counts until it ends.
pub(super) struct Answer {
    body: Body,
    /// What is left of the last frame.
    rest: Bytes,
    asked: Asked,
}

impl Answer {
    pub(super) fn new(body: Body, asked: Asked) -> Self {
        Self { body, rest: Bytes::new(), asked }
    }
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.asked.taken();
        if self.rest.is_empty() {
            match std::task::ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                ended @ (Some(Err(_)) | None) => return Poll::Ready(ended),
            }
        }
        let portion = self.rest.len().min(PORTION.into());
        let portion = self.rest.split_to(portion);
        self.asked.hand_out();
        Poll::Ready(Some(Ok(Frame::data(portion))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = self.body.size_hint();
        let rest = u64::try_from(self.rest.len()).unwrap_or(u64::MAX);
        // The upper bound first: a lower bound must never be above it.
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper.saturating_add(rest));
        }
        hint.set_lower(hint.lower().saturating_add(rest));
        hint
    }
}
