//! `backhaul credential …`: the client credentials with which merchants get access tokens.

mod certificate;

use chrono::{DateTime, Utc};
use clap::Subcommand;
use domain::merchants::access::{Scope, Scopes};
use secrecy::ExposeSecret as _;
use serde::Serialize;
use store::merchants::accounts::Merchant;
use store::merchants::credentials::{self, Credential};
use wire::time;

use self::certificate::CertificateOut;
use crate::app::App;
use crate::cli::confirm::Confirmation;
use crate::cli::context::{OfMerchant, actor};
use crate::cli::output::{self, Format};
use crate::flow::merchants::configure_merchant as flow;
use crate::platform::networks::Network;

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// Issue a credential; its secret is shown once.
    Issue {
        #[command(flatten)]
        merchant: OfMerchant,
        /// A scope to grant: `orders`, `warehouse` or `carrier`. Repeat for several.
        #[arg(long = "scope", required = true)]
        scopes: Vec<Scope>,
        /// A note on what the credential is for.
        #[arg(long, default_value = "")]
        label: String,
        /// The days after which it opens nothing; until it is revoked if left out.
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=3650))]
        expires_in_days: Option<u32>,
        /// A network from which it may be used, such as 192.0.2.0/24. Repeat for several; from anywhere if left out.
        #[arg(long = "network", value_name = "NETWORK")]
        networks: Vec<Network>,
        /// A PEM file with a client certificate, without its private key. The credential then works only over TLS connections with
        /// that certificate. Repeat for a second one.
        #[arg(long = "client-certificate", value_name = "FILE")]
        client_certificates: Vec<String>,
    },
    /// List a merchant's credentials.
    List {
        #[command(flatten)]
        merchant: OfMerchant,
    },
    /// Revoke a credential and every token issued to it, within 5 seconds.
    ///
    /// Shows what follows and asks first.
    Revoke {
        #[command(flatten)]
        merchant: OfMerchant,
        /// The credential's client id.
        client_id: String,
        #[command(flatten)]
        confirmation: Confirmation,
    },
    /// Manage the client certificates that a credential is bound to (mTLS).
    #[command(subcommand)]
    Certificate(certificate::Command),
}

#[derive(Serialize)]
struct Issued {
    client_id: String,
    client_secret: String,
    scope: String,
    expires_at: Option<String>,
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
    /// The newest call that was answered for it, to a few minutes.
    last_used_at: Option<String>,
    expires_at: Option<String>,
    /// None of them: from anywhere.
    networks: Vec<String>,
    /// The end of a rotation's overlap.
    old_secret_until: Option<String>,
    /// None of them: it works without one.
    client_certificates: Vec<CertificateOut>,
}

impl CredentialOut {
    fn new(credential: Credential, now: DateTime<Utc>) -> Self {
        let ahead = |at: Option<DateTime<Utc>>| at.filter(|at| *at > now).map(time::write);
        Self {
            client_id: credential.client_id,
            scope: credential.scopes.to_string(),
            label: credential.label,
            state: match (credential.revoked_at, credential.expires_at) {
                (Some(_), _) => "revoked",
                (None, Some(end)) if end <= now => "expired",
                (None, _) => "live",
            },
            issued_at: time::write(credential.issued_at),
            secret_end: credential.secret_end,
            last_token_at: credential.last_token_at.map(time::write),
            last_used_at: credential.last_used_at.map(time::write),
            expires_at: credential.expires_at.map(time::write),
            networks: credential.networks,
            old_secret_until: ahead(credential.old_secret_until),
            client_certificates: credential.certificates.iter().map(CertificateOut::new).collect(),
        }
    }
}

