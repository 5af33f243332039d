//! The part of a request's body that nobody read, because the answer was clear before.
//!
//! A connection of HTTP/1.1 takes the next request only after this one's body. So the rest is read and discarded, for a while. If
//! there is more, the answer says that the connection closes, and a client does not send its next request on it.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body as HttpBody, Bytes, Frame, Incoming, SizeHint};

use crate::http::size::MOST_BYTES;

/// The longest time for which a rest is read. Whoever is slower connects again.
const LONGEST: Duration = Duration::from_secs(2);

/// A body that comes back here when its reader is done with it.
#[derive(Clone, Default)]
pub(super) struct Unread(Arc<Mutex<Option<Incoming>>>);

/// The body as its reader sees it.
pub(super) struct Lent {
    body: Option<Incoming>,
    ended: bool,
    back_to: Unread,
}

impl Unread {
    /// Lends the body to whoever answers the request.
    pub(super) fn lend(&self, body: Incoming) -> Lent {
        Lent { ended: body.is_end_stream(), body: Some(body), back_to: self.clone() }
    }

    /// Reads and discards the rest. Returns false if there is more than can be waited for. `waits` says that the client sends the body
    /// only when it is asked to, which nobody does any more.
    pub(super) async fn discard(&self, waits: bool, within: Duration) -> bool {
        let rest = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut rest) = rest else { return true };
        if waits || rest.size_hint().lower() > MOST_BYTES as u64 {
            return false;
        }
        let reading = async {
            let mut seen = 0;
            while let Some(frame) = std::future::poll_fn(|context| Pin::new(&mut rest).poll_frame(context)).await {
                let Ok(frame) = frame else { return false };
                seen += frame.data_ref().map_or(0, Bytes::len);
                if seen > MOST_BYTES {
                    return false;
                }
            }
            true
        };
        tokio::time::timeout(within.min(LONGEST), reading).await.unwrap_or(false)
    }
}

impl HttpBody for Lent {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(body) = self.body.as_mut() else { return Poll::Ready(None) };
        let frame = std::task::ready!(Pin::new(body).poll_frame(context));
        self.ended = !matches!(frame, Some(Ok(_))) || self.body.as_ref().is_none_or(HttpBody::is_end_stream);
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(SizeHint::default, HttpBody::size_hint)
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if !self.ended {
            *self.back_to.0.lock().unwrap_or_else(PoisonError::into_inner) = self.body.take();
        }
    }
}
