//! `backhaul endpoint …`: the addresses where merchants' systems receive messages.

mod check;
mod listing;
mod preview;
mod replay;
mod trial;

use anyhow::{Context as _, anyhow, bail};
use clap::{Args, Subcommand, ValueEnum};
use domain::messages::message::Interface;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use store::merchants::accounts::Merchant;
use store::node::short_ids::Identified;

use self::listing::{Row, find, list, show};
use crate::app::App;
use crate::cli::confirm::Confirmation;
use crate::cli::context::{OfEndpoint, OfMerchant, actor};
use crate::cli::id::Id;
use crate::cli::output::{self, Format};
use crate::cli::{reseal, session};
use crate::delivery::secrets::authentication::{Authentication, ExtraHeader, OAuth, Style};
use crate::flow::messages::configure_endpoint::{self as flow, CertificateChange, Configured, EndpointChange};
use crate::flow::messages::replay_messages::cancel_replay;
use crate::platform::client_certificate::MOST_PEM_BYTES;

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// Add or change an endpoint.
    ///
    /// Options that are left out keep their value. The signing secret of a new endpoint is shown once.
    Set(Box<Set>),
    /// List the endpoints of a merchant or of all merchants: their state, the last answer, and what is owed and given up.
    List(listing::List),
    /// Show an endpoint: why it fails, what is owed to it, and its settings.
    Show(OfEndpoint),
    /// Send a signed trial message once, the way real messages are sent, and show the answer.
    ///
    /// Its body is a made-up message of the interface; the header `X-Service-Trial` says that it is a trial. Exits with 0 if it was
    /// accepted. `exchange_variants` receives no messages: it is queried instead.
    Test {
        #[command(flatten)]
        endpoint: OfEndpoint,
        /// The variant identifier to query `exchange_variants` for.
        #[arg(long, default_value = "test")]
        variant_identifier: String,
    },
    /// Check whether a merchant's endpoints are fit to go live, with test messages that a sound system accepts or refuses.
    ///
    /// Reports per endpoint what passed, what failed, why it matters and what to do. Exits with 0 if everything that applies was
    /// checked and nothing failed.
    Check(check::Check),
    /// Stop sending to an endpoint; owed messages wait until it is resumed.
    Pause(OfEndpoint),
    /// Resume sending to a paused endpoint.
    Resume(OfEndpoint),
    /// Create a new signing secret, shown once; messages are signed with the previous one too for 24 hours.
    ///
    /// Shows what follows and asks first.
    RotateSecret {
        #[command(flatten)]
        endpoint: OfEndpoint,
        #[command(flatten)]
        confirmation: Confirmation,
    },
    /// Remove an endpoint; messages still owed to it go to the failure queue.
    ///
    /// Shows what follows and asks first.
    Remove {
        #[command(flatten)]
        endpoint: OfEndpoint,
        #[command(flatten)]
        confirmation: Confirmation,
    },
    /// Send the delivered messages of a time range once more, in order, with the same ids and bytes.
    ///
    /// Shows how many they are and asks first. Messages can be replayed for 29 days.
    Replay(replay::Replay),
    /// List a merchant's replays and their progress.
    Replays {
        #[command(flatten)]
        merchant: OfMerchant,
    },
    /// Cancel a replay; messages that it has released are still delivered.
    CancelReplay {
        #[command(flatten)]
        merchant: OfMerchant,
        /// The id of the replay.
        job: Id,
    },
    /// Reseal the endpoints' secrets with the current key of `keys.sealing`, where an older key was used: of a merchant, or of all.
    Reseal(reseal::Reseal),
}

