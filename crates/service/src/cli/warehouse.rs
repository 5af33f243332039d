//! `backhaul warehouse …`.

use clap::{Args, Subcommand};
use domain::id::Handle;
use domain::place::{Warehouse, WarehouseId};
use serde::Serialize;
use store::places;

use super::output::{self, Format};
use super::place::{self, ShownAddress, Where};
use super::{actor, merchant};
use crate::app::App;
use crate::flow::configure_place::{self as flow, ConfigurePlaceError, WarehouseChange, Word};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Give a merchant a warehouse, or change it: what is not given stays as it is, and so do shipments that were made.
    Set(Box<Set>),
    /// List a merchant's warehouses.
    List {
        /// Whose they are.
        #[arg(long)]
        merchant: Handle,
    },
    /// Show a merchant's warehouse.
    Show {
        /// Whose it is.
        #[arg(long)]
        merchant: Handle,
        /// Its id.
        warehouse: WarehouseId,
    },
    /// Forget a merchant's warehouse; shipments that were made stay as they are.
    Remove {
        /// Whose it is.
        #[arg(long)]
        merchant: Handle,
        /// Its id.
        warehouse: WarehouseId,
    },
}

#[derive(Args)]
pub(super) struct Set {
    /// Whose it is.
    #[arg(long)]
    merchant: Handle,
    /// Our own id of it, such as `WH-1`.
    warehouse: WarehouseId,
    /// What people call it.
    #[arg(long)]
    name: Option<String>,
    /// What the merchant's systems call it; freight goes nowhere without it.
    #[arg(long, value_name = "IDENTIFIER")]
    external_identifier: Option<String>,
    /// Take that word back.
    #[arg(long, conflicts_with = "external_identifier")]
    no_external_identifier: bool,
    /// What the merchant's systems call it in stock transfers; these go nowhere without it.
    #[arg(long, value_name = "IDENTIFIER")]
    stock_transfer_identifier: Option<String>,
    /// Take that word back.
    #[arg(long, conflicts_with = "stock_transfer_identifier")]
    no_stock_transfer_identifier: bool,
    #[command(flatten)]
    place: Where,
}

impl Set {
    fn change(self) -> anyhow::Result<WarehouseChange> {
        Ok(WarehouseChange {
            name: self.name,
            external_identifier: changed(self.external_identifier, self.no_external_identifier),
            stock_transfer_identifier: changed(self.stock_transfer_identifier, self.no_stock_transfer_identifier),
            address: self.place.address()?,
        })
    }
}

/// A word that is set, taken back, or left as it is.
fn changed(word: Option<String>, taken_back: bool) -> Word {
    match word {
        Some(word) => Word::Set(word),
        None if taken_back => Word::TakenBack,
        None => Word::Kept,
    }
}

#[derive(Serialize)]
struct Shown {
    warehouse: String,
    name: String,
    external_identifier: Option<String>,
    stock_transfer_identifier: Option<String>,
    address: ShownAddress,
}

/// A warehouse for people.
#[derive(Serialize)]
struct Card {
    warehouse: String,
    name: String,
    external_identifier: Option<String>,
    stock_transfer_identifier: Option<String>,
    address: String,
}

impl From<Warehouse> for Shown {
    fn from(warehouse: Warehouse) -> Self {
        let Warehouse { id, name, external_identifier, stock_transfer_identifier, address } = warehouse;
        Self { warehouse: id.to_string(), name, external_identifier, stock_transfer_identifier, address: address.into() }
    }
}

pub(super) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::Set(set) => {
            let whose = merchant(app, &set.merchant).await?;
            let id = set.warehouse.clone();
            show(flow::set_warehouse(app, &actor(), whose.id, &id, set.change()?).await?, format)
        }
        Command::List { merchant: handle } => {
            let whose = merchant(app, &handle).await?.id;
            let found = places::warehouses(app.store(whose), whose).await?;
            let shown: Vec<Shown> = found.into_iter().map(Shown::from).collect();
            let empty = format!("{handle} has no warehouses yet; `backhaul warehouse set --merchant {handle}` gives it one.");
            output::list(format, &shown, &empty, &["WAREHOUSE", "NAME", "EXTERNAL", "STOCK TRANSFERS"], |shown| {
                let word = |word: &Option<String>| word.clone().unwrap_or_else(|| "-".to_owned());
                vec![shown.warehouse.clone(), shown.name.clone(), word(&shown.external_identifier), word(&shown.stock_transfer_identifier)]
            })
        }
        Command::Show { merchant: handle, warehouse } => {
            let whose = merchant(app, &handle).await?.id;
            let found = places::warehouses(app.store(whose), whose).await?;
            let found = found.into_iter().find(|found| found.id == warehouse);
            show(found.ok_or(ConfigurePlaceError::NoWarehouse(warehouse))?, format)
        }
        Command::Remove { merchant: handle, warehouse } => {
            flow::remove_warehouse(app, &actor(), merchant(app, &handle).await?.id, &warehouse).await?;
            output::line(&format!("{handle} has no warehouse {warehouse} any more."));
            Ok(())
        }
    }
}

fn show(warehouse: Warehouse, format: Format) -> anyhow::Result<()> {
    match format {
        Format::Json => output::one(format, &Shown::from(warehouse)),
        Format::Table => {
            let address = place::line(&warehouse.address);
            let Shown { warehouse, name, external_identifier, stock_transfer_identifier, .. } = warehouse.into();
            output::one(format, &Card { warehouse, name, external_identifier, stock_transfer_identifier, address })
        }
    }
}
