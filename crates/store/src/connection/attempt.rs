//! One thing that runs on a connection, until its deadline.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use futures::Stream;
use futures::stream::BoxStream;
use sqlx::Error;
use tokio::time::{Instant, Sleep, sleep_until, timeout_at};

use super::following::Hints;
use super::notices;

/// One thing that runs on a connection. The connection is whole again when it has ended in a way that leaves no doubt about
/// the connection.
pub(super) struct Attempt<'c> {
    is_whole: &'c mut bool,
    deadline: Instant,
    /// The start of the attempt and whoever follows the cell, if it may move.
    followed: Option<(Instant, &'c Hints)>,
}

impl<'c> Attempt<'c> {
    pub(super) fn new(is_whole: &'c mut bool, deadline: Instant, hints: Option<&'c Hints>) -> Self {
        *is_whole = false;
        Self { is_whole, deadline, followed: hints.map(|hints| (Instant::now(), hints)) }
    }

    /// Notes how it has ended.
    fn end(&mut self, error: Option<&Error>) {
        *self.is_whole = error.is_none_or(leaves_whole);
        if let Some((started, hints)) = self.followed {
            hints.take(started.elapsed(), error);
        }
    }

    /// Runs `work` to its end.
    pub(super) async fn run<T>(mut self, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let mut work = pin!(work);
        let mut unconfirmed = false;
        let listening = poll_fn(|cx| notices::listen(&mut unconfirmed, || work.as_mut().poll(cx)));
        let result = timeout_at(self.deadline, listening).await.unwrap_or_else(|_| Err(timed_out()));
        self.end(result.as_ref().err());
        if unconfirmed { result.and(Err(not_confirmed())) } else { result }
    }

    /// Passes on the results of a statement.
    pub(super) fn stream<'e, T>(self, results: BoxStream<'e, Result<T, Error>>) -> impl Stream<Item = Result<T, Error>> + use<'c, 'e, T> {
        Results { attempt: self, inner: results, deadline: None, unconfirmed: false, ended: false }
    }
}

struct Results<'c, 'e, T> {
    attempt: Attempt<'c>,
    inner: BoxStream<'e, Result<T, Error>>,
    /// Made on the first wait.
    deadline: Option<Pin<Box<Sleep>>>,
    unconfirmed: bool,
    ended: bool,
}

impl<T> Stream for Results<'_, '_, T> {
    type Item = Result<T, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if this.ended {
            return Poll::Ready(None);
        }
        let next = match notices::listen(&mut this.unconfirmed, || this.inner.as_mut().poll_next(cx)) {
            Poll::Ready(next) => next,
            Poll::Pending => {
                let at = this.attempt.deadline;
                ready!(this.deadline.get_or_insert_with(|| Box::pin(sleep_until(at))).as_mut().poll(cx));
                Some(Err(timed_out()))
            }
        };
        this.ended = !matches!(next, Some(Ok(_)));
        if this.ended {
            this.attempt.end(next.as_ref().and_then(|next| next.as_ref().err()));
        }
        Poll::Ready(match next {
            None if this.unconfirmed => Some(Err(not_confirmed())),
            next => next,
        })
    }
}

/// Returns true if the connection can be used again after this error: the server has answered, or nothing was sent.
fn leaves_whole(error: &Error) -> bool {
    matches!(error, Error::Database(_) | Error::Encode(_))
}

fn timed_out() -> Error {
    Error::Io(io::Error::new(io::ErrorKind::TimedOut, "it did not answer in time"))
}

/// The transaction is committed on the primary, but may be lost if that fails.
fn not_confirmed() -> Error {
    Error::Io(io::Error::other("a commit was not confirmed by a standby"))
}

pub(super) fn given_up() -> Error {
    Error::Io(io::Error::new(io::ErrorKind::NotConnected, "the connection was given up"))
}
