//! A merchant's system replaces its own secret.

use chrono::{DateTime, TimeDelta, Utc};
use secrecy::{ExposeSecret as _, SecretString};
use store::merchants::audit::{self, Entry};
use store::merchants::credentials::{self, NewSecret};

use super::client::{self, ClientError, Shown};
use crate::app::App;
use crate::platform::keys::bearer;

/// The time for which the old secret goes on if the client does not say: longer than a token lives.
pub const USUAL_OVERLAP: TimeDelta = TimeDelta::hours(48);
/// The longest time for which the old secret goes on.
pub const LONGEST_OVERLAP: TimeDelta = TimeDelta::days(30);

/// A new secret, which is shown only once.
pub struct Rotated {
    /// Only its hash is stored.
    pub client_secret: SecretString,
    /// The time until which the old secret works.
    pub old_until: DateTime<Utc>,
}

/// The reasons a secret is not replaced.
#[derive(Debug, thiserror::Error)]
pub enum RotateError {
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The secret that was shown is the old one, and the new one is in use.
    #[error("this secret was replaced before, and its successor is in use")]
    Replaced,
}

impl From<store::Failed> for RotateError {
    fn from(failed: store::Failed) -> Self {
        Self::Client(failed.into())
    }
}

/// Replaces the secret of the client that shows it. The old one works until the overlap ends.
///
/// A client whose answer was lost still has the old secret only. As long as nobody used the new one, the old one replaces it again;
/// the end of the overlap stays.
pub async fn rotate_credential(app: &App, shown: &Shown<'_>, overlap: TimeDelta) -> Result<Rotated, RotateError> {
    let client = client::find(app, shown).await?;
    let app = &client.app;
    let now = app.now();
    let old_until = match client.until {
        Some(_) if !client.holder.secret_unused => return Err(RotateError::Replaced),
        Some(until) => until,
        None => now + overlap.clamp(TimeDelta::zero(), LONGEST_OVERLAP),
    };
    let client_secret = bearer::new_client_secret(&app.entropy);
    let new = NewSecret {
        hash: &bearer::hash(client_secret.expose_secret()),
        end: bearer::end_of(&client_secret),
        old: (&client.shown, old_until),
    };
    let mut tx = app.begin(client.holder.merchant).await?;
    if !credentials::rotate(&mut tx, shown.client_id, &client.holder.secret_hash, &new).await? {
        return Err(RotateError::Replaced);
    }
    let (actor, detail) =
        (format!("client:{}", shown.client_id), format!("{}, the old secret until {}", shown.client_id, wire::time::write(old_until)));
    audit::record(&mut tx, Entry { id: app.mint(), actor: &actor, action: "credential.rotated", detail: &detail, done_at: now }).await?;
    app.commit(tx).await?;
    Ok(Rotated { client_secret, old_until })
}
