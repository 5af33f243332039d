//! `/sign-in/single`: the way to the identity provider and back.

use axum::response::{AppendHeaders, IntoResponse as _, Redirect, Response};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use super::cookie;
use super::entry::Entry;
use super::error::ConsoleError;
use super::form::Query;
use super::next::local;
use super::sign_in::with_cookies;
use crate::flow::merchants::operators::provider::ProviderError;
use crate::flow::merchants::operators::single_sign_on::{SingleSignOnError, begin, finish};
use crate::flow::merchants::operators::ticket::{self, Authorisation};

#[derive(Deserialize)]
pub(super) struct Wanted {
    #[serde(default)]
    next: String,
}

/// What the provider sends people back with.
#[derive(Deserialize)]
pub(super) struct Back {
    code: Option<SecretString>,
    #[serde(default)]
    state: String,
}

pub(super) async fn leave(entry: Entry, Query(wanted): Query<Wanted>) -> Result<Response, ConsoleError> {
    let (address, authorisation) = begin(&entry.app, &local(&wanted.next)).await.map_err(told)?;
    let sealed = authorisation.seal(&entry.app)?;
    let cookie = cookie::set(cookie::PROVIDER, sealed.expose_secret(), Some(ticket::WORKS_FOR.num_seconds()))?;
    Ok((AppendHeaders([cookie]), Redirect::to(&address)).into_response())
}

pub(super) async fn come_back(entry: Entry, Query(back): Query<Back>) -> Result<Response, ConsoleError> {
    let kept = entry.cookie(cookie::PROVIDER).and_then(|text| Authorisation::open(&entry.app, text));
    let kept = kept.ok_or_else(|| refused("It took longer than ten minutes, or was begun in another browser."))?;
    let code = back.code.ok_or_else(|| refused("The identity provider did not let you in."))?;
    let signed_in = finish(&entry.app, &entry.visitor, &kept, &back.state, code).await.map_err(told)?;
    with_cookies(&signed_in, Redirect::to(&signed_in.next).into_response())
}

fn refused(why: &str) -> ConsoleError {
    ConsoleError::Refused(format!("The single sign-on did not succeed. {why} Begin again, or sign in with a password."))
}

fn told(error: SingleSignOnError) -> ConsoleError {
    match error {
        SingleSignOnError::Provider(ProviderError::NotSetUp) => ConsoleError::NotFound,
        SingleSignOnError::Provider(error @ (ProviderError::Settings(_) | ProviderError::Unreachable(_))) => {
            // The cause helps whoever runs the installation; it holds nothing of the person.
            tracing::warn!(%error, "single sign-on failed");
            refused("The identity provider could not be asked; the service's log says why.")
        }
        SingleSignOnError::Provider(error @ ProviderError::Refused(_)) => {
            tracing::warn!(%error, "single sign-on failed");
            refused("The identity provider's answer was not accepted; the service's log says why.")
        }
        SingleSignOnError::NoEmail => refused("The identity provider gave no e-mail address that it has checked."),
        SingleSignOnError::NoRole => refused("None of your groups has a role here. Ask whoever looks after the groups."),
        SingleSignOnError::Disabled(_) => refused("Your account here is disabled. An administrator can enable it."),
        SingleSignOnError::Failed(failed) => failed.into(),
    }
}
