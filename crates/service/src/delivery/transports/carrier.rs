//! Carriers: labels are bought and given back there.
//!
//! What a carrier is asked may be asked again: after a crash nobody knows how far it came. So a shipment is made under the
//! return's own name, and whatever there is already under that name is used.

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

/// How much of a carrier's answer is read: labels come with pictures.
pub(in crate::delivery) const MOST_READ: usize = 2 * 1024 * 1024;

/// What a carrier does, one call after the other.
type Doing<'a> = Pin<Box<dyn Future<Output = CallResult> + Send + 'a>>;

/// Somebody who carries parcels.
trait Carrier: Send + Sync {
    /// Buys a label, unless one was bought before under the same reference. It is answered as [`wire::returns::label::BoughtLabel`].
    fn buy<'a>(&'a self, calls: &'a Calls<'a>, work: &'a LabelWork) -> Doing<'a>;

    /// Gives a label back, if one was bought under the reference.
    fn void<'a>(&'a self, calls: &'a Calls<'a>, work: &'a LabelWork) -> Doing<'a>;
}

/// How a carrier is called.
pub(in crate::delivery) struct Calls<'a> {
    /// The only client.
    pub(in crate::delivery) client: &'a Client,
    /// Whether the next call may still be made: a process that was stopped for a while must not go on where it was.
    pub(in crate::delivery) may_go_on: &'a (dyn Fn() -> bool + Send + Sync),
}

/// A merchant's account, ready for use. It has no `Debug`: it holds the key.
pub(in crate::delivery) struct Ready {
    carrier: Box<dyn Carrier>,
    work: LabelWork,
}

impl Ready {
    /// The account, and what is to be done with it.
    pub(in crate::delivery) fn new(account: &Account, api_key: SecretString, work: LabelWork) -> Self {
        let carrier = match account.carrier {
            domain::returns::carrier::Carrier::EasyPost => EasyPost::new(&account.url, api_key),
        };
        Self { carrier: Box::new(carrier), work }
    }

    /// Does it.
    pub(in crate::delivery) async fn go(&self, calls: &Calls<'_>) -> CallResult {
        match self.work.action {
            LabelAction::Buy => self.carrier.buy(calls, &self.work).await,
            LabelAction::Void => self.carrier.void(calls, &self.work).await,
        }
    }
}

/// It is done; `answer` says what came of it.
fn done(answer: Vec<u8>) -> CallResult {
    CallResult { answer: Bytes::from(answer), ..CallResult::refused(Outcome::Answered { status: 200, retry_after: None }) }
}

/// The carrier's answer makes no sense.
fn odd(what: &str) -> CallResult {
    CallResult::refused(Outcome::Unreachable(format!("the carrier's answer is not understood: {what}")))
}
