//! Tries to sign in: each counts as failed until somebody has signed in, and many of them slow the next one down.

use chrono::{DateTime, Utc};
use store::Failed;
use store::merchants::operator_devices;
use store::merchants::operators::Account;
use store::merchants::sign_in_troubles::{self, Key};
use uuid::Uuid;

use super::sign_in_error::SignInError;
use super::visitor::Visitor;
use crate::app::App;
use crate::node::security::Event;

/// The counters that a try counts for.
pub(super) struct Tries(Vec<Key>);

impl Tries {
    /// The counters of a try from this browser: those of its address and of the account, or its own if the account knows it.
    pub(super) async fn of(app: &App, visitor: &Visitor, email: &str, account: Option<&Account>) -> Result<Self, Failed> {
        if let (Some(account), Some(hash)) = (account, &visitor.device) {
            let known = operator_devices::find(app.home(), account.operator.id, hash, app.now()).await?;
            if let Some(device) = known {
                return Ok(Self::of_device(app, device));
            }
        }
        Ok(Self::all(app, visitor, email))
    }

    /// The counter of a known browser.
    pub(super) fn of_device(app: &App, device: Uuid) -> Self {
        Self(vec![app.fingerprints.miss("sign-in device", &device.to_string())])
    }

    /// The counters of the address and of the account.
    pub(super) fn all(app: &App, visitor: &Visitor, email: &str) -> Self {
        let address = app.fingerprints.miss("sign-in address", &visitor.address);
        let account = app.fingerprints.miss("sign-in account", email);
        let mut keys = vec![address, account];
        // Everybody locks them in the same order.
        keys.sort_unstable();
        Self(keys)
    }

    pub(super) fn keys(&self) -> &[Key] {
        &self.0
    }

    /// Takes a try. It counts as failed until somebody has signed in, so that tries at the same moment count too.
    pub(super) async fn take(&self, app: &App) -> Result<(), SignInError> {
        let now = app.now();
        let mut tx = app.begin_home().await?;
        let mut refused: Option<DateTime<Utc>> = None;
        for key in &self.0 {
            match sign_in_troubles::lock(&mut tx, *key, now).await?.try_at(now) {
                Ok(trouble) => sign_in_troubles::save(&mut tx, *key, trouble).await?,
                Err(open_at) => refused = refused.max(Some(open_at)),
            }
        }
        match refused {
            // Dropping the transaction leaves the counters as they were.
            Some(open_at) => {
                Event::LimitHit { limit: "sign_in" }.log();
                Err(SignInError::TooSoon(open_at))
            }
            None => Ok(app.commit_home(tx).await?),
        }
    }

    /// Gives a try back that was right.
    pub(super) async fn give_back(&self, app: &App) -> Result<(), Failed> {
        let now = app.now();
        let mut tx = app.begin_home().await?;
        for key in &self.0 {
            let trouble = sign_in_troubles::lock(&mut tx, *key, now).await?;
            sign_in_troubles::save(&mut tx, *key, trouble.give_back(now)).await?;
        }
        app.commit_home(tx).await
    }
}