#[derive(Args)]
pub(in crate::cli) struct Set {
    #[command(flatten)]
    endpoint: OfEndpoint,
    /// The complete URL; for `exchange_variants` it must contain `{variant_identifier}`.
    #[arg(long, conflicts_with = "base")]
    url: Option<String>,
    /// The merchant's base URL, to which the interface's standard path is added.
    #[arg(long)]
    base: Option<String>,
    /// The way calls authenticate. The secret is read from the environment variable `BACKHAUL_ENDPOINT_SECRET`.
    #[arg(long, value_enum)]
    authentication: Option<Way>,
    /// The user name for `basic`, or the client id for OAuth.
    #[arg(long)]
    user: Option<String>,
    /// The header for `api-key`.
    #[arg(long, default_value = "X-Api-Key")]
    header: String,
    /// The URL that issues OAuth tokens.
    #[arg(long)]
    token_url: Option<String>,
    /// The OAuth scope to request.
    #[arg(long)]
    scope: Option<String>,
    /// A header beside the OAuth token, such as the key of a gateway. Its value is read from the environment variable
    /// `BACKHAUL_ENDPOINT_HEADER_SECRET`.
    #[arg(long, value_name = "NAME", requires = "token_url")]
    extra_header: Option<String>,
    /// A PEM file with a client certificate to present (mTLS), followed by its intermediates, to the endpoint and to the URL that
    /// issues OAuth tokens. An empty name removes it.
    #[arg(long, value_name = "FILE")]
    client_certificate: Option<String>,
    /// A PEM file with the private key of the client certificate, without a passphrase. It is stored sealed and never shown.
    #[arg(long, value_name = "FILE", requires = "client_certificate")]
    client_key: Option<String>,
    /// The most concurrent calls (10 unless set).
    #[arg(long)]
    slots: Option<i32>,
    /// The most calls per second (20 unless set).
    #[arg(long)]
    per_second: Option<i32>,
    /// The seconds to wait before each of the five retries, such as 5,40,320,2560,20480; `usual` restores these.
    #[arg(long)]
    waits: Option<String>,
    /// A header that carries the API version, as `Name: value`.
    #[arg(long)]
    version_header: Option<String>,
    /// Send all messages that were written while there was no endpoint, in order.
    #[arg(long)]
    send_waiting: bool,
    #[arg(skip)]
    secret: Option<SecretString>,
    #[arg(skip)]
    header_secret: Option<SecretString>,
}

/// A way to authenticate at an endpoint.
#[derive(Clone, Copy, ValueEnum)]
enum Way {
    /// Only the signature.
    None,
    /// A fixed bearer token.
    Bearer,
    /// User name and password.
    Basic,
    /// A key in a header of the endpoint's choice.
    ApiKey,
    /// OAuth 2.0 client credentials, requested with a JSON body.
    OauthJson,
    /// OAuth 2.0 client credentials, requested with a form body.
    OauthForm,
    /// OAuth 2.0 client credentials, requested with id and secret as HTTP Basic.
    OauthBasic,
    /// OAuth 2.0 client credentials, requested with the id and the client certificate instead of a secret.
    OauthTls,
}

impl Set {
    fn change(self, interface: Interface) -> anyhow::Result<EndpointChange> {
        let authentication = self.authentication.map(|way| self.authentication_of(way)).transpose()?;
        let client_certificate = self.certificate_change()?;
        let base = self.base.map(|base| format!("{}{}", base.trim_end_matches('/'), interface.path()));
        let waits =
            match self.waits.as_deref() {
                None => None,
                Some("usual") => Some(Vec::new()),
                Some(waits) => {
                    Some(waits.split(',').map(|wait| wait.trim().parse()).collect::<Result<_, std::num::ParseIntError>>().map_err(
                        |_| anyhow!("--waits takes five times in whole seconds, separated by commas, such as 5,40,320,2560,20480"),
                    )?)
                }
            };
        let version_header = match self.version_header.as_deref().map(|header| header.split_once(':')) {
            None => None,
            Some(Some((name, value))) => Some((name.trim().to_owned(), value.trim().to_owned())),
            Some(None) => bail!("--version-header has no colon; write it as `Name: value`"),
        };
        Ok(EndpointChange {
            url: self.url.or(base),
            authentication,
            client_certificate,
            slots: self.slots,
            per_second: self.per_second,
            waits,
            version_header,
            send_waiting: self.send_waiting,
        })
    }

