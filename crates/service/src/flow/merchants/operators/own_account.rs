//! What people change about their own account: sessions, browsers, recovery codes and the password.

use domain::merchants::operator::{Operator, PasswordRefused, check_password};
use secrecy::{ExposeSecret as _, SecretString};
use store::Failed;
use store::merchants::operators::{self, Account};
use store::merchants::{operator_devices, operator_sessions};
use uuid::Uuid;

use super::audit_row::record;
use super::second_step::{replace_codes, wrong_code};
use super::sign_in_error::SignInError;
use super::ticket::open_totp;
use super::tries::Tries;
use super::visitor::Visitor;
use crate::app::App;
use crate::node::security::{Event, SignInFault};
use crate::platform::keys::password::{self, NotHashed};

/// The reasons that an account is not changed.
#[derive(Debug, thiserror::Error)]
pub enum OwnAccountError {
    #[error(transparent)]
    Password(#[from] PasswordRefused),
    #[error(transparent)]
    SignIn(#[from] SignInError),
    #[error(transparent)]
    Failed(#[from] Failed),
}

impl From<NotHashed> for OwnAccountError {
    fn from(_: NotHashed) -> Self {
        Self::Failed(Failed::Internal("a password cannot be hashed"))
    }
}

/// Ends one of the person's sessions. False if there is no such session.
pub async fn end_session(app: &App, operator: &Operator, session: Uuid) -> Result<bool, Failed> {
    let mut tx = app.begin_home().await?;
    let ended = operator_sessions::end(&mut tx, operator.id, session, app.now()).await?;
    if ended {
        record(app, &mut tx, &operator.actor(), "operator.session_ended", &operator.id.to_string()).await?;
        app.commit_home(tx).await?;
    }
    Ok(ended)
}

/// Ends all of the person's sessions but `this`, or all. Returns their number.
pub async fn end_sessions(app: &App, operator: &Operator, but: Option<Uuid>) -> Result<u64, Failed> {
    let mut tx = app.begin_home().await?;
    let ended = operator_sessions::end_all(&mut tx, operator.id, but, app.now()).await?;
    record(app, &mut tx, &operator.actor(), "operator.sessions_ended", &operator.id.to_string()).await?;
    app.commit_home(tx).await?;
    Ok(ended)
}

/// Forgets one of the person's browsers. False if there is no such browser.
pub async fn forget_device(app: &App, operator: &Operator, device: Uuid) -> Result<bool, Failed> {
    let mut tx = app.begin_home().await?;
    let removed = operator_devices::remove(&mut tx, operator.id, device).await?;
    if removed {
        record(app, &mut tx, &operator.actor(), "operator.device_forgotten", &operator.id.to_string()).await?;
        app.commit_home(tx).await?;
    }
    Ok(removed)
}

/// The person's account, and the counters of a try that has been taken.
async fn account(app: &App, visitor: &Visitor, operator: &Operator) -> Result<(Account, Tries), SignInError> {
    let account = operators::get(app.home(), operator.id).await?.ok_or(SignInError::Outdated)?;
    let tries = Tries::of(app, visitor, &operator.email, Some(&account)).await?;
    tries.take(app).await?;
    Ok((account, tries))
}

/// Replaces the recovery codes, with a code of the authenticator. They are shown once.
pub async fn new_codes(app: &App, visitor: &Visitor, operator: &Operator, code: &str) -> Result<Vec<SecretString>, OwnAccountError> {
    let (account, tries) = account(app, visitor, operator).await?;
    let secret = open_totp(app, &account)?.ok_or_else(|| wrong_code(operator.id))?;
    let step = secret.step_of(code, app.now()).ok_or_else(|| wrong_code(operator.id))?;
    let mut tx = app.begin_home().await?;
    if !operators::use_step(&mut tx, operator.id, step).await? {
        return Err(wrong_code(operator.id).into());
    }
    let codes = replace_codes(app, &mut tx, operator.id).await?;
    record(app, &mut tx, &operator.actor(), "operator.recovery_codes_replaced", &operator.id.to_string()).await?;
    app.commit_home(tx).await?;
    tries.give_back(app).await?;
    Ok(codes)
}

/// Changes the password, with the current one. Other sessions end.
pub async fn change_password(
    app: &App,
    visitor: &Visitor,
    operator: &Operator,
    session: Uuid,
    current: &SecretString,
    new: &SecretString,
) -> Result<(), OwnAccountError> {
    check_password(new.expose_secret(), &operator.email)?;
    let (account, tries) = account(app, visitor, operator).await?;
    if !password::verify(current, account.password_hash.as_deref()).await? {
        Event::SignInRefused { operator: Some(operator.id), reason: SignInFault::WrongPassword }.log();
        return Err(SignInError::Wrong.into());
    }
    tries.give_back(app).await?;
    let hash = password::hash(new, &app.entropy).await?;
    let mut tx = app.begin_home().await?;
    operators::save_password(&mut tx, operator.id, Some(&hash), app.now()).await?;
    operator_sessions::end_all(&mut tx, operator.id, Some(session), app.now()).await?;
    record(app, &mut tx, &operator.actor(), "operator.password_changed", &operator.id.to_string()).await?;
    app.commit_home(tx).await?;
    Ok(())
}
