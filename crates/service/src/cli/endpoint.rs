//! `backhaul endpoint …`.

mod trial;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand, ValueEnum};
use domain::id::Handle;
use domain::message::Interface;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use store::endpoints::{self, Endpoint};
use wire::time;

use super::output::{self, Format};
use super::{actor, merchant};
use crate::app::App;
use crate::flow::configure_endpoint::{self as flow, Change};
use crate::outbound::authentication::{Authentication, OAuth, Style};
use crate::outbound::secrets::Secrets;
use crate::outbound::view;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Add an endpoint, or change it: what is not given stays as it is. The signing secret of a new one is shown once.
    Set(Box<Set>),
    /// List a merchant's endpoints.
    List {
        /// Whose they are.
        #[arg(long)]
        merchant: Handle,
    },
    /// Show an endpoint and how it fares.
    Show(Named),
    /// Send a signed trial message through the whole engine, once, and show the exchange. `exchange_variants` is asked instead.
    Test {
        #[command(flatten)]
        named: Named,
        /// What `exchange_variants` is asked for.
        #[arg(long, default_value = "test")]
        variant_identifier: String,
    },
    /// Send nothing until it is resumed; what is owed waits.
    Pause(Named),
    /// Send again.
    Resume(Named),
    /// Make a new signing secret, shown once; the previous one is used beside it for 24 hours.
    RotateSecret(Named),
    /// Remove it; what is owed to it goes to the failure queue.
    Remove(Named),
    /// Seal what endpoints keep with the current key of keys.sealing, where an older one did.
    Reseal {
        /// Whose they are.
        #[arg(long)]
        merchant: Handle,
    },
}

/// An endpoint.
#[derive(Args)]
pub(super) struct Named {
    /// Whose it is.
    #[arg(long)]
    merchant: Handle,
    /// For which messages: `rma`, `exchange_order`, `exchange_variants`, `outbound_asn`, `inventory_receipt`, `drop_shipment_confirmation`,
    /// `drop_shipment_cancellation` or `drop_shipment_partial_cancellation`.
    interface: Interface,
}

#[derive(Args)]
pub(super) struct Set {
    #[command(flatten)]
    named: Named,
    /// The whole address; that of `exchange_variants` holds `{variant_identifier}`.
    #[arg(long, conflicts_with = "base")]
    url: Option<String>,
    /// The merchant's base address; the contract's path is added.
    #[arg(long)]
    base: Option<String>,
    /// How it knows us. The secret comes from the environment: `BACKHAUL_ENDPOINT_SECRET`.
    #[arg(long, value_enum)]
    authentication: Option<Way>,
    /// The user of `basic`, or the client id of the OAuth ways.
    #[arg(long)]
    user: Option<String>,
    /// The header of `api-key`.
    #[arg(long, default_value = "X-Api-Key")]
    header: String,
    /// Where the OAuth ways get tokens.
    #[arg(long)]
    token_url: Option<String>,
    /// The scope that is asked for.
    #[arg(long)]
    scope: Option<String>,
    /// Calls at once (10 unless set).
    #[arg(long)]
    slots: Option<i32>,
    /// Calls a second (20 unless set).
    #[arg(long)]
    per_second: Option<i32>,
    /// Seconds before each retry, such as 5,40,320; `usual` for the usual ones.
    #[arg(long)]
    waits: Option<String>,
    /// A header with the API's version, as `Name: value`.
    #[arg(long)]
    version_header: Option<String>,
    #[arg(skip)]
    secret: Option<SecretString>,
}

/// How an endpoint knows us.
#[derive(Clone, Copy, ValueEnum)]
enum Way {
    /// Not at all, but for the signature.
    None,
    /// A fixed bearer token.
    Bearer,
    /// User and password.
    Basic,
    /// A header of its own.
    ApiKey,
    /// OAuth 2.0 client credentials, asked for in JSON.
    OauthJson,
    /// OAuth 2.0 client credentials, asked for in a form.
    OauthForm,
}

impl Set {
    fn change(self, interface: Interface) -> anyhow::Result<Change> {
        let authentication = self.authentication.map(|way| self.authentication_of(way)).transpose()?;
        let base = self.base.map(|base| format!("{}{}", base.trim_end_matches('/'), interface.path()));
        let waits = match self.waits.as_deref() {
            None => None,
            Some("usual") => Some(Vec::new()),
            Some(waits) => Some(waits.split(',').map(|wait| wait.trim().parse()).collect::<Result<_, _>>().context("--waits")?),
        };
        let version_header = match self.version_header.as_deref().map(|header| header.split_once(':')) {
            None => None,
            Some(Some((name, value))) => Some((name.trim().to_owned(), value.trim().to_owned())),
            Some(None) => bail!("--version-header is written `Name: value`"),
        };
        Ok(Change { url: self.url.or(base), authentication, slots: self.slots, per_second: self.per_second, waits, version_header })
    }