    fn authentication_of(&self, way: Way) -> anyhow::Result<Authentication> {
        let secret =
            || self.secret.clone().context("this authentication needs a secret: set the environment variable BACKHAUL_ENDPOINT_SECRET");
        let user = || self.user.clone().context("this authentication needs a user: give --user");
        let oauth = |style, client_secret| {
            anyhow::Ok(Authentication::OAuth(OAuth {
                token_url: self.token_url.clone().context("OAuth needs the URL that issues tokens: give --token-url")?,
                client_id: user()?,
                client_secret,
                scope: self.scope.clone(),
                style,
                extra: self.extra_header()?,
            }))
        };
        Ok(match way {
            Way::None => Authentication::None,
            Way::Bearer => Authentication::Bearer(secret()?),
            Way::Basic => Authentication::Basic { user: user()?, password: secret()? },
            Way::ApiKey => Authentication::ApiKey { header: self.header.clone(), value: secret()? },
            Way::OauthJson => oauth(Style::Json, secret()?)?,
            Way::OauthForm => oauth(Style::Form, secret()?)?,
            Way::OauthBasic => oauth(Style::Basic, secret()?)?,
            Way::OauthTls => oauth(Style::Certificate, SecretString::default())?,
        })
    }

    /// Reads the files of the client certificate.
    fn certificate_change(&self) -> anyhow::Result<Option<CertificateChange>> {
        match (self.client_certificate.as_deref(), self.client_key.as_deref()) {
            (None, _) => Ok(None),
            (Some(""), _) => Ok(Some(CertificateChange::Removed)),
            (Some(_), None | Some("")) => bail!("a client certificate needs its private key: give --client-key"),
            (Some(certificate), Some(key)) => Ok(Some(CertificateChange::Files {
                certificate: session::file("client certificate", certificate, MOST_PEM_BYTES)?,
                key: session::file("client key", key, MOST_PEM_BYTES)?.into(),
            })),
        }
    }

    fn extra_header(&self) -> anyhow::Result<Option<ExtraHeader>> {
        let Some(name) = self.extra_header.clone() else { return Ok(None) };
        let value = self.header_secret.clone();
        let value = value.context("the header needs a value: set the environment variable BACKHAUL_ENDPOINT_HEADER_SECRET")?;
        Ok(Some(ExtraHeader { name, value }))
    }
}

#[derive(Serialize)]
struct Secret {
    interface: &'static str,
    signing_secret: String,
}

