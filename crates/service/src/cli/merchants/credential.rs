//! `backhaul credential …`: the client credentials with which merchants get access tokens.

use clap::Subcommand;
use domain::merchants::access::{Scope, Scopes};
use secrecy::ExposeSecret as _;
use serde::Serialize;
use store::merchants::credentials::{self, Credential};
use wire::time;

use crate::app::App;
use crate::cli::context::{OfMerchant, actor};
use crate::cli::output::{self, Format};
use crate::flow::merchants::configure_merchant as flow;

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// Issue a credential; its secret is shown once.
    Issue {
        #[command(flatten)]
        merchant: OfMerchant,
        /// A scope to grant: `orders`, `warehouse` or `carrier`. Repeat for several; all scopes if left out.
        #[arg(long = "scope")]
        scopes: Vec<Scope>,
        /// A note on what the credential is for.
        #[arg(long, default_value = "")]
        label: String,
    },
    /// List a merchant's credentials.
    List {
        #[command(flatten)]
        merchant: OfMerchant,
    },
    /// Revoke a credential and every token issued to it, within 5 seconds.
    Revoke {
        #[command(flatten)]
        merchant: OfMerchant,
        /// The credential's client id.
        client_id: String,
    },
}

#[derive(Serialize)]
struct Issued {
    client_id: String,
    client_secret: String,
    scope: String,
}

#[derive(Serialize)]
struct CredentialOut {
    client_id: String,
    scope: String,
    label: String,
    state: &'static str,
    issued_at: String,
    /// The last four characters of the secret.
    secret_end: Option<String>,
    last_token_at: Option<String>,
}

impl From<Credential> for CredentialOut {
    fn from(credential: Credential) -> Self {
        Self {
            client_id: credential.client_id,
            scope: credential.scopes.to_string(),
            label: credential.label,
            state: if credential.revoked_at.is_some() { "revoked" } else { "live" },
            issued_at: time::write(credential.issued_at),
            secret_end: credential.secret_end,
            last_token_at: credential.last_token_at.map(time::write),
        }
    }
}

pub(in crate::cli) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::Issue { merchant, scopes, label } => {
            let merchant = merchant.find(app).await?;
            let scopes = if scopes.is_empty() { Scopes::all() } else { scopes.into_iter().collect() };
            let issued = flow::issue_credential(app, &actor(), merchant.id, scopes, &label).await?;
            let client_secret = issued.client_secret.expose_secret().to_owned();
            output::one(format, &Issued { client_id: issued.client_id, client_secret, scope: scopes.to_string() })?;
            if format == Format::Table {
                output::note("\nThe secret is not stored and cannot be shown again. Send both to the merchant over a secure channel.");
            }
            Ok(())
        }
        Command::List { merchant } => {
            let id = merchant.find(app).await?.id;
            let credentials = credentials::list(app.store(id), id).await?;
            let credentials: Vec<CredentialOut> = credentials.into_iter().map(CredentialOut::from).collect();
            let empty = format!("{merchant} has no credentials yet; `backhaul credential issue --merchant {merchant}` issues one.");
            output::list(format, &credentials, &empty, &["CLIENT ID", "SCOPE", "LABEL", "STATE", "ISSUED", "LAST TOKEN"], |shown| {
                let CredentialOut { client_id, scope, label, state, issued_at, last_token_at, secret_end: _ } = shown;
                let last = last_token_at.clone().unwrap_or_else(|| "never".to_owned());
                vec![client_id.clone(), scope.clone(), label.clone(), (*state).to_owned(), issued_at.clone(), last]
            })
        }
        Command::Revoke { merchant, client_id } => {
            let merchant = merchant.find(app).await?;
            flow::revoke_credential(app, &actor(), merchant.id, &client_id).await?;
            output::line(&format!("{client_id} was revoked; its tokens stop working within 5 seconds."));
            Ok(())
        }
    }
}
