//! `backhaul vendor …`: the vendors that merchants' goods are sent back to.

use anyhow::Context as _;
use clap::{Args, Subcommand};
use domain::warehouse::place::{Vendor, VendorId};
use serde::Serialize;
use store::warehouse::places;

use super::place::{self, AddressArgs, AddressOut};
use crate::app::App;
use crate::cli::context::{OfMerchant, actor};
use crate::cli::output::{self, Format};
use crate::flow::warehouse::configure_place::{self as flow, ConfigurePlaceError, VendorChange};

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// Add a vendor to a merchant; it gets the next free number.
    Add {
        #[command(flatten)]
        merchant: OfMerchant,
        /// The vendor's name.
        #[arg(long)]
        name: String,
        #[command(flatten)]
        place: AddressArgs,
    },
    /// Change a merchant's vendor.
    ///
    /// Options that are left out keep their value. Existing shipments do not change.
    Set(Box<Set>),
    /// List a merchant's vendors.
    List {
        #[command(flatten)]
        merchant: OfMerchant,
    },
    /// Show a merchant's vendor.
    Show {
        #[command(flatten)]
        merchant: OfMerchant,
        /// The vendor's number.
        vendor: i64,
    },
    /// Remove a merchant's vendor. Its number is not reused, and existing shipments do not change.
    Remove {
        #[command(flatten)]
        merchant: OfMerchant,
        /// The vendor's number.
        vendor: i64,
    },
}

#[derive(Args)]
pub(in crate::cli) struct Set {
    #[command(flatten)]
    merchant: OfMerchant,
    /// The vendor's number.
    vendor: i64,
    /// The vendor's name.
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    place: AddressArgs,
}

#[derive(Serialize)]
struct VendorOut {
    vendor: i64,
    name: String,
    address: AddressOut,
}

/// A vendor in a table.
#[derive(Serialize)]
struct Card {
    vendor: i64,
    name: String,
    address: String,
}

impl From<Vendor> for VendorOut {
    fn from(Vendor { id, name, address }: Vendor) -> Self {
        Self { vendor: id.0, name, address: address.into() }
    }
}

impl From<Vendor> for Card {
    fn from(Vendor { id, name, address }: Vendor) -> Self {
        Self { vendor: id.0, name, address: place::line(&address) }
    }
}

pub(in crate::cli) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::Add { merchant, name, place } => {
            let merchant = merchant.find(app).await?;
            let address = place.address()?.context("a new vendor needs an address; give --address")?;
            show(flow::add_vendor(app, &actor(), merchant.id, name, address).await?, format)
        }
        Command::Set(set) => {
            let merchant = set.merchant.find(app).await?;
            let Set { vendor, name, place, .. } = *set;
            let change = VendorChange { name, address: place.address()? };
            show(flow::set_vendor(app, &actor(), merchant.id, VendorId(vendor), change).await?, format)
        }
        Command::List { merchant } => {
            let id = merchant.find(app).await?.id;
            let found = places::vendors(app.store(id), id).await?;
            let empty = format!("{merchant} has no vendors yet; `backhaul vendor add --merchant {merchant}` adds one.");
            if format == Format::Json {
                let shown: Vec<VendorOut> = found.into_iter().map(VendorOut::from).collect();
                return output::list(format, &shown, &empty, &[], |_| Vec::new());
            }
            let cards: Vec<Card> = found.into_iter().map(Card::from).collect();
            output::list(format, &cards, &empty, &["VENDOR", "NAME", "ADDRESS"], |card| {
                vec![card.vendor.to_string(), card.name.clone(), card.address.clone()]
            })
        }
        Command::Show { merchant, vendor } => {
            let id = merchant.find(app).await?.id;
            let found = places::vendors(app.store(id), id).await?;
            let found = found.into_iter().find(|found| found.id.0 == vendor);
            show(found.ok_or(ConfigurePlaceError::NoVendor(VendorId(vendor)))?, format)
        }
        Command::Remove { merchant, vendor } => {
            flow::remove_vendor(app, &actor(), merchant.find(app).await?.id, VendorId(vendor)).await?;
            output::said(format, &format!("Vendor {vendor} of {merchant} was removed."))
        }
    }
}

fn show(vendor: Vendor, format: Format) -> anyhow::Result<()> {
    match format {
        Format::Json => output::one(format, &VendorOut::from(vendor)),
        Format::Table => output::one(format, &Card::from(vendor)),
    }
}
