//! The body of a reply: complete, dripping byte by byte, endless, or cut short.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::Sleep;

/// The repeated chunk of an endless body.
static FILLING: [u8; 16 * 1024] = [b'.'; 16 * 1024];

/// The body of a reply.
#[derive(Debug)]
pub(super) enum Content {
    Whole(Bytes),
    Drip {
        every: Duration,
        /// `None` if it never ends.
        left: Option<u64>,
        /// The current wait for the next byte.
        next: Option<Pin<Box<Sleep>>>,
    },
    Endless,
    CutShort {
        body: Bytes,
        /// Set once hyper has had a chance to flush the body.
        sent: bool,
    },
}

impl Content {
    pub(super) fn drip(every: Duration, bytes: Option<u64>) -> Self {
        Self::Drip { every, left: bytes, next: None }
    }

    pub(super) fn cut_short(body: Bytes) -> Self {
        Self::CutShort { body, sent: false }
    }
}

impl Clone for Content {
    /// The same body, from its beginning.
    fn clone(&self) -> Self {
        match self {
            Self::Whole(body) => Self::Whole(body.clone()),
            Self::Drip { every, left, .. } => Self::drip(*every, *left),
            Self::Endless => Self::Endless,
            Self::CutShort { body, .. } => Self::cut_short(body.clone()),
        }
    }
}

impl Body for Content {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let piece = match self.get_mut() {
            Self::Whole(body) if body.is_empty() => return Poll::Ready(None),
            Self::Drip { left: Some(0), .. } => return Poll::Ready(None),
            Self::Drip { every, left, next } => {
                let wait = next.get_or_insert_with(|| Box::pin(tokio::time::sleep(*every)));
                ready!(wait.as_mut().poll(context));
                *next = None;
                *left = left.map(|left| left - 1);
                Bytes::from_static(b".")
            }
            Self::Endless => Bytes::from_static(&FILLING),
            Self::CutShort { sent: true, .. } => return Poll::Ready(Some(Err(io::ErrorKind::UnexpectedEof.into()))),
            Self::CutShort { body, sent } if body.is_empty() => {
                // Being pending once makes hyper flush what it has before it sees the error.
                *sent = true;
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            Self::Whole(body) | Self::CutShort { body, .. } => std::mem::take(body),
        };
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(body) => body.is_empty(),
            Self::Drip { left, .. } => *left == Some(0),
            Self::Endless | Self::CutShort { .. } => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(body) => SizeHint::with_exact(body.len() as u64),
            Self::Drip { left: Some(left), .. } => SizeHint::with_exact(*left),
            Self::Drip { left: None, .. } | Self::Endless => SizeHint::default(),
            Self::CutShort { body, .. } => SizeHint::with_exact(body.len() as u64 + 1),
        }
    }
}
