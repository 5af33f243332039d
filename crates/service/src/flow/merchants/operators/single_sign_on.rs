//! Single sign-on: the identity provider says who somebody is, and their groups give the role, at every sign-in.

use domain::merchants::operator::{Email, Operator, OperatorId, person_name};
use secrecy::SecretString;
use store::Failed;
use store::merchants::operators;

use super::audit_row::record;
use super::provider::{self, Identity, ProviderError, RETURN_PATH};
use super::session::{self, SignedIn};
use super::ticket::Authorisation;
use super::visitor::Visitor;
use crate::app::App;
use crate::node::security::{Event, SignInFault};

/// The name in the audit log of what the groups of a person change.
const ACTOR: &str = "single sign-on";

/// The reasons that a single sign-on fails.
#[derive(Debug, thiserror::Error)]
pub enum SingleSignOnError {
    #[error(transparent)]
    Provider(#[from] ProviderError),
    #[error("the identity provider gave no e-mail address that it has checked")]
    NoEmail,
    #[error("none of the person's groups has a role here")]
    NoRole,
    #[error("the operator is disabled")]
    Disabled(OperatorId),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// The address to which the provider sends people back. The settings have one if they name a provider.
fn back(app: &App) -> Result<String, ProviderError> {
    let base = app.settings.console.url().ok_or(ProviderError::NotSetUp)?;
    Ok(format!("{base}{RETURN_PATH}"))
}

/// The address of the provider, and the ticket for the way back.
pub async fn begin(app: &App, next: &str) -> Result<(String, Authorisation), SingleSignOnError> {
    Ok(provider::begin(app, &back(app)?, next).await?)
}

/// Signs in whoever the provider says it is. Somebody new becomes an operator.
pub async fn finish(
    app: &App,
    visitor: &Visitor,
    authorisation: &Authorisation,
    state: &str,
    code: SecretString,
) -> Result<SignedIn, SingleSignOnError> {
    let done = take_back(app, visitor, authorisation, state, code).await;
    match &done {
        Ok(signed_in) => signed_in.log(),
        Err(SingleSignOnError::Disabled(operator)) => {
            Event::SignInRefused { operator: Some(*operator), reason: SignInFault::Disabled }.log();
        }
        Err(SingleSignOnError::Provider(_) | SingleSignOnError::NoEmail | SingleSignOnError::NoRole) => {
            Event::SignInRefused { operator: None, reason: SignInFault::Provider }.log();
        }
        Err(SingleSignOnError::Failed(_)) => {}
    }
    done
}

/// Exchanges the provider's code for the person, and starts their session.
async fn take_back(
    app: &App,
    visitor: &Visitor,
    authorisation: &Authorisation,
    state: &str,
    code: SecretString,
) -> Result<SignedIn, SingleSignOnError> {
    let identity = provider::finish(app, &back(app)?, authorisation, state, code).await?;
    let Identity { email, email_is_verified, name, groups } = identity;
    let email: Email = email.filter(|_| email_is_verified).and_then(|email| email.parse().ok()).ok_or(SingleSignOnError::NoEmail)?;
    let role = app.settings.console.oidc.role_of(groups.iter().map(String::as_str)).ok_or(SingleSignOnError::NoRole)?;
    let name = name.as_deref().and_then(person_name);
    let known = operators::find(app.home(), email.as_str()).await?.map(|account| account.operator.id);
    let mut tx = app.begin_home().await?;
    let stored = match known {
        Some(id) => operators::lock(&mut tx, id).await?,
        None => None,
    };
    let operator = match stored {
        Some((disabled, true)) => return Err(SingleSignOnError::Disabled(disabled.id)),
        Some((stored, false)) => {
            let operator = Operator { name: name.unwrap_or_else(|| stored.name.clone()), role, ..stored.clone() };
            operators::save(&mut tx, &operator).await?;
            if stored.role != role {
                let detail = format!("{}: {} to {role}", operator.id, stored.role);
                record(app, &mut tx, ACTOR, "operator.role_changed", &detail).await?;
            }
            operator
        }
        None => {
            let name = name.unwrap_or_else(|| email.to_string());
            let operator = Operator { id: OperatorId(app.mint()), email: email.to_string(), name, role };
            operators::insert(&mut tx, &operator, ACTOR, app.now()).await?;
            record(app, &mut tx, ACTOR, "operator.added", &format!("{}, {role}", operator.id)).await?;
            operator
        }
    };
    let signed_in = session::start(app, &mut tx, visitor, operator, "single_sign_on", authorisation.next.clone()).await?;
    app.commit_home(tx).await?;
    Ok(signed_in)
}
