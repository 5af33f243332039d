//! The first step of a sign-in: the password.

use domain::merchants::operator::Email;
use secrecy::SecretString;
use store::merchants::{operator_sessions, operators};

pub use super::sign_in_error::SignInError;
use super::ticket::HalfSignIn;
use super::tries::Tries;
use super::visitor::Visitor;
use crate::app::App;
use crate::node::security::{Event, SignInFault};
use crate::platform::keys::password;

/// Checks a password. A wrong one slows the address and the account down, but not a browser that the account knows.
pub async fn check_password(
    app: &App,
    visitor: &Visitor,
    email: &str,
    password: &SecretString,
    next: &str,
) -> Result<HalfSignIn, SignInError> {
    let email = email.parse::<Email>().map_or_else(|_| email.trim().to_lowercase(), |email| email.to_string());
    let account = operators::find(app.home(), &email).await?;
    let tries = Tries::of(app, visitor, &email, account.as_ref()).await?;
    tries.take(app).await?;
    let known = account.as_ref().map(|account| (account.operator.id, account.disabled_at.is_some()));
    let enabled = account.filter(|account| account.disabled_at.is_none());
    let stored = enabled.as_ref().and_then(|account| account.password_hash.as_deref());
    let is_right = password::verify(password, stored).await?;
    match enabled {
        Some(account) if is_right => {
            tries.give_back(app).await?;
            Ok(HalfSignIn::new(app, &account, next))
        }
        _ => {
            let reason = match known {
                None => SignInFault::UnknownAccount,
                Some((_, true)) => SignInFault::Disabled,
                Some((_, false)) => SignInFault::WrongPassword,
            };
            Event::SignInRefused { operator: known.map(|(operator, _)| operator), reason }.log();
            Err(SignInError::Wrong)
        }
    }
}

/// The limits of sessions in the settings.
#[must_use]
pub fn session_limits(app: &App) -> operator_sessions::Limits {
    let (idle, longest) = app.settings.console.session_limits();
    operator_sessions::Limits { idle, longest }
}
