//! The second step of a sign-in: a code of the authenticator, or a recovery code; at the first sign-in, setting an authenticator up.

use domain::merchants::operator::OperatorId;
use secrecy::{ExposeSecret as _, SecretString};
use store::merchants::operators::{self, Account};
use store::merchants::{operator_codes, operator_sessions};
use store::{Failed, HomeTx};

use super::audit_row::record;
use super::session::{self, SignedIn};
use super::sign_in_error::SignInError;
use super::ticket::{HalfSignIn, open_totp, seal_totp};
use super::tries::Tries;
use super::visitor::Visitor;
use crate::app::App;
use crate::node::security::Event;
use crate::platform::entropy::Entropy;
use crate::platform::keys::bearer;
use crate::platform::keys::totp::base32;

/// The number of recovery codes.
pub const RECOVERY_CODES: usize = 10;

/// The account of a half sign-in, if it still works.
pub async fn account_of(app: &App, half: &HalfSignIn) -> Result<Account, SignInError> {
    let account = operators::get(app.home(), half.operator).await?;
    account.filter(|account| half.fits(account)).ok_or(SignInError::Outdated)
}

/// Takes a try at the second step.
async fn take_try(app: &App, visitor: &Visitor, account: &Account) -> Result<(), SignInError> {
    Tries::of(app, visitor, &account.operator.email, Some(account)).await?.take(app).await
}

/// The error of a code that is wrong, or was used before.
pub(super) fn wrong_code(operator: OperatorId) -> SignInError {
    Event::SecondFactorWrong { operator }.log();
    SignInError::WrongCode
}

/// Signs in with a code of the authenticator. Each code works once.
pub async fn confirm(app: &App, visitor: &Visitor, half: &HalfSignIn, code: &str) -> Result<SignedIn, SignInError> {
    let account = account_of(app, half).await?;
    let secret = open_totp(app, &account)?.ok_or(SignInError::Outdated)?;
    take_try(app, visitor, &account).await?;
    let step = secret.step_of(code, app.now()).ok_or_else(|| wrong_code(account.operator.id))?;
    let mut tx = app.begin_home().await?;
    if !operators::use_step(&mut tx, account.operator.id, step).await? {
        return Err(wrong_code(account.operator.id));
    }
    let signed_in = session::start(app, &mut tx, visitor, account.operator, "password", half.next.clone()).await?;
    app.commit_home(tx).await?;
    signed_in.log();
    Ok(signed_in)
}

/// Signs in with a recovery code. Each works once.
pub async fn recover(app: &App, visitor: &Visitor, half: &HalfSignIn, code: &str) -> Result<SignedIn, SignInError> {
    let account = account_of(app, half).await?;
    take_try(app, visitor, &account).await?;
    let mut tx = app.begin_home().await?;
    if account.totp.is_none()
        || !operator_codes::take(&mut tx, account.operator.id, &code_hash(account.operator.id, code), app.now()).await?
    {
        return Err(wrong_code(account.operator.id));
    }
    record(app, &mut tx, &account.operator.actor(), "operator.recovery_code_used", &account.operator.id.to_string()).await?;
    let signed_in = session::start(app, &mut tx, visitor, account.operator, "recovery", half.next.clone()).await?;
    app.commit_home(tx).await?;
    signed_in.log();
    Ok(signed_in)
}

/// Sets the authenticator up, with a code that shows that it works, and signs in. Returns the recovery codes, which are shown once.
pub async fn enrol(app: &App, visitor: &Visitor, half: &HalfSignIn, code: &str) -> Result<(SignedIn, Vec<SecretString>), SignInError> {
    let account = account_of(app, half).await?;
    let secret = half.enrolling.as_ref().filter(|_| account.totp.is_none()).ok_or(SignInError::Outdated)?;
    take_try(app, visitor, &account).await?;
    let step = secret.step_of(code, app.now()).ok_or_else(|| wrong_code(account.operator.id))?;
    let id = account.operator.id;
    let mut tx = app.begin_home().await?;
    operators::lock(&mut tx, id).await?.ok_or(SignInError::Outdated)?;
    if !operators::enrol_totp(&mut tx, id, &seal_totp(app, id, secret)?, step).await? {
        return Err(SignInError::Outdated);
    }
    let codes = replace_codes(app, &mut tx, id).await?;
    // Whoever was signed in without a second step is not any more.
    operator_sessions::end_all(&mut tx, id, None, app.now()).await?;
    record(app, &mut tx, &account.operator.actor(), "operator.authenticator_set", &account.operator.id.to_string()).await?;
    let signed_in = session::start(app, &mut tx, visitor, account.operator, "password", half.next.clone()).await?;
    app.commit_home(tx).await?;
    signed_in.log();
    Ok((signed_in, codes))
}

/// Replaces the recovery codes. Only their hashes are stored.
pub(super) async fn replace_codes(app: &App, tx: &mut HomeTx, of: OperatorId) -> Result<Vec<SecretString>, Failed> {
    let codes: Vec<SecretString> = (0..RECOVERY_CODES).map(|_| new_code(&app.entropy)).collect();
    let hashes: Vec<Vec<u8>> = codes.iter().map(|code| code_hash(of, code.expose_secret()).to_vec()).collect();
    operator_codes::replace(tx, of, &hashes).await?;
    Ok(codes)
}

/// A code of 80 random bits, in groups of four letters. A fast hash is enough, because nobody can guess it.
fn new_code(entropy: &Entropy) -> SecretString {
    let letters: Vec<char> = base32(&entropy.bytes::<10>()).to_lowercase().chars().collect();
    let groups: Vec<String> = letters.chunks(4).map(|group| group.iter().collect()).collect();
    groups.join("-").into()
}

/// The hash of a code, however it was typed.
fn code_hash(of: OperatorId, code: &str) -> bearer::Hash {
    let letters: String = code.chars().filter(char::is_ascii_alphanumeric).collect();
    bearer::hash(&format!("{of} {}", letters.to_lowercase()))
}
