//! `backhaul vendor …`.

use anyhow::Context as _;
use clap::{Args, Subcommand};
use domain::id::Handle;
use domain::place::{Vendor, VendorId};
use serde::Serialize;
use store::places;

use super::output::{self, Format};
use super::place::{self, ShownAddress, Where};
use super::{actor, merchant};
use crate::app::App;
use crate::flow::configure_place::{self as flow, ConfigurePlaceError, VendorChange};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Give a merchant another vendor; it gets the next number.
    Add {
        /// Whose it is.
        #[arg(long)]
        merchant: Handle,
        /// What people call it.
        #[arg(long)]
        name: String,
        #[command(flatten)]
        place: Where,
    },
    /// Change a merchant's vendor: what is not given stays as it is, and so do shipments that were made.
    Set(Box<Set>),
    /// List a merchant's vendors.
    List {
        /// Whose they are.
        #[arg(long)]
        merchant: Handle,
    },
    /// Show a merchant's vendor.
    Show {
        /// Whose it is.
        #[arg(long)]
        merchant: Handle,
        /// Its number.
        vendor: i64,
    },
    /// Remove a merchant's vendor; its number is not given again, and shipments that were made stay as they are.
    Remove {
        /// Whose it is.
        #[arg(long)]
        merchant: Handle,
        /// Its number.
        vendor: i64,
    },
}

#[derive(Args)]
pub(super) struct Set {
    /// Whose it is.
    #[arg(long)]
    merchant: Handle,
    /// Its number.
    vendor: i64,
    /// What people call it.
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    place: Where,
}

#[derive(Serialize)]
struct Shown {
    vendor: i64,
    name: String,
    address: ShownAddress,
}

/// A vendor for people.
#[derive(Serialize)]
struct Card {
    vendor: i64,
    name: String,
    address: String,
}

impl From<Vendor> for Shown {
    fn from(Vendor { id, name, address }: Vendor) -> Self {
        Self { vendor: id.0, name, address: address.into() }
    }
}

impl From<Vendor> for Card {
    fn from(Vendor { id, name, address }: Vendor) -> Self {
        Self { vendor: id.0, name, address: place::line(&address) }
    }
}

pub(super) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::Add { merchant: handle, name, place } => {
            let whose = merchant(app, &handle).await?;
            let address = place.address()?.context("a new vendor needs an address: --address")?;
            show(flow::add_vendor(app, &actor(), whose.id, name, address).await?, format)
        }
        Command::Set(set) => {
            let whose = merchant(app, &set.merchant).await?;
            let Set { vendor, name, place, .. } = *set;
            let change = VendorChange { name, address: place.address()? };
            show(flow::set_vendor(app, &actor(), whose.id, VendorId(vendor), change).await?, format)
        }
        Command::List { merchant: handle } => {
            let whose = merchant(app, &handle).await?.id;
            let found = places::vendors(app.store(whose), whose).await?;
            let empty = format!("{handle} has no vendors yet; `backhaul vendor add --merchant {handle}` gives it one.");
            if format == Format::Json {
                let shown: Vec<Shown> = found.into_iter().map(Shown::from).collect();
                return output::list(format, &shown, &empty, &[], |_| Vec::new());
            }
            let cards: Vec<Card> = found.into_iter().map(Card::from).collect();
            output::list(format, &cards, &empty, &["VENDOR", "NAME", "ADDRESS"], |card| {
                vec![card.vendor.to_string(), card.name.clone(), card.address.clone()]
            })
        }
        Command::Show { merchant: handle, vendor } => {
            let whose = merchant(app, &handle).await?.id;
            let found = places::vendors(app.store(whose), whose).await?;
            let found = found.into_iter().find(|found| found.id.0 == vendor);
            show(found.ok_or(ConfigurePlaceError::NoVendor(VendorId(vendor)))?, format)
        }
        Command::Remove { merchant: handle, vendor } => {
            flow::remove_vendor(app, &actor(), merchant(app, &handle).await?.id, VendorId(vendor)).await?;
            output::line(&format!("{handle} has no vendor {vendor} any more."));
            Ok(())
        }
    }
}

fn show(vendor: Vendor, format: Format) -> anyhow::Result<()> {
    match format {
        Format::Json => output::one(format, &Shown::from(vendor)),
        Format::Table => output::one(format, &Card::from(vendor)),
    }
}