    fn authentication_of(&self, way: Way) -> anyhow::Result<Authentication> {
        let secret = || self.secret.clone().context("the secret is not given: set BACKHAUL_ENDPOINT_SECRET");
        let user = || self.user.clone().context("--user is not given");
        let oauth = |style| {
            anyhow::Ok(Authentication::OAuth(OAuth {
                token_url: self.token_url.clone().context("--token-url is not given")?,
                client_id: user()?,
                client_secret: secret()?,
                scope: self.scope.clone(),
                style,
            }))
        };
        Ok(match way {
            Way::None => Authentication::None,
            Way::Bearer => Authentication::Bearer(secret()?),
            Way::Basic => Authentication::Basic { user: user()?, password: secret()? },
            Way::ApiKey => Authentication::ApiKey { header: self.header.clone(), value: secret()? },
            Way::OauthJson => oauth(Style::Json)?,
            Way::OauthForm => oauth(Style::Form)?,
        })
    }
}

#[derive(Serialize)]
struct Shown {
    interface: String,
    url: String,
    authentication: &'static str,
    slots: i32,
    per_second: i32,
    state: &'static str,
    changed_at: String,
}

impl Shown {
    fn new(app: &App, merchant: domain::id::MerchantId, endpoint: &Endpoint) -> Self {
        let authentication = Secrets::open(app, merchant, endpoint).map_or("unreadable", |secrets| secrets.authentication.word());
        Self {
            interface: endpoint.interface.clone(),
            url: endpoint.url.clone(),
            authentication,
            slots: endpoint.slots,
            per_second: endpoint.per_second,
            state: if endpoint.paused_at.is_some() { "paused" } else { "live" },
            changed_at: time::write(endpoint.changed_at),
        }
    }
}

#[derive(Serialize)]
struct Secret {
    interface: &'static str,
    signing_secret: String,
}

pub(super) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::Set(mut set) => {
            set.secret = secret_of_environment();
            let whose = merchant(app, &set.named.merchant).await?;
            let interface = set.named.interface;
            let secret = flow::set_endpoint(app, &actor(), whose.id, interface, set.change(interface)?).await?;
            match secret {
                Some(secret) => show_secret(format, interface, &secret),
                None => list(app, &whose, format).await,
            }
        }
        Command::List { merchant: handle } => list(app, &merchant(app, &handle).await?, format).await,
        Command::Show(Named { merchant: handle, interface }) => {
            let whose = merchant(app, &handle).await?;
            let shown = view::endpoints(app, whose.id).await?.into_iter().find(|endpoint| endpoint.interface == interface.as_str());
            output::one(format, &shown.ok_or(flow::ConfigureEndpointError::NoSuchEndpoint(interface))?)
        }
        Command::Test { named, variant_identifier } if named.interface.is_asked() => {
            trial::ask(app, &named, &variant_identifier, format).await
        }
        Command::Test { named, .. } => trial::send(app, &named, format).await,
        Command::Pause(Named { merchant: handle, interface }) => {
            let whose = merchant(app, &handle).await?;
            flow::pause_endpoint(app, &actor(), whose.id, interface).await?;
            list(app, &whose, format).await
        }
        Command::Resume(Named { merchant: handle, interface }) => {
            let whose = merchant(app, &handle).await?;
            flow::resume_endpoint(app, &actor(), whose.id, interface).await?;
            app.forward_signals_now().await;
            list(app, &whose, format).await
        }
        Command::RotateSecret(Named { merchant: handle, interface }) => {
            let whose = merchant(app, &handle).await?;
            let secret = flow::rotate_secret(app, &actor(), whose.id, interface).await?;
            show_secret(format, interface, &secret)
        }
        Command::Remove(Named { merchant: handle, interface }) => {
            let whose = merchant(app, &handle).await?;
            flow::remove_endpoint(app, &actor(), whose.id, interface).await?;
            list(app, &whose, format).await
        }
        Command::Reseal { merchant: handle } => {
            let whose = merchant(app, &handle).await?;
            let resealed = flow::reseal_endpoints(app, &actor(), whose.id).await?;
            output::line(&format!("{resealed} sealed again with the current key."));
            Ok(())
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a secret does not belong on the command line")]
fn secret_of_environment() -> Option<SecretString> {
    std::env::var("BACKHAUL_ENDPOINT_SECRET").ok().map(Into::into)
}

fn show_secret(format: Format, interface: Interface, secret: &SecretString) -> anyhow::Result<()> {
    output::one(format, &Secret { interface: interface.as_str(), signing_secret: secret.expose_secret().to_owned() })
}

async fn list(app: &App, whose: &store::merchants::Merchant, format: Format) -> anyhow::Result<()> {
    let kept = endpoints::list(app.store(whose.id), whose.id).await?;
    let shown: Vec<Shown> = kept.iter().map(|endpoint| Shown::new(app, whose.id, endpoint)).collect();
    let headers = ["INTERFACE", "URL", "AUTHENTICATION", "AT ONCE", "A SECOND", "STATE", "CHANGED AT"];
    output::list(format, &shown, "No endpoints; `backhaul endpoint set` adds one.", &headers, |shown| {
        let Shown { interface, url, authentication, slots, per_second, state, changed_at } = shown;
        vec![
            interface.clone(),
            url.clone(),
            (*authentication).to_owned(),
            slots.to_string(),
            per_second.to_string(),
            (*state).to_owned(),
            changed_at.clone(),
        ]
    })
}
