//! Carriers: buys labels there, fetches their QR codes, and voids them.
//!
//! After a crash nobody knows how far the work got, so every step can be repeated: a shipment is created under a reference of
//! ours, and a shipment that already exists under this reference is reused.

mod api;
mod easypost;
mod picture;

use secrecy::SecretString;
use store::returns::carrier_accounts::Account;
use wire::returns::label::{LabelAction, LabelWork};

pub(super) use self::api::Calls;
use self::api::Carrier;
use self::easypost::EasyPost;
use crate::delivery::client::CallResult;

/// Work on a label, with the merchant's account. It has no `Debug` because it holds the API key.
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
            LabelAction::Code => self.carrier.code(calls, &self.work).await,
            LabelAction::Void => self.carrier.void(calls, &self.work).await,
        }
    }
}
