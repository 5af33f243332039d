//! The interface of a carrier's API.

use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use domain::messages::delivery::Outcome;
use domain::returns::label::REFUSED;
use wire::returns::label::LabelWork;

use crate::delivery::client::{CallResult, Client};

/// The maximum size of a carrier's answer. Labels are documents with images.
pub(super) const MOST_READ: usize = 2 * 1024 * 1024;

/// The future of a carrier's calls, one after the other.
pub(super) type CarrierFuture<'a> = Pin<Box<dyn Future<Output = CallResult> + Send + 'a>>;

/// A carrier's API.
pub(super) trait Carrier: Send + Sync {
    /// Buys a label, or returns the label that was bought before under the same reference. A successful result holds a
    /// [`wire::returns::label::BoughtLabel`]. If the carrier [`refused`] the label, the result holds its words.
    fn buy<'a>(&'a self, calls: &'a Calls<'a>, work: &'a LabelWork) -> CarrierFuture<'a>;

    /// Fetches the QR code of the label that was bought under the reference, and asks for it first unless that was done before. A
    /// successful result holds a [`wire::returns::label::LabelCode`]. If the carrier [`refused`] it, the result holds its words.
    fn code<'a>(&'a self, calls: &'a Calls<'a>, work: &'a LabelWork) -> CarrierFuture<'a>;

    /// Voids the label that was bought under the reference, if there is one.
    fn void<'a>(&'a self, calls: &'a Calls<'a>, work: &'a LabelWork) -> CarrierFuture<'a>;
}

/// The means of calling a carrier.
pub(in crate::delivery::transports) struct Calls<'a> {
    pub(in crate::delivery::transports) client: &'a Client,
    /// False once the lease has expired: a process that was suspended must not make the next call.
    pub(in crate::delivery::transports) may_continue: &'a (dyn Fn() -> bool + Send + Sync),
}

/// A successful result with this answer.
pub(super) fn done(answer: Vec<u8>) -> CallResult {
    CallResult { answer: Bytes::from(answer), ..CallResult::refused(Outcome::Answered { status: 200, retry_after: None }) }
}

/// The result for a label or a code that the carrier refuses, with its words.
pub(super) fn refused(words: String) -> CallResult {
    CallResult { answer: Bytes::from(words), ..CallResult::refused(Outcome::Answered { status: REFUSED, retry_after: None }) }
}

/// The result for an answer of the carrier that cannot be used.
pub(super) fn unexpected(what: &str) -> CallResult {
    CallResult::refused(Outcome::Unreachable(format!("unexpected answer from the carrier: {what}")))
}
