//! `backhaul operator …`: the people who work with the console.

use anyhow::{Context as _, bail};
use clap::Subcommand;
use domain::merchants::operator::{Email, Operator, Role, person_name};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use store::merchants::operator_tokens;
use store::merchants::operators::{self, Listed};
use uuid::Uuid;
use wire::time;

use crate::app::App;
use crate::cli::context::{actor, authority};
use crate::cli::output::{self, Format};
use crate::flow::merchants::operators::people;
use crate::flow::merchants::operators::sign_in::session_limits;
use crate::flow::merchants::operators::tokens;

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// Add an operator. Prints a one-time link with which they set their password; it works for 72 hours.
    Add {
        /// The e-mail address with which they sign in.
        email: Email,
        /// The name that colleagues see.
        #[arg(long)]
        name: String,
        /// The role: `viewer`, `support`, `manager` or `admin`; `backhaul operator roles` says what each may do.
        #[arg(long)]
        role: Role,
    },
    /// List all operators.
    List,
    /// Change the role of an operator, at once.
    Set {
        /// The operator's e-mail address.
        email: Email,
        /// The new role: `viewer`, `support`, `manager` or `admin`.
        #[arg(long)]
        role: Role,
    },
    /// Disable an operator: they are signed out at once and cannot sign in.
    Disable {
        /// The operator's e-mail address.
        email: Email,
    },
    /// Enable an operator again.
    Enable {
        /// The operator's e-mail address.
        email: Email,
    },
    /// Take an operator's password, authenticator, sessions and tokens away, and print a one-time link with which they begin anew.
    Reset {
        /// The operator's e-mail address.
        email: Email,
    },
    /// List the tokens of an operator that work.
    Tokens {
        /// The operator's e-mail address.
        email: Email,
    },
    /// Revoke a token of an operator; it stops at once.
    RevokeToken {
        /// The operator's e-mail address.
        email: Email,
        /// The token's id, as in `backhaul operator tokens`.
        token: Uuid,
    },
    /// Say what each role may do.
    Roles,
}

#[derive(Serialize)]
struct OperatorOut {
    operator_id: String,
    email: String,
    name: String,
    role: &'static str,
    state: &'static str,
    sessions: i64,
    seen_at: Option<String>,
}

impl From<Listed> for OperatorOut {
    fn from(listed: Listed) -> Self {
        let state = match (listed.disabled_at, listed.has_password, listed.means, listed.invited_until) {
            (Some(_), ..) => "disabled",
            (None, true, ..) | (None, false, Some(_), None) => "enabled",
            (None, false, _, Some(_)) => "invited",
            (None, false, None, None) => "invitation over",
        };
        let Operator { id, email, name, role } = listed.operator;
        let (operator_id, seen_at) = (id.to_string(), listed.seen_at.map(time::write));
        Self { operator_id, email, name, role: role.as_str(), state, sessions: listed.sessions, seen_at }
    }
}

#[derive(Serialize)]
struct TokenOut {
    token_id: String,
    name: String,
    role: String,
    made_at: String,
    expires_at: String,
    used_at: Option<String>,
}

impl From<operator_tokens::Listed> for TokenOut {
    fn from(token: operator_tokens::Listed) -> Self {
        Self {
            token_id: token.id.to_string(),
            name: token.name,
            role: token.role,
            made_at: time::write(token.made_at),
            expires_at: time::write(token.expires_at),
            used_at: token.used_at.map(time::write),
        }
    }
}

#[derive(Serialize)]
struct Link {
    email: String,
    link: String,
}

#[derive(Serialize)]
struct RoleOut {
    role: &'static str,
    may: &'static str,
}

pub(in crate::cli) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::Add { email, name, role } => {
            let name = person_name(&name).context("--name must have 1 to 100 characters, without line breaks")?;
            let (operator, link) = people::add(app, &actor(), authority(), &email, &name, role).await?;
            show_link(operator, &link, format)
        }
        Command::List => {
            let limits = session_limits(app);
            let listed = operators::list(app.home(), limits.idle, limits.longest, app.now()).await?;
            let rows: Vec<OperatorOut> = listed.into_iter().map(OperatorOut::from).collect();
            let empty = "There are no operators. `backhaul operator add` adds one.";
            output::list(format, &rows, empty, &["EMAIL", "NAME", "ROLE", "STATE", "SESSIONS", "LAST SEEN"], |row| {
                vec![
                    row.email.clone(),
                    row.name.clone(),
                    row.role.to_owned(),
                    row.state.to_owned(),
                    row.sessions.to_string(),
                    row.seen_at.clone().unwrap_or_else(|| "-".to_owned()),
                ]
            })
        }
        Command::Set { email, role } => {
            let id = find(app, &email).await?.id;
            let operator = people::change_role(app, &actor(), authority(), id, role).await?;
            output::said(format, &format!("{} has the role {}.", operator.email, operator.role))
        }
        Command::Disable { email } => {
            let operator = people::disable(app, &actor(), find(app, &email).await?.id).await?;
            output::said(format, &format!("{} is disabled and signed out.", operator.email))
        }
        Command::Enable { email } => {
            let operator = people::enable(app, &actor(), authority(), find(app, &email).await?.id).await?;
            output::said(format, &format!("{} is enabled, with the role {}.", operator.email, operator.role))
        }
        Command::Reset { email } => {
            let (operator, link) = people::reset(app, &actor(), authority(), find(app, &email).await?.id).await?;
            show_link(operator, &link, format)
        }
        Command::Tokens { email } => {
            let listed = operator_tokens::list(app.home(), find(app, &email).await?.id, app.now()).await?;
            let rows: Vec<TokenOut> = listed.into_iter().map(TokenOut::from).collect();
            let empty = format!("{email} has no tokens that work.");
            output::list(format, &rows, &empty, &["TOKEN", "NAME", "ROLE", "MADE", "EXPIRES", "LAST USED"], |row| {
                let used = row.used_at.clone().unwrap_or_else(|| "never".to_owned());
                vec![row.token_id.clone(), row.name.clone(), row.role.clone(), row.made_at.clone(), row.expires_at.clone(), used]
            })
        }
        Command::RevokeToken { email, token } => {
            if !tokens::revoke(app, &actor(), find(app, &email).await?.id, token).await? {
                bail!("{email} has no such token that works; `backhaul operator tokens {email}` lists them");
            }
            output::said(format, "The token was revoked.")
        }
        Command::Roles => {
            let rows = Role::ALL.map(|role| RoleOut { role: role.as_str(), may: role.may() });
            output::list(format, &rows, "", &["ROLE", "MAY"], |row| vec![row.role.to_owned(), row.may.to_owned()])
        }
    }
}

async fn find(app: &App, email: &Email) -> anyhow::Result<Operator> {
    let account = operators::find(app.home(), email.as_str()).await?;
    let account = account.with_context(|| format!("there is no operator {email}; `backhaul operator list` lists all"))?;
    Ok(account.operator)
}

/// Prints a link, which is shown only now.
fn show_link(operator: Operator, link: &SecretString, format: Format) -> anyhow::Result<()> {
    output::note("Give this link to the person, and to nobody else. It works once, for 72 hours, and is not shown again.");
    output::one(format, &Link { email: operator.email, link: link.expose_secret().to_owned() })
}
