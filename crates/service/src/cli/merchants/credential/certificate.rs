//! `backhaul credential certificate …`: the client certificates that a credential is bound to.

use anyhow::Context as _;
use clap::Subcommand;
use serde::Serialize;
use store::merchants::credentials;
use store::merchants::credentials::certificates::BoundCertificate;
use wire::time;

use crate::app::App;
use crate::cli::context::{OfMerchant, actor};
use crate::cli::output::{self, Format};
use crate::cli::session;
use crate::flow::merchants::bind_certificate::{BindError, add_certificate, remove_certificate};
use crate::platform::client_certificate::{ClientCertificate, Fingerprint, MOST_PEM_BYTES};

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// Bind a credential to one more client certificate, of at most two.
    ///
    /// From the first one on, the credential gets tokens and uses them only over TLS connections with a certificate of it.
    Add {
        #[command(flatten)]
        merchant: OfMerchant,
        /// The credential's client id.
        client_id: String,
        /// A PEM file with the certificate, without its private key. Of several, the first counts.
        #[arg(long, value_name = "FILE")]
        client_certificate: String,
    },
    /// Release a credential from a client certificate, within 5 seconds; the last one stays.
    Remove {
        #[command(flatten)]
        merchant: OfMerchant,
        /// The credential's client id.
        client_id: String,
        /// The certificate's SHA-256 in hexadecimal, with or without colons.
        fingerprint: Fingerprint,
    },
    /// List the client certificates of a credential.
    List {
        #[command(flatten)]
        merchant: OfMerchant,
        /// The credential's client id.
        client_id: String,
    },
}

/// Reads the file of `--client-certificate`.
pub(super) fn read(app: &App, path: &str) -> anyhow::Result<ClientCertificate> {
    let pem = session::file("client certificate", path, MOST_PEM_BYTES)?;
    ClientCertificate::from_pem(&pem, app.clock.wall()).context("the client certificate cannot be used")
}

#[derive(Serialize)]
pub(super) struct CertificateOut {
    sha256: String,
    expires_at: String,
}

impl CertificateOut {
    pub(super) fn new(certificate: &BoundCertificate) -> Self {
        let fingerprint = Fingerprint::try_from(certificate.fingerprint.as_slice());
        let sha256 = fingerprint.map_or_else(|_| "unreadable".to_owned(), |fingerprint| fingerprint.to_string());
        Self { sha256, expires_at: time::write(certificate.expires_at) }
    }
}

pub(super) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    let (merchant, client_id) = match command {
        Command::Add { merchant, client_id, client_certificate } => {
            let new = read(app, &client_certificate)?;
            add_certificate(app, &actor(), merchant.find(app).await?.id, &client_id, new).await?;
            (merchant, client_id)
        }
        Command::Remove { merchant, client_id, fingerprint } => {
            remove_certificate(app, &actor(), merchant.find(app).await?.id, &client_id, fingerprint).await?;
            (merchant, client_id)
        }
        Command::List { merchant, client_id } => (merchant, client_id),
    };
    let id = merchant.find(app).await?.id;
    let found = credentials::list(app.store(id), id).await?.into_iter().find(|credential| credential.client_id == client_id);
    let found = found.ok_or_else(|| BindError::NoSuchCredential(client_id.clone()))?;
    let certificates: Vec<CertificateOut> = found.certificates.iter().map(CertificateOut::new).collect();
    let empty = format!("{client_id} is bound to no client certificate; it works without one.");
    output::list(format, &certificates, &empty, &["SHA-256", "EXPIRES"], |shown| vec![shown.sha256.clone(), shown.expires_at.clone()])
}
