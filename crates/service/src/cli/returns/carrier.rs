//! `backhaul carrier …`: the account from which a merchant's labels are bought.

use clap::{Args, Subcommand};
use secrecy::ExposeSecret as _;
use serde::Serialize;
use store::returns::carrier_accounts;
use wire::returns::label::PostalAddress;
use wire::time;

use crate::app::App;
use crate::cli::confirm::Confirmation;
use crate::cli::context::{OfMerchant, actor};
use crate::cli::output::{self, Format};
use crate::cli::{reseal, session};
use crate::flow::returns::configure_carrier::{self as flow, CarrierChange, ConfigureCarrierError};

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// Add or change a merchant's carrier account.
    ///
    /// Options that are left out keep their value. The API key is read from the environment variable `BACKHAUL_CARRIER_KEY`.
    /// The webhook secret of a new account is shown once.
    Set(Box<Set>),
    /// Show a merchant's carrier account and its webhook path.
    Show {
        #[command(flatten)]
        merchant: OfMerchant,
    },
    /// Remove a merchant's carrier account; labels still to be bought wait until another one is set.
    ///
    /// Shows what follows and asks first.
    Remove {
        #[command(flatten)]
        merchant: OfMerchant,
        #[command(flatten)]
        confirmation: Confirmation,
    },
    /// Create a new secret for the carrier's webhooks, shown once; those signed with the old one are taken for 24 hours more.
    ///
    /// Shows what follows and asks first.
    RotateSecret {
        #[command(flatten)]
        merchant: OfMerchant,
        #[command(flatten)]
        confirmation: Confirmation,
    },
    /// Reseal the account's secrets with the current key of `keys.sealing`, if an older key was used: of a merchant, or of all.
    Reseal(reseal::Reseal),
}

#[derive(Args)]
pub(in crate::cli) struct Set {
    #[command(flatten)]
    merchant: OfMerchant,
    /// The base URL of the carrier's API, such as <https://api.easypost.com>.
    #[arg(long)]
    url: Option<String>,
    /// The address that parcels go to, as `name; street; city; state; postal code; country`, and `; phone` if there is one.
    #[arg(long)]
    destination: Option<String>,
    /// The weight in pounds to assume for goods of unknown weight (1 unless set).
    #[arg(long)]
    usual_weight: Option<f64>,
}

impl Set {
    fn change(&self) -> anyhow::Result<CarrierChange> {
        Ok(CarrierChange {
            url: self.url.clone(),
            api_key: session::secret("BACKHAUL_CARRIER_KEY"),
            destination: self.destination.as_deref().map(address).transpose()?,
            usual_weight: self.usual_weight.map(thousandths),
        })
    }
}

/// Converts pounds to thousandths, rounded up. A negative weight becomes 0, which is refused later.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "out-of-range values saturate")]
fn thousandths(pounds: f64) -> u32 {
    (pounds * 1_000.0).ceil() as u32
}

fn address(text: &str) -> anyhow::Result<PostalAddress> {
    let parts: Vec<&str> = text.split(';').map(str::trim).collect();
    let (address, phone) = match parts.as_slice() {
        [name, street, city, state, zip, country] => ([name, street, city, state, zip, country], None),
        [name, street, city, state, zip, country, phone] => ([name, street, city, state, zip, country], Some((*phone).to_owned())),
        _ => anyhow::bail!("--destination has the wrong number of parts; write `name; street; city; state; postal code; country`"),
    };
    let [name, street1, city, state, zip, country] = address.map(|part| (*part).to_owned());
    Ok(PostalAddress { name, street1, street2: None, city, state, zip, country, phone })
}

#[derive(Serialize)]
struct CarrierOut {
    carrier: &'static str,
    url: String,
    /// The path on this service that the carrier must call.
    webhooks: String,
    usual_weight_pounds: String,
    destination: String,
    changed_at: String,
}

/// An account that was added or changed, for scripts.
#[derive(Serialize)]
struct Configured {
    #[serde(flatten)]
    account: CarrierOut,
    /// Of a new account, and shown only now.
    webhook_secret: Option<String>,
}

#[derive(Serialize)]
struct Secret {
    webhooks: String,
    webhook_secret: String,
}

pub(in crate::cli) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::Set(set) => {
            let merchant = set.merchant.find(app).await?;
            match (flow::set_carrier(app, &actor(), merchant.id, set.change()?).await?, format) {
                (secret, Format::Json) => {
                    let account = shown(app, &merchant).await?;
                    output::one(format, &Configured { account, webhook_secret: secret.map(|secret| secret.expose_secret().to_owned()) })
                }
                (None, Format::Table) => show(app, &merchant, format).await,
                (Some(secret), Format::Table) => {
                    let webhook_secret = secret.expose_secret().to_owned();
                    output::one(format, &Secret { webhooks: webhooks(&merchant), webhook_secret })
                }
            }
        }
        Command::Show { merchant } => show(app, &merchant.find(app).await?, format).await,
        Command::Remove { merchant, confirmation } => {
            let id = merchant.find(app).await?.id;
            if let Some(account) = carrier_accounts::current(app.store(id), id).await? {
                let preview = format!(
                    "Removing the {} account of {merchant} means that labels still to be bought wait until another account is set. Its \
                     API key and webhook secret are forgotten; it cannot be undone.",
                    account.carrier.as_str()
                );
                confirmation.ask(&preview, merchant.handle.as_str())?;
            }
            flow::remove_carrier(app, &actor(), id).await?;
            output::said(format, &format!("The carrier account of {merchant} was removed."))
        }
        Command::RotateSecret { merchant, confirmation } => {
            let merchant = merchant.find(app).await?;
            if carrier_accounts::current(app.store(merchant.id), merchant.id).await?.is_some() {
                let preview = format!(
                    "A new webhook secret for the carrier account of {} is shown once. Webhooks that are signed with the present one are \
                     taken for 24 hours more; one from an earlier rotation stops working now. It cannot be undone.",
                    merchant.handle
                );
                confirmation.ask(&preview, &merchant.handle)?;
            }
            let secret = flow::rotate_webhook_secret(app, &actor(), merchant.id).await?;
            output::one(format, &Secret { webhooks: webhooks(&merchant), webhook_secret: secret.expose_secret().to_owned() })
        }
        Command::Reseal(asked) => match reseal::run(app, &asked, reseal::Secrets::OfCarriers).await? {
            0 => output::said(format, "Nothing to reseal: the current key is already in use."),
            1 => output::said(format, "Resealed with the current key."),
            many => output::said(format, &format!("{many} resealed with the current key.")),
        },
    }
}

fn webhooks(merchant: &store::merchants::accounts::Merchant) -> String {
    format!("/v1/carrier_webhooks/{}", merchant.id)
}

async fn show(app: &App, merchant: &store::merchants::accounts::Merchant, format: Format) -> anyhow::Result<()> {
    output::one(format, &shown(app, merchant).await?)
}

async fn shown(app: &App, merchant: &store::merchants::accounts::Merchant) -> anyhow::Result<CarrierOut> {
    let account = carrier_accounts::current(app.store(merchant.id), merchant.id).await?.ok_or(ConfigureCarrierError::NoAccount)?;
    let to: PostalAddress = serde_json::from_str(&account.destination)?;
    Ok(CarrierOut {
        carrier: account.carrier.as_str(),
        url: account.url,
        webhooks: webhooks(merchant),
        usual_weight_pounds: format!("{:.3}", f64::from(account.usual_weight) / 1_000.0),
        destination: [to.name, to.street1, to.city, to.state, to.zip, to.country].join("; "),
        changed_at: time::write(account.changed_at),
    })
}
