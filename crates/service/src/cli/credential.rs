//! `backhaul credential …`.

use clap::Subcommand;
use domain::access::{Scope, Scopes};
use domain::id::Handle;
use secrecy::ExposeSecret as _;
use serde::Serialize;
use store::credentials::{self, Credential};
use wire::time;

use super::output::{self, Format};
use super::{actor, merchant};
use crate::app::App;
use crate::flow::configure_merchant as flow;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Issue a credential; its secret is shown once.
    Issue {
        /// Whose it is.
        #[arg(long)]
        merchant: Handle,
        /// What it opens: orders, warehouse or carrier; repeat for several. Without it, everything.
        #[arg(long = "scope")]
        scopes: Vec<Scope>,
        /// What it is for.
        #[arg(long, default_value = "")]
        label: String,
    },
    /// List a merchant's credentials.
    List {
        /// Whose they are.
        #[arg(long)]
        merchant: Handle,
    },
    /// Revoke a credential and every token that it got, within 5 seconds.
    Revoke {
        /// Whose it is.
        #[arg(long)]
        merchant: Handle,
        /// Its client id.
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
struct Shown {
    client_id: String,
    scope: String,
    label: String,
    state: &'static str,
    issued_at: String,
}

impl From<Credential> for Shown {
    fn from(credential: Credential) -> Self {
        Self {
            client_id: credential.client_id,
            scope: credential.scopes.to_string(),
            label: credential.label,
            state: if credential.revoked_at.is_some() { "revoked" } else { "live" },
            issued_at: time::write(credential.issued_at),
        }
    }
}

pub(super) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::Issue { merchant: handle, scopes, label } => {
            let merchant = merchant(app, &handle).await?;
            let scopes = if scopes.is_empty() { Scopes::all() } else { scopes.into_iter().collect() };
            let issued = flow::issue_credential(app, &actor(), merchant.id, scopes, &label).await?;
            let client_secret = issued.client_secret.expose_secret().to_owned();
            output::one(format, &Issued { client_id: issued.client_id, client_secret, scope: scopes.to_string() })?;
            if format == Format::Table {
                eprintln!("\nThe secret is not kept and not shown again: hand both over to the merchant in a safe way.");
            }
            Ok(())
        }
        Command::List { merchant: handle } => {
            let merchant = merchant(app, &handle).await?;
            let credentials: Vec<Shown> =
                credentials::list(app.store(merchant.id), merchant.id).await?.into_iter().map(Shown::from).collect();
            let empty = format!("{handle} has no credentials yet; `backhaul credential issue --merchant {handle}` issues one.");
            output::list(format, &credentials, &empty, &["CLIENT ID", "SCOPE", "LABEL", "STATE", "ISSUED"], |shown| {
                vec![shown.client_id.clone(), shown.scope.clone(), shown.label.clone(), shown.state.to_owned(), shown.issued_at.clone()]
            })
        }
        Command::Revoke { merchant: handle, client_id } => {
            let merchant = merchant(app, &handle).await?;
            flow::revoke_credential(app, &actor(), merchant.id, &client_id).await?;
            output::line(&format!("{client_id} is revoked; its tokens stop working within 5 seconds."));
            Ok(())
        }
    }
}
