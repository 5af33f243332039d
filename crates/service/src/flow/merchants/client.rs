//! A merchant's system that shows its client id and secret.

use std::net::IpAddr;

use chrono::{DateTime, Utc};
use futures::future::join_all;
use secrecy::{ExposeSecret as _, SecretString};
use store::merchants::credentials::{self, Holder};

use crate::app::App;
use crate::node::directory::first_found;
use crate::node::security::{Event, TokenFault};
use crate::platform::client_certificate::{Binding, ClientCertificate};
use crate::platform::keys::bearer::{self, Hash};
use crate::platform::networks::Networks;

/// A client's id and secret, where they come from, and the client certificate of the connection.
pub struct Shown<'a> {
    pub client_id: &'a str,
    pub client_secret: &'a SecretString,
    pub from: IpAddr,
    pub certificate: Option<ClientCertificate>,
}

/// A client that knows its secret.
pub(super) struct Client {
    /// The app of the cell in which its merchant lives.
    pub(super) app: App,
    pub(super) holder: Holder,
    /// The hash of the secret that it showed.
    pub(super) shown: Hash,
    /// The time until which that secret works, if it is the one before the newest rotation.
    pub(super) until: Option<DateTime<Utc>>,
}

/// The reasons a client is not known.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Unknown clients, wrong secrets, revoked and expired credentials, foreign networks and wrong client certificates all look the
    /// same from outside.
    #[error(
        "the client is unknown, its secret is wrong, or its credential was revoked, has expired or is not for this network or certificate"
    )]
    Wrong,
    #[error(transparent)]
    Failed(#[from] store::Failed),
}

/// Finds the client that knows its secret, whose credential has not ended, and that comes from a network of it with
/// a client certificate of it.
pub(super) async fn find(app: &App, shown: &Shown<'_>) -> Result<Client, ClientError> {
    let (app, holder) = look_up(app, shown.client_id).await?;
    let hash = bearer::hash(shown.client_secret.expose_secret());
    let now = app.now();
    // Compare for unknown clients too, so that they cannot be told apart by timing.
    let nobodys = [0; 32];
    let newest = holder.as_ref().map_or(&nobodys[..], |holder| &holder.secret_hash);
    let old = holder.as_ref().and_then(|holder| holder.old_secret.as_ref());
    let is_newest = bearer::same(&hash, newest);
    let is_old = bearer::same(&hash, old.map_or(&nobodys[..], |(old, _)| old));
    let until = old.map(|(_, until)| *until).filter(|until| is_old && !is_newest && *until > now);
    let right = is_newest || until.is_some();
    let fault = match &holder {
        None => Some(TokenFault::Unknown),
        Some(_) if !right => Some(TokenFault::WrongSecret),
        Some(holder) => fault_of(&app, holder, shown, now)?,
    };
    if let Some(reason) = fault {
        Event::TokenRefused { client: holder.as_ref().map(|holder| (shown.client_id, holder.merchant)), reason }.log();
    }
    let holder = holder.filter(|_| fault.is_none()).ok_or(ClientError::Wrong)?;
    Ok(Client { app, holder, shown: hash, until })
}

/// Finds a client and the app of its merchant's cell. Only the client's id is known, so all cells are asked, the first one first.
async fn look_up(app: &App, client_id: &str) -> Result<(App, Option<Holder>), store::Failed> {
    let apps = app.of_each_cell();
    let Some((home, others)) = apps.split_first() else { return Ok((app.clone(), None)) };
    let in_cell = |app: App| {
        let client_id = client_id.to_owned();
        async move { Ok::<_, store::Failed>(credentials::find(app.cell(), &client_id).await?.map(|holder| (app, holder))) }
    };
    let at_home = in_cell(home.clone()).await;
    let found = if others.is_empty() || matches!(at_home, Ok(Some(_))) {
        at_home?
    } else {
        let mut answers = join_all(others.iter().cloned().map(in_cell)).await;
        answers.push(at_home);
        first_found(answers)?
    };
    let Some((there, holder)) = found else { return Ok((home.clone(), None)) };
    // A merchant that has moved has left its credentials behind for a moment. If nobody says where it lives, the cell that has them
    // takes its writes, or refuses them.
    let lives = there.of(holder.merchant).await.unwrap_or_else(|_| there.clone());
    if lives.place().name() == there.place().name() {
        return Ok((there, Some(holder)));
    }
    let holder = credentials::find(lives.cell(), client_id).await?;
    Ok((lives, holder))
}

/// What keeps a credential whose secret is known from being used, if anything does.
fn fault_of(app: &App, holder: &Holder, shown: &Shown<'_>, now: DateTime<Utc>) -> Result<Option<TokenFault>, store::Failed> {
    let networks = Networks::parse(&holder.networks).map_err(|_| store::Failed::Internal("a stored network is unreadable"))?;
    let binding = Binding::parse(&holder.certificates).map_err(|_| store::Failed::Internal("a stored fingerprint is unreadable"))?;
    Ok(if holder.revoked {
        Some(TokenFault::Revoked)
    } else if holder.expires_at.is_some_and(|end| end <= now) {
        Some(TokenFault::Expired)
    } else if !networks.allow(shown.from) {
        Some(TokenFault::ForeignNetwork)
    } else {
        binding.check(shown.certificate, app.clock.wall()).err().map(TokenFault::from)
    })
}
