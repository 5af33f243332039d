//! Personal tokens: an operator makes and revokes them, and an administrator revokes those of others.

use chrono::TimeDelta;
use domain::merchants::operator::token::{MOST_LIVE, NewToken, TokenRefused};
use domain::merchants::operator::{Operator, OperatorId, Role};
use secrecy::{ExposeSecret as _, SecretString};
use store::Failed;
use store::merchants::operator_tokens::{self, Hashes, Insert, Live};
use store::merchants::operators;
use uuid::Uuid;

use super::audit_row::record;
use crate::app::App;
use crate::node::security::Event;
use crate::platform::keys::bearer;

/// The reasons that a token is not made.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error(transparent)]
    Refused(#[from] TokenRefused),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Makes a token of `operator`, which is shown once.
pub async fn make(app: &App, operator: &Operator, name: &str, role: Role, days: u16) -> Result<SecretString, TokenError> {
    let NewToken { name, role, days } = NewToken::check(name, role, days, operator.role)?;
    let (token, made_at) = (bearer::new_personal_token(&app.entropy), app.now());
    let mut tx = app.begin_home().await?;
    // Two tokens that are made at the same moment are counted one after the other.
    operators::lock(&mut tx, operator.id).await?;
    if operator_tokens::list(app.home(), operator.id, made_at).await?.len() >= MOST_LIVE {
        return Err(TokenRefused::TooMany.into());
    }
    let expires_at = made_at + TimeDelta::days(days.into());
    let id = app.mint();
    let insert = Insert { id, operator: operator.id, name: &name, role, made_at, expires_at };
    operator_tokens::insert(&mut tx, (&app.fingerprints.token(token.expose_secret()), app.fingerprints.active()), insert).await?;
    record(app, &mut tx, &operator.actor(), "operator.token_made", &format!("{name}, {role}, {days} days")).await?;
    app.commit_home(tx).await?;
    Event::PersonalTokenMade { operator: operator.id, token: id }.log();
    Ok(token)
}

/// Revokes a token of the operator `of`. It stops at once. False if they have no such token that works.
pub async fn revoke(app: &App, actor: &str, of: OperatorId, token: Uuid) -> Result<bool, Failed> {
    let mut tx = app.begin_home().await?;
    let Some(name) = operator_tokens::revoke(&mut tx, of, token, app.now()).await? else { return Ok(false) };
    record(app, &mut tx, actor, "operator.token_revoked", &name).await?;
    app.commit_home(tx).await?;
    Event::PersonalTokenRevoked { operator: of, token }.log();
    Ok(true)
}

/// The person behind a token, with the role that the token has with them; none if it does not work.
pub async fn find(app: &App, token: &SecretString) -> Result<Option<Live>, Failed> {
    let all: Vec<Vec<u8>> = app.fingerprints.tokens(token.expose_secret()).into_iter().map(Vec::from).collect();
    let active = (all.first().map(Vec::as_slice).unwrap_or_default(), app.fingerprints.active());
    let found = operator_tokens::find(app.home(), Hashes { all: &all, active }, app.now()).await?;
    Ok(found.map(|live| Live { role: live.role.min(live.operator.role), ..live }))
}