pub(in crate::cli) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::Set(mut set) => {
            set.secret = session::secret("BACKHAUL_ENDPOINT_SECRET");
            set.header_secret = session::secret("BACKHAUL_ENDPOINT_HEADER_SECRET");
            let merchant = set.endpoint.merchant.find(app).await?;
            let interface = set.endpoint.interface;
            let configured = flow::set_endpoint(app, &actor(), merchant.id, interface, set.change(interface)?).await?;
            app.forward_signals_now().await;
            match (&configured.secret, format) {
                (_, Format::Json) => show_configured(app, &merchant, interface, &configured).await?,
                (Some(secret), Format::Table) => show_secret(format, interface, secret)?,
                (None, Format::Table) => list(app, &merchant, format).await?,
            }
            output::note(&waiting_note(&merchant.handle, interface, &configured));
            Ok(())
        }
        Command::List(asked) => listing::run(app, &asked, format).await,
        Command::Show(OfEndpoint { merchant, interface }) => show(&find(app, &merchant.find(app).await?, interface).await?, format),
        Command::Test { endpoint, variant_identifier } if endpoint.interface.is_asked() => {
            trial::ask(app, &endpoint, &variant_identifier, format).await
        }
        Command::Test { endpoint, .. } => trial::send(app, &endpoint, format).await,
        Command::Check(asked) => check::run(app, &asked, format).await,
        Command::Pause(OfEndpoint { merchant, interface }) => {
            let merchant = merchant.find(app).await?;
            flow::pause_endpoint(app, &actor(), merchant.id, interface).await?;
            list(app, &merchant, format).await
        }
        Command::Resume(OfEndpoint { merchant, interface }) => {
            let merchant = merchant.find(app).await?;
            flow::resume_endpoint(app, &actor(), merchant.id, interface).await?;
            app.forward_signals_now().await;
            list(app, &merchant, format).await
        }
        Command::RotateSecret { endpoint: OfEndpoint { merchant, interface }, confirmation } => {
            let merchant = merchant.find(app).await?;
            if let Some(preview) = preview::rotation(app, &merchant, interface).await? {
                confirmation.ask(&preview, &merchant.handle)?;
            }
            let secret = flow::rotate_secret(app, &actor(), merchant.id, interface).await?;
            show_secret(format, interface, &secret)
        }
        Command::Remove { endpoint: OfEndpoint { merchant, interface }, confirmation } => {
            let merchant = merchant.find(app).await?;
            if let Some(preview) = preview::removal(app, &merchant, interface).await? {
                confirmation.ask(&preview, &merchant.handle)?;
            }
            flow::remove_endpoint(app, &actor(), merchant.id, interface).await?;
            list(app, &merchant, format).await
        }
        Command::Replay(wanted) => replay::start(app, &wanted, format).await,
        Command::Replays { merchant } => replay::list(app, &merchant.find(app).await?, format).await,
        Command::CancelReplay { merchant, job } => {
            let merchant = merchant.find(app).await?;
            cancel_replay(app, &actor(), merchant.id, job.of(app, merchant.id, Identified::ReplayJob).await?).await?;
            replay::list(app, &merchant, format).await
        }
        Command::Reseal(asked) => {
            let resealed = reseal::run(app, &asked, reseal::Secrets::OfEndpoints).await?;
            output::said(format, &format!("{resealed} resealed with the current key."))
        }
    }
}

/// An endpoint that was added or changed.
#[derive(Serialize)]
struct ConfiguredOut {
    #[serde(flatten)]
    row: Row,
    /// Of a new endpoint, and shown only now.
    signing_secret: Option<String>,
    /// Messages that were written while there was no endpoint: those that are sent now, and those that still wait.
    sent: i64,
    waiting: i64,
}

/// Shows a script the endpoint as it is now.
async fn show_configured(app: &App, merchant: &Merchant, interface: Interface, configured: &Configured) -> anyhow::Result<()> {
    let shown = ConfiguredOut {
        row: find(app, merchant, interface).await?,
        signing_secret: configured.secret.as_ref().map(|secret| secret.expose_secret().to_owned()),
        sent: configured.sent,
        waiting: configured.waiting,
    };
    output::one(Format::Json, &shown)
}

/// Tells about the messages that were written while there was no endpoint; empty if there are none.
fn waiting_note(handle: &str, interface: Interface, configured: &Configured) -> String {
    match configured {
        Configured { sent: 0, waiting: 0, .. } => String::new(),
        Configured { sent: 0, waiting, .. } => format!(
            "{} for {interface}, written while there was no endpoint, {} not sent. Send with `backhaul endpoint set --merchant {handle} {interface} --send-waiting`.",
            output::counted(*waiting, "message"),
            are(*waiting),
        ),
        Configured { sent, .. } => format!(
            "{} for {interface}, written while there was no endpoint, {} being sent.",
            output::counted(*sent, "message"),
            are(*sent),
        ),
    }
}

const fn are(messages: i64) -> &'static str {
    if messages == 1 { "is" } else { "are" }
}

fn show_secret(format: Format, interface: Interface, secret: &SecretString) -> anyhow::Result<()> {
    output::one(format, &Secret { interface: interface.as_str(), signing_secret: secret.expose_secret().to_owned() })
}