pub(in crate::cli) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::Issue { merchant, scopes, label, expires_in_days, networks, client_certificates } => {
            let merchant = merchant.find(app).await?;
            let scopes: Scopes = scopes.into_iter().collect();
            let certificates = client_certificates.iter().map(|path| certificate::read(app, path)).collect::<Result<_, _>>()?;
            let terms = flow::Terms { scopes, label, days: expires_in_days, networks, certificates };
            let issued = flow::issue_credential(app, &actor(), merchant.id, &terms).await?;
            let client_secret = issued.client_secret.expose_secret().to_owned();
            let expires_at = issued.expires_at.map(time::write);
            output::one(format, &Issued { client_id: issued.client_id, client_secret, scope: scopes.to_string(), expires_at })?;
            if format == Format::Table {
                output::note("\nThe secret is not stored and cannot be shown again. Send both to the merchant over a secure channel.");
            }
            Ok(())
        }
        Command::List { merchant } => {
            let id = merchant.find(app).await?.id;
            let credentials = credentials::list(app.store(id), id).await?;
            let now = app.now();
            let credentials: Vec<CredentialOut> = credentials.into_iter().map(|credential| CredentialOut::new(credential, now)).collect();
            let empty =
                format!("{merchant} has no credentials yet; `backhaul credential issue --merchant {merchant} --scope …` issues one.");
            let headers = [
                "CLIENT ID",
                "SCOPE",
                "LABEL",
                "STATE",
                "ISSUED",
                "EXPIRES",
                "LAST TOKEN",
                "LAST USE",
                "NETWORKS",
                "OLD SECRET UNTIL",
                "CERTIFICATES",
            ];
            output::list(format, &credentials, &empty, &headers, |shown| {
                let or = |value: &Option<String>, none: &str| value.clone().unwrap_or_else(|| none.to_owned());
                vec![
                    shown.client_id.clone(),
                    shown.scope.clone(),
                    shown.label.clone(),
                    shown.state.to_owned(),
                    shown.issued_at.clone(),
                    or(&shown.expires_at, "never"),
                    or(&shown.last_token_at, "never"),
                    or(&shown.last_used_at, "never"),
                    if shown.networks.is_empty() { "any".to_owned() } else { shown.networks.join(" ") },
                    or(&shown.old_secret_until, "-"),
                    shown.client_certificates.len().to_string(),
                ]
            })
        }
        Command::Revoke { merchant, client_id, confirmation } => {
            let merchant = merchant.find(app).await?;
            if let Some(preview) = revocation(app, &merchant, &client_id).await? {
                confirmation.ask(&preview, &merchant.handle)?;
            }
            flow::revoke_credential(app, &actor(), merchant.id, &client_id).await?;
            output::said(format, &format!("{client_id} was revoked; its tokens stop working within 5 seconds."))
        }
        Command::Certificate(command) => certificate::run(command, app, format).await,
    }
}

/// What revoking the credential does; none if it is not live, which is refused later.
async fn revocation(app: &App, merchant: &Merchant, client_id: &str) -> anyhow::Result<Option<String>> {
    let listed = credentials::list(app.store(merchant.id), merchant.id).await?;
    let now = app.now();
    let is_live = |credential: &&Credential| credential.revoked_at.is_none() && credential.expires_at.is_none_or(|end| end > now);
    let Some(credential) = listed.iter().find(|credential| credential.client_id == client_id && credential.revoked_at.is_none()) else {
        return Ok(None);
    };
    let used = credential.last_used_at.max(credential.last_token_at);
    let used = used.map_or_else(|| "It was never used.".to_owned(), |at| format!("It was last used at {}.", time::write(at)));
    let left = match listed.iter().filter(is_live).filter(|other| other.client_id != client_id).count() {
        0 => "No other credential is left: the merchant's systems are locked out until you issue one.".to_owned(),
        1 => "1 other credential goes on working.".to_owned(),
        others => format!("{others} other credentials go on working."),
    };
    let label = if credential.label.is_empty() { String::new() } else { format!(" ({})", credential.label) };
    Ok(Some(format!(
        "Revoking {client_id}{label} of {} refuses new tokens at once, and every token issued for it within 5 seconds. {used} {left} \
         It cannot be undone.",
        merchant.handle
    )))
}
