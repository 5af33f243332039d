//! `backhaul carrier …`.

use clap::{Args, Subcommand};
use domain::id::Handle;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use store::carrier_accounts;
use wire::label::PostalAddress;
use wire::time;

use super::output::{self, Format};
use super::{actor, merchant};
use crate::app::App;
use crate::flow::configure_carrier::{self as flow, Change, ConfigureCarrierError};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Give a merchant a carrier, or change it: what is not given stays as it is. The secret of its webhooks is shown once.
    Set(Box<Set>),
    /// Show a merchant's carrier, and where its webhooks go.
    Show {
        /// Whose it is.
        #[arg(long)]
        merchant: Handle,
    },
    /// Forget a merchant's carrier; labels that are wanted wait until there is another one.
    Remove {
        /// Whose it is.
        #[arg(long)]
        merchant: Handle,
    },
    /// Seal what the account keeps with the current key of keys.sealing, where an older one did.
    Reseal {
        /// Whose it is.
        #[arg(long)]
        merchant: Handle,
    },
}

#[derive(Args)]
pub(super) struct Set {
    /// Whose it is. The API key comes from the environment: `BACKHAUL_CARRIER_KEY`.
    #[arg(long)]
    merchant: Handle,
    /// Where the carrier's API is, such as <https://api.easypost.com>.
    #[arg(long)]
    url: Option<String>,
    /// Where parcels go, as `name; street; city; state; postal code; country`, with a telephone number behind it if there is one.
    #[arg(long)]
    destination: Option<String>,
    /// What goods weigh whose weight nobody knows, in pounds (1 unless set).
    #[arg(long)]
    usual_weight: Option<f64>,
}

impl Set {
    fn change(&self) -> anyhow::Result<Change> {
        Ok(Change {
            url: self.url.clone(),
            api_key: key_of_environment(),
            destination: self.destination.as_deref().map(address).transpose()?,
            usual_weight: self.usual_weight.map(thousandths),
        })
    }
}

/// Rounded up; what is no weight is none.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "what is out of range saturates")]
fn thousandths(pounds: f64) -> u32 {
    (pounds * 1_000.0).ceil() as u32
}

fn address(text: &str) -> anyhow::Result<PostalAddress> {
    let parts: Vec<&str> = text.split(';').map(str::trim).collect();
    let (address, phone) = match parts.as_slice() {
        [name, street, city, state, zip, country] => ([name, street, city, state, zip, country], None),
        [name, street, city, state, zip, country, phone] => ([name, street, city, state, zip, country], Some((*phone).to_owned())),
        _ => anyhow::bail!("--destination is written `name; street; city; state; postal code; country`"),
    };
    let [name, street1, city, state, zip, country] = address.map(|part| (*part).to_owned());
    Ok(PostalAddress { name, street1, street2: None, city, state, zip, country, phone })
}

#[derive(Serialize)]
struct Shown {
    carrier: &'static str,
    url: String,
    /// The path of the service's own address that the carrier is told to call.
    webhooks: String,
    usual_weight_pounds: String,
    destination: String,
    changed_at: String,
}

#[derive(Serialize)]
struct Secret {
    webhooks: String,
    webhook_secret: String,
}

pub(super) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::Set(set) => {
            let whose = merchant(app, &set.merchant).await?;
            match flow::set_carrier(app, &actor(), whose.id, set.change()?).await? {
                None => show(app, &whose, format).await,
                Some(secret) => {
                    let webhook_secret = secret.expose_secret().to_owned();
                    output::one(format, &Secret { webhooks: webhooks(&whose), webhook_secret })
                }
            }
        }
        Command::Show { merchant: handle } => show(app, &merchant(app, &handle).await?, format).await,
        Command::Remove { merchant: handle } => {
            flow::remove_carrier(app, &actor(), merchant(app, &handle).await?.id).await?;
            output::line("The merchant has no carrier any more.");
            Ok(())
        }
        Command::Reseal { merchant: handle } => {
            let resealed = flow::reseal_carrier(app, &actor(), merchant(app, &handle).await?.id).await?;
            output::line(if resealed { "Sealed again with the current key." } else { "Nothing was sealed with an older key." });
            Ok(())
        }
    }
}

fn webhooks(whose: &store::merchants::Merchant) -> String {
    format!("/v1/carrier_webhooks/{}", whose.id)
}

async fn show(app: &App, whose: &store::merchants::Merchant, format: Format) -> anyhow::Result<()> {
    let account = carrier_accounts::current(app.store(whose.id), whose.id).await?.ok_or(ConfigureCarrierError::NoAccount)?;
    let to: PostalAddress = serde_json::from_str(&account.destination)?;
    let shown = Shown {
        carrier: account.carrier.as_str(),
        url: account.url,
        webhooks: webhooks(whose),
        usual_weight_pounds: format!("{:.3}", f64::from(account.usual_weight) / 1_000.0),
        destination: [to.name, to.street1, to.city, to.state, to.zip, to.country].join("; "),
        changed_at: time::write(account.changed_at),
    };
    output::one(format, &shown)
}

#[expect(clippy::disallowed_methods, reason = "a secret does not belong on the command line")]
fn key_of_environment() -> Option<SecretString> {
    std::env::var("BACKHAUL_CARRIER_KEY").ok().map(Into::into)
}
