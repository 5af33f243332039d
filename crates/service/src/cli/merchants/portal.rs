//! `backhaul portal …`: what merchants' portals show, the host names that lead to them, and links into them.

use anyhow::{Context as _, bail};
use chrono_tz::Tz;
use clap::{Args, Subcommand};
use domain::returns::portal::SupportName;
use domain::returns::withdrawal::exemption::Exemption;
use secrecy::ExposeSecret as _;
use serde::Serialize;
use store::merchants::accounts::Merchant;
use store::merchants::portals;
use store::returns::portal_links::Made;
use wire::returns::portal_link::PortalLinkOut;
use wire::time;

use crate::app::App;
use crate::cli::context::{OfMerchant, actor};
use crate::cli::output::{self, Format};
use crate::cli::session;
use crate::flow::merchants::configure_portal::{self as flow, PortalChange};
use crate::flow::returns::make_link::make_link;
use crate::platform::host_name::HostName;

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// Change what a merchant's portal shows, and add host names that lead to it.
    ///
    /// Options that are left out keep their value; an empty value restores the default. Every node follows within 5 seconds.
    Set(Set),
    /// Show a merchant's portal: its address, what it shows, and its host names.
    Show {
        #[command(flatten)]
        merchant: OfMerchant,
    },
    /// Make a link that opens one order in a merchant's portal, once, within 10 minutes.
    ///
    /// For acting for a shopper who cannot. Whoever opens it sees what the shopper sees. The audit records who made the link.
    Link {
        #[command(flatten)]
        merchant: OfMerchant,
        /// The order's identifier.
        order: String,
        /// The person who acts for the shopper. The pages show the name, and the audit has it for every return that is started or
        /// cancelled.
        #[arg(long, value_name = "NAME")]
        support: Option<SupportName>,
    },
    /// Remove a host name; it no longer leads to the merchant's portal.
    RemoveHost {
        #[command(flatten)]
        merchant: OfMerchant,
        /// The host name.
        host: HostName,
    },
}

#[derive(Args)]
pub(in crate::cli) struct Set {
    #[command(flatten)]
    merchant: OfMerchant,
    /// The name of the shop (the merchant's name unless set).
    #[arg(long)]
    shop_name: Option<String>,
    /// The e-mail address that shoppers can turn to.
    #[arg(long)]
    help_email: Option<String>,
    /// The time zone in which shoppers read times, such as Europe/Berlin (UTC unless set).
    #[arg(long, value_parser = time_zone)]
    time_zone: Option<Tz>,
    /// The start of order numbers, which shoppers may leave out.
    #[arg(long)]
    number_prefix: Option<String>,
    /// The days from shipping to delivery, where nobody reports the delivery (7 unless set). A shopper's 14 days of withdrawal start
    /// there.
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u8).range(0..=90))]
    transit_days: Option<u8>,
    /// Goods that are exempt from withdrawal, by the legal ground and the tag of the goods, such as `made_to_order=custom`; the ground
    /// alone exempts the whole shop, such as `no_consumers`. Repeat for several.
    #[arg(long, value_name = "GROUND[=TAG]")]
    exempt: Vec<Exemption>,
    /// An exemption to remove, as it was given. Repeat for several.
    #[arg(long, value_name = "GROUND[=TAG]")]
    not_exempt: Vec<Exemption>,
    /// A host name that leads to this portal alone, such as returns.example.com. Repeat for several; they are added to those that
    /// are there. Its DNS must lead here, and `portal.certificates` needs a certificate for it.
    #[arg(long)]
    host: Vec<HostName>,
}

impl From<Set> for PortalChange {
    fn from(set: Set) -> Self {
        let text = |value: Option<String>| value.map(|value| value.trim().to_owned());
        Self {
            shop_name: text(set.shop_name),
            help_email: text(set.help_email),
            time_zone: set.time_zone,
            number_prefix: text(set.number_prefix),
            transit_days: set.transit_days,
            exempt: set.exempt,
            included: set.not_exempt,
            hosts: set.host.into_iter().collect(),
        }
    }
}

/// Parses the value of `--time-zone`.
fn time_zone(text: &str) -> Result<Tz, String> {
    let zone = if text.is_empty() { Ok(Tz::UTC) } else { text.parse() };
    zone.map_err(|_| "write a time zone as the IANA database names it, such as Europe/Berlin".to_owned())
}

#[derive(Serialize)]
struct PortalOut {
    merchant: String,
    /// The address below `portal.url`, or the path alone without that setting.
    address: String,
    shop_name: String,
    help_email: Option<String>,
    time_zone: &'static str,
    number_prefix: Option<String>,
    transit_days: u16,
}

/// A portal with its host names and exemptions: a list in JSON, a text in a table.
#[derive(Serialize)]
struct ShownPortal<H> {
    #[serde(flatten)]
    portal: PortalOut,
    hosts: H,
    exempt: H,
}

pub(in crate::cli) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::Set(set) => {
            let merchant = set.merchant.find(app).await?;
            flow::set_portal(app, &actor(), merchant.id, set.into()).await?;
            show(app, &merchant, format).await
        }
        Command::Link { merchant, order, support } => {
            let found = merchant.find(app).await?;
            if found.paused_at.is_some() {
                bail!("the merchant `{merchant}` is paused, so its portal opens no order; `backhaul merchant resume` ends the pause");
            }
            // Through the API, the name is that of the person whose token it is.
            let support = session::remote().map_or(support, |remote| remote.operator.name.parse().ok());
            let link = make_link(app, Some(&actor()), found.id, &Made { order, support }, None).await?;
            output::one(format, &PortalLinkOut { url: link.url.expose_secret().to_owned(), expires_at: time::write(link.expires_at) })
        }
        Command::Show { merchant } => show(app, &merchant.find(app).await?, format).await,
        Command::RemoveHost { merchant, host } => {
            let found = merchant.find(app).await?;
            flow::remove_host(app, &actor(), found.id, host.clone()).await?;
            output::said(format, &format!("The host name {host} no longer leads to the portal of {merchant}."))
        }
    }
}

async fn show(app: &App, merchant: &Merchant, format: Format) -> anyhow::Result<()> {
    let shop = app.shops.find_by_handle(app, &merchant.handle).await?;
    let shop = shop.with_context(|| format!("the merchant `{}` is gone", merchant.handle))?;
    let hosts = portals::list_hosts(app.store(merchant.id), merchant.id).await?;
    let portal = PortalOut {
        merchant: merchant.handle.clone(),
        address: format!("{}/r/{}", app.settings.portal.url().unwrap_or_default(), merchant.handle),
        shop_name: shop.name.clone(),
        help_email: shop.help_email.clone(),
        time_zone: shop.zone.name(),
        number_prefix: shop.number_prefix.clone(),
        transit_days: shop.transit_days,
    };
    let exempt: Vec<String> = shop.exemptions.iter().map(|exemption| exemption.to_string()).collect();
    let text = |list: Vec<String>| Some(list.join(", ")).filter(|text| !text.is_empty());
    match format {
        Format::Json => output::one(format, &ShownPortal { portal, hosts, exempt }),
        Format::Table => output::one(format, &ShownPortal { portal, hosts: text(hosts), exempt: text(exempt) }),
    }
}
