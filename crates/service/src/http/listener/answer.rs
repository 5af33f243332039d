//! The body of an answer, sent to the client in portions.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use super::deadlines::{InFlight, PORTION};

/// The body of an answer; its request is in flight until it is dropped.
pub(super) struct Answer {
    body: Body,
    /// The part of the last frame that was not handed out yet.
    rest: Bytes,
    in_flight: InFlight,
}

impl Answer {
    pub(super) fn new(body: Body, in_flight: InFlight) -> Self {
        Self { body, rest: Bytes::new(), in_flight }
    }
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.in_flight.taken();
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
        self.in_flight.handed_out();
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
