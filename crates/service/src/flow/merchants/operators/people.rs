//! Administrators add people, change their roles, disable them and enable them again.

use domain::merchants::operator::{Email, Operator, OperatorId, Role};
use secrecy::SecretString;
use store::merchants::operator_invitations::{self, Purpose};
use store::merchants::{operator_codes, operator_devices, operator_sessions, operator_tokens, operators};
use store::{Failed, HomeTx};

use super::audit_row::record;
use super::invitation;
use crate::app::App;

/// On whose authority people are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authority {
    /// One administrator, in the console.
    Admin,
    /// Two administrators, or the command line, whose user can do everything anyway.
    Full,
}

/// The reasons that people are not changed.
#[derive(Debug, thiserror::Error)]
pub enum PeopleError {
    #[error("there is an operator with the e-mail address {0} already")]
    EmailTaken(String),
    #[error("there is no such operator; `backhaul operator list` lists all")]
    NoSuchOperator,
    #[error("{0} is disabled; enable them first")]
    Disabled(String),
    #[error("{0} is the only administrator; make somebody else an administrator first")]
    LastAdmin(String),
    #[error("administrators are made by two people: one administrator asks for it, another one decides")]
    NeedsSecondPerson,
    #[error(
        "whoever has the link can act as {0}, an administrator: reset it on the command line, with `backhaul operator reset`, or change the role first"
    )]
    AdminReset(String),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Adds a person. Returns them, and the one-time link with which they set their password.
pub async fn add(
    app: &App,
    actor: &str,
    authority: Authority,
    email: &Email,
    name: &str,
    role: Role,
) -> Result<(Operator, SecretString), PeopleError> {
    if role == Role::Admin && authority != Authority::Full {
        return Err(PeopleError::NeedsSecondPerson);
    }
    let operator = Operator { id: OperatorId(app.mint()), email: email.to_string(), name: name.to_owned(), role };
    let mut tx = app.begin_home().await?;
    match operators::insert(&mut tx, &operator, actor, app.now()).await {
        Err(failed) if failed.violates(operators::EMAIL_IS_UNIQUE) => return Err(PeopleError::EmailTaken(operator.email)),
        done => done?,
    }
    let link = invitation::make(app, &mut tx, Purpose::Invite(operator.id), actor).await?;
    record(app, &mut tx, actor, "operator.added", &format!("{}, {role}", operator.id)).await?;
    app.commit_home(tx).await?;
    Ok((operator, link))
}

/// Locks an operator, and with the second value says whether they are disabled.
async fn lock(tx: &mut HomeTx, id: OperatorId) -> Result<(Operator, bool), PeopleError> {
    operators::lock(tx, id).await?.ok_or(PeopleError::NoSuchOperator)
}

/// Refuses to leave the installation without an administrator.
fn keep_an_admin(admins: &[OperatorId], operator: &Operator) -> Result<(), PeopleError> {
    if admins == [operator.id] { Err(PeopleError::LastAdmin(operator.email.clone())) } else { Ok(()) }
}

/// Changes the role of a person. It takes effect with their next request.
pub async fn change_role(app: &App, actor: &str, authority: Authority, id: OperatorId, role: Role) -> Result<Operator, PeopleError> {
    let mut tx = app.begin_home().await?;
    let admins = operators::lock_admins(&mut tx).await?;
    let (operator, _) = lock(&mut tx, id).await?;
    if operator.role == role {
        return Ok(operator);
    }
    if role == Role::Admin && authority != Authority::Full {
        return Err(PeopleError::NeedsSecondPerson);
    }
    keep_an_admin(&admins, &operator)?;
    let changed = Operator { role, ..operator.clone() };
    operators::save(&mut tx, &changed).await?;
    record(app, &mut tx, actor, "operator.role_changed", &format!("{}: {} to {role}", operator.id, operator.role)).await?;
    app.commit_home(tx).await?;
    Ok(changed)
}

/// Disables a person: they are signed out at once, and their links and tokens stop working.
pub async fn disable(app: &App, actor: &str, id: OperatorId) -> Result<Operator, PeopleError> {
    let mut tx = app.begin_home().await?;
    let admins = operators::lock_admins(&mut tx).await?;
    let (operator, disabled) = lock(&mut tx, id).await?;
    if disabled {
        return Ok(operator);
    }
    keep_an_admin(&admins, &operator)?;
    operators::save_disabled(&mut tx, id, Some(app.now())).await?;
    operator_sessions::end_all(&mut tx, id, None, app.now()).await?;
    operator_tokens::revoke_all(&mut tx, id, app.now()).await?;
    operator_invitations::end(&mut tx, id, app.now()).await?;
    record(app, &mut tx, actor, "operator.disabled", &operator.id.to_string()).await?;
    app.commit_home(tx).await?;
    Ok(operator)
}

/// Enables a person again, with the password and role that they had. One administrator alone cannot bring an administrator back.
pub async fn enable(app: &App, actor: &str, authority: Authority, id: OperatorId) -> Result<Operator, PeopleError> {
    let mut tx = app.begin_home().await?;
    let (operator, disabled) = lock(&mut tx, id).await?;
    if !disabled {
        return Ok(operator);
    }
    if operator.role == Role::Admin && authority != Authority::Full {
        return Err(PeopleError::NeedsSecondPerson);
    }
    operators::save_disabled(&mut tx, id, None).await?;
    record(app, &mut tx, actor, "operator.enabled", &operator.id.to_string()).await?;
    app.commit_home(tx).await?;
    Ok(operator)
}

/// Takes password, authenticator, recovery codes, browsers, sessions and tokens from a person, and makes a link with which they begin anew.
pub async fn reset(app: &App, actor: &str, authority: Authority, id: OperatorId) -> Result<(Operator, SecretString), PeopleError> {
    let mut tx = app.begin_home().await?;
    let (operator, disabled) = lock(&mut tx, id).await?;
    if disabled {
        return Err(PeopleError::Disabled(operator.email));
    }
    if operator.role == Role::Admin && authority != Authority::Full {
        return Err(PeopleError::AdminReset(operator.email));
    }
    operators::save_password(&mut tx, id, None, app.now()).await?;
    operators::remove_totp(&mut tx, id).await?;
    operator_codes::replace(&mut tx, id, &[]).await?;
    operator_devices::remove_all(&mut tx, id).await?;
    operator_sessions::end_all(&mut tx, id, None, app.now()).await?;
    operator_tokens::revoke_all(&mut tx, id, app.now()).await?;
    let link = invitation::make(app, &mut tx, Purpose::Reset(id), actor).await?;
    record(app, &mut tx, actor, "operator.reset", &operator.id.to_string()).await?;
    app.commit_home(tx).await?;
    Ok((operator, link))
}
