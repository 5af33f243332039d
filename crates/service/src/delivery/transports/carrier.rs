//! Carriers: buys labels there, and voids them.
//!
//! After a crash nobody knows how far the work got, so every step can be repeated: a shipment is created under a reference of
//! ours, and a shipment that already exists under this reference is reused.

mod easypost;

use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use domain::messages::delivery::Outcome;
use secrecy::SecretString;
use store::returns::carrier_accounts::Account;
use wire::returns::label::{LabelAction, LabelWork};

use self::easypost::EasyPost;
use crate::delivery::client::{CallResult, Client};

/// The maximum size of a carrier's answer. Labels are documents with images.
const MOST_READ: usize = 2 * 1024 * 1024;

/// The future of a carrier's calls, one after the other.
type CarrierFuture<'a> = Pin<Box<dyn Future<Output = CallResult> + Send + 'a>>;

/// A carrier's API.
trait Carrier: Send + Sync {
    /// Buys a label, or returns the label that was bought before under the same reference. A successful result holds a
    /// [`wire::returns::label::BoughtLabel`].
    fn buy<'a>(&'a self, calls: &'a Calls<'a>, work: &'a LabelWork) -> CarrierFuture<'a>;

    /// Voids the label that was bought under the reference, if there is one.
    fn void<'a>(&'a self, calls: &'a Calls<'a>, work: &'a LabelWork) -> CarrierFuture<'a>;
}

/// The means of calling a carrier.
pub(super) struct Calls<'a> {
    pub(super) client: &'a Client,
    /// False once the lease has expired: a process that was suspended must not make the next call.
    pub(super) may_continue: &'a (dyn Fn() -> bool + Send + Sync),
}

/// A label to buy or to void, with the merchant's account. It has no `Debug` because it holds the API key.
pub(crate) struct LabelTask {
    carrier: Box<dyn Carrier>,
    work: LabelWork,
}

impl LabelTask {
    pub(super) fn new(account: &Account, api_key: SecretString, work: LabelWork) -> Self {
        let carrier = match account.carrier {
            domain::returns::carrier::Carrier::EasyPost => EasyPost::new(&account.url, api_key),
        };
        Self { carrier: Box::new(carrier), work }
    }

    /// Makes all calls that the task needs.
    pub(super) async fn run(&self, calls: &Calls<'_>) -> CallResult {
        match self.work.action {
            LabelAction::Buy => self.carrier.buy(calls, &self.work).await,
            LabelAction::Void => self.carrier.void(calls, &self.work).await,
        }
    }
}

/// A successful result with this answer.
fn done(answer: Vec<u8>) -> CallResult {
    CallResult { answer: Bytes::from(answer), ..CallResult::refused(Outcome::Answered { status: 200, retry_after: None }) }
}

/// The result for an answer of the carrier that cannot be used.
fn unexpected(what: &str) -> CallResult {
    CallResult::refused(Outcome::Unreachable(format!("unexpected answer from the carrier: {what}")))
}
