//! One-time links: the first administrator, an invited person, or somebody after a reset sets a password.

use domain::merchants::operator::{Email, Operator, OperatorId, PasswordRefused, Role, check_password, person_name};
use secrecy::{ExposeSecret as _, SecretString};
use store::merchants::operator_invitations::{self, Purpose};
use store::merchants::operators;
use store::{Failed, HomeTx};

use super::audit_row::record;
use super::ticket::HalfSignIn;
use crate::app::App;
use crate::platform::keys::bearer;
use crate::platform::keys::password::{self, NotHashed};

/// Whom a link is for.
#[derive(Clone, Debug)]
pub struct Invited {
    /// None for the first administrator, who says who they are.
    pub operator: Option<Operator>,
}

/// What somebody enters who follows a link.
pub struct Accepted {
    /// Of the first administrator only.
    pub email: String,
    pub name: String,
    pub password: SecretString,
}

/// The reasons that a link leads nowhere, or that nothing was set.
#[derive(Debug, thiserror::Error)]
pub enum InvitationError {
    /// It was used, it is too old, a newer one was made, or there is a first administrator already.
    #[error("the link does not work any more")]
    NoSuchLink,
    #[error(transparent)]
    Password(#[from] PasswordRefused),
    #[error("that is no e-mail address")]
    Email,
    #[error("that is no name")]
    Name,
    #[error(transparent)]
    Failed(#[from] Failed),
}

impl From<NotHashed> for InvitationError {
    fn from(_: NotHashed) -> Self {
        Self::Failed(Failed::Internal("a password cannot be hashed"))
    }
}

/// The URL of the console: that of the settings, or else its listener's address.
fn console_url(app: &App) -> String {
    let console = &app.settings.console;
    console.url().map_or_else(|| format!("http://{}", console.listen().unwrap_or_default()), str::to_owned)
}

/// Makes a link, whose token is stored as a hash only.
pub(super) async fn make(app: &App, tx: &mut HomeTx, purpose: Purpose, made_by: &str) -> Result<SecretString, Failed> {
    make_at(app, tx, &console_url(app), purpose, made_by).await
}

async fn make_at(app: &App, tx: &mut HomeTx, base: &str, purpose: Purpose, made_by: &str) -> Result<SecretString, Failed> {
    let token = bearer::new_secret(&app.entropy);
    operator_invitations::insert(tx, &bearer::hash(token.expose_secret()), purpose, made_by, app.now()).await?;
    Ok(format!("{base}/invitation/{}", token.expose_secret()).into())
}

/// Makes the link for the first administrator, to the console at `base`. `None` if there is an operator already.
pub async fn first_link(app: &App, base: &str) -> Result<Option<SecretString>, Failed> {
    if operators::any(app.home()).await? {
        return Ok(None);
    }
    let mut tx = app.begin_home().await?;
    let link = make_at(app, &mut tx, base, Purpose::First, "serve").await?;
    app.commit_home(tx).await?;
    Ok(Some(link))
}

/// Whom the link with this token is for. `None` if it does not work.
pub async fn look_at(app: &App, token: &SecretString) -> Result<Option<Invited>, Failed> {
    let purpose = operator_invitations::find(app.home(), &bearer::hash(token.expose_secret()), app.now()).await?;
    match purpose {
        None => Ok(None),
        Some(Purpose::First) if operators::any(app.home()).await? => Ok(None),
        Some(Purpose::First) => Ok(Some(Invited { operator: None })),
        Some(Purpose::Invite(id) | Purpose::Reset(id)) => {
            let account = operators::get(app.home(), id).await?.filter(|account| account.disabled_at.is_none());
            Ok(account.map(|account| Invited { operator: Some(account.operator) }))
        }
    }
}

/// Uses a link up and sets the password. The second step follows.
pub async fn accept(app: &App, token: &SecretString, accepted: &Accepted) -> Result<HalfSignIn, InvitationError> {
    let invited = look_at(app, token).await?.ok_or(InvitationError::NoSuchLink)?;
    let operator = match invited.operator {
        Some(operator) => operator,
        None => Operator {
            id: OperatorId(app.mint()),
            email: accepted.email.parse::<Email>().map_err(|_| InvitationError::Email)?.to_string(),
            name: person_name(&accepted.name).ok_or(InvitationError::Name)?,
            role: Role::Admin,
        },
    };
    check_password(accepted.password.expose_secret(), &operator.email)?;
    let hash = password::hash(&accepted.password, &app.entropy).await?;
    let now = app.now();
    let mut tx = app.begin_home().await?;
    let purpose = operator_invitations::take(&mut tx, &bearer::hash(token.expose_secret()), now).await?;
    match purpose.ok_or(InvitationError::NoSuchLink)? {
        Purpose::First => {
            if !operators::lock_the_first(&mut tx).await? {
                return Err(InvitationError::NoSuchLink);
            }
            operators::insert(&mut tx, &operator, "first link", now).await?;
            record(app, &mut tx, &operator.actor(), "operator.added", &format!("{}, admin", operator.id)).await?;
        }
        Purpose::Invite(_) | Purpose::Reset(_) => {
            let locked = operators::lock(&mut tx, operator.id).await?;
            locked.filter(|(_, disabled)| !disabled).ok_or(InvitationError::NoSuchLink)?;
        }
    }
    operators::save_password(&mut tx, operator.id, Some(&hash), now).await?;
    record(app, &mut tx, &operator.actor(), "operator.password_set", &operator.id.to_string()).await?;
    app.commit_home(tx).await?;
    let account = operators::get(app.home(), operator.id).await?.ok_or(InvitationError::NoSuchLink)?;
    Ok(HalfSignIn::new(app, &account, "/"))
}
