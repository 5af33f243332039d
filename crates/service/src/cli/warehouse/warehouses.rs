//! `backhaul warehouse …`: the warehouses that receive and ship merchants' goods.

use clap::{Args, Subcommand};
use domain::warehouse::place::{Warehouse, WarehouseId};
use serde::Serialize;
use store::warehouse::places;

use super::place::{self, AddressArgs, AddressOut};
use crate::app::App;
use crate::cli::context::{OfMerchant, actor};
use crate::cli::output::{self, Format};
use crate::flow::warehouse::configure_place::{self as flow, ConfigurePlaceError, TextChange, WarehouseChange};

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// Add or change a merchant's warehouse.
    ///
    /// Options that are left out keep their value. Existing shipments do not change.
    Set(Box<Set>),
    /// List a merchant's warehouses.
    List {
        #[command(flatten)]
        merchant: OfMerchant,
    },
    /// Show a merchant's warehouse.
    Show {
        #[command(flatten)]
        merchant: OfMerchant,
        /// The warehouse's id.
        warehouse: WarehouseId,
    },
    /// Remove a merchant's warehouse; existing shipments do not change.
    Remove {
        #[command(flatten)]
        merchant: OfMerchant,
        /// The warehouse's id.
        warehouse: WarehouseId,
    },
}

#[derive(Args)]
pub(in crate::cli) struct Set {
    #[command(flatten)]
    merchant: OfMerchant,
    /// The warehouse's id in Backhaul, such as `WH-1`.
    warehouse: WarehouseId,
    /// The warehouse's name.
    #[arg(long)]
    name: Option<String>,
    /// The warehouse's identifier in the merchant's systems; freight cannot be shipped without it.
    #[arg(long, value_name = "IDENTIFIER")]
    external_identifier: Option<String>,
    /// Clear the external identifier.
    #[arg(long, conflicts_with = "external_identifier")]
    no_external_identifier: bool,
    /// The warehouse's identifier for stock transfers in the merchant's systems; stock cannot be transferred without it.
    #[arg(long, value_name = "IDENTIFIER")]
    stock_transfer_identifier: Option<String>,
    /// Clear the stock transfer identifier.
    #[arg(long, conflicts_with = "stock_transfer_identifier")]
    no_stock_transfer_identifier: bool,
    #[command(flatten)]
    place: AddressArgs,
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

/// The change to an optional identifier.
fn changed(identifier: Option<String>, cleared: bool) -> TextChange {
    match identifier {
        Some(identifier) => TextChange::Set(identifier),
        None if cleared => TextChange::Clear,
        None => TextChange::Keep,
    }
}

#[derive(Serialize)]
struct WarehouseOut {
    warehouse: String,
    name: String,
    external_identifier: Option<String>,
    stock_transfer_identifier: Option<String>,
    address: AddressOut,
}

/// A warehouse in a table.
#[derive(Serialize)]
struct Card {
    warehouse: String,
    name: String,
    external_identifier: Option<String>,
    stock_transfer_identifier: Option<String>,
    address: String,
}

impl From<Warehouse> for WarehouseOut {
    fn from(warehouse: Warehouse) -> Self {
        let Warehouse { id, name, external_identifier, stock_transfer_identifier, address } = warehouse;
        Self { warehouse: id.to_string(), name, external_identifier, stock_transfer_identifier, address: address.into() }
    }
}

pub(in crate::cli) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::Set(set) => {
            let merchant = set.merchant.find(app).await?;
            let id = set.warehouse.clone();
            show(flow::set_warehouse(app, &actor(), merchant.id, &id, set.change()?).await?, format)
        }
        Command::List { merchant } => {
            let id = merchant.find(app).await?.id;
            let found = places::warehouses(app.store(id), id).await?;
            let shown: Vec<WarehouseOut> = found.into_iter().map(WarehouseOut::from).collect();
            let empty = format!("{merchant} has no warehouses yet; `backhaul warehouse set --merchant {merchant}` adds one.");
            output::list(format, &shown, &empty, &["WAREHOUSE", "NAME", "EXTERNAL", "STOCK TRANSFERS"], |shown| {
                let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
                vec![
                    shown.warehouse.clone(),
                    shown.name.clone(),
                    or_dash(&shown.external_identifier),
                    or_dash(&shown.stock_transfer_identifier),
                ]
            })
        }
        Command::Show { merchant, warehouse } => {
            let id = merchant.find(app).await?.id;
            let found = places::warehouses(app.store(id), id).await?;
            let found = found.into_iter().find(|found| found.id == warehouse);
            show(found.ok_or(ConfigurePlaceError::NoWarehouse(warehouse))?, format)
        }
        Command::Remove { merchant, warehouse } => {
            flow::remove_warehouse(app, &actor(), merchant.find(app).await?.id, &warehouse).await?;
            output::said(format, &format!("Warehouse {warehouse} of {merchant} was removed."))
        }
    }
}

fn show(warehouse: Warehouse, format: Format) -> anyhow::Result<()> {
    match format {
        Format::Json => output::one(format, &WarehouseOut::from(warehouse)),
        Format::Table => {
            let address = place::line(&warehouse.address);
            let WarehouseOut { warehouse, name, external_identifier, stock_transfer_identifier, .. } = warehouse.into();
            output::one(format, &Card { warehouse, name, external_identifier, stock_transfer_identifier, address })
        }
    }
}
