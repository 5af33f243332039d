//! The start of a session, which is the end of every sign-in.

use domain::merchants::operator::Operator;
use secrecy::{ExposeSecret as _, SecretString};
use store::merchants::operator_sessions::{self, NewSession};
use store::merchants::{operator_devices, sign_in_troubles};
use store::{Failed, HomeTx};

use super::audit_row::record;
use super::tries::Tries;
use super::visitor::Visitor;
use crate::app::App;
use crate::node::security::Event;
use crate::platform::keys::bearer;

/// A sign-in that succeeded.
pub struct SignedIn {
    pub operator: Operator,
    /// The token of the session, which is new with every sign-in.
    pub token: SecretString,
    /// The token of a browser that was not known before.
    pub device: Option<SecretString>,
    /// The page that was asked for.
    pub next: String,
    /// How the person signed in.
    means: &'static str,
}

impl SignedIn {
    /// Logs the sign-in, once it is committed.
    pub(super) fn log(&self) {
        Event::SignedIn { operator: self.operator.id, means: self.means }.log();
    }
}

/// Starts a session of `operator`, remembers the browser, and forgets the failed tries.
pub(super) async fn start(
    app: &App,
    tx: &mut HomeTx,
    visitor: &Visitor,
    operator: Operator,
    means: &'static str,
    next: String,
) -> Result<SignedIn, Failed> {
    let now = app.now();
    let token = bearer::new_secret(&app.entropy);
    let new =
        NewSession { id: app.mint(), operator: operator.id, address: &visitor.address, agent: &visitor.agent, means, started_at: now };
    operator_sessions::insert(tx, &bearer::hash(token.expose_secret()), new).await?;
    let known = match &visitor.device {
        Some(device) => operator_devices::touch(tx, operator.id, device, now).await?,
        None => None,
    };
    let device = if known.is_some() { None } else { Some(bearer::new_secret(&app.entropy)) };
    if let Some(device) = &device {
        let hash = bearer::hash(device.expose_secret());
        operator_devices::insert(tx, operator.id, &hash, app.mint(), &visitor.agent, now).await?;
    }
    let tries = known.map_or_else(|| Tries::all(app, visitor, &operator.email), |device| Tries::of_device(app, device));
    sign_in_troubles::clear(tx, tries.keys()).await?;
    record(app, tx, &operator.actor(), "operator.signed_in", &format!("{means}, {}, {}", visitor.address, visitor.agent)).await?;
    Ok(SignedIn { operator, token, device, next, means })
}
