//! The operator sets up a merchant's warehouses and vendors. Every change is audited in its own transaction.

use domain::id::MerchantId;
use domain::warehouse::place::{Address, NoWord, Vendor, VendorId, Warehouse, WarehouseId};
use store::merchants::accounts;
use store::merchants::audit::{self, Entry};
use store::warehouse::places;
use store::{Failed, Tx};

use crate::app::App;

/// A change to an optional text of a place.
#[derive(Clone, Debug, Default)]
pub enum TextChange {
    #[default]
    Keep,
    Set(String),
    Clear,
}

impl TextChange {
    fn apply(self, known: Option<String>) -> Option<String> {
        match self {
            Self::Keep => known,
            Self::Set(text) => Some(text),
            Self::Clear => None,
        }
    }
}

/// Changes to a warehouse. Absent fields stay as they are.
#[derive(Clone, Debug, Default)]
pub struct WarehouseChange {
    pub name: Option<String>,
    /// The warehouse's name in the merchant's systems.
    pub external_identifier: TextChange,
    /// The warehouse's name in stock transfers.
    pub stock_transfer_identifier: TextChange,
    pub address: Option<Address>,
}

/// Changes to a vendor. Absent fields stay as they are.
#[derive(Clone, Debug, Default)]
pub struct VendorChange {
    pub name: Option<String>,
    pub address: Option<Address>,
}

/// The reasons a place cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum ConfigurePlaceError {
    #[error("the merchant has no warehouse {0}; `backhaul warehouse list --merchant HANDLE` lists its warehouses")]
    NoWarehouse(WarehouseId),
    #[error("the merchant has no vendor {0}; `backhaul vendor list --merchant HANDLE` lists its vendors")]
    NoVendor(VendorId),
    #[error("a new warehouse needs {0}")]
    Incomplete(&'static str),
    #[error(transparent)]
    Invalid(#[from] NoWord),
    #[error(transparent)]
    Failed(#[from] Failed),
}

async fn record(app: &App, tx: &mut Tx, actor: &str, action: &str, detail: &str) -> Result<(), Failed> {
    audit::record(tx, Entry { id: app.mint(), actor, action, detail, done_at: app.now() }).await
}

/// Adds or changes a merchant's warehouse, and returns it. Existing shipments do not change.
pub async fn set_warehouse(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    id: &WarehouseId,
    change: WarehouseChange,
) -> Result<Warehouse, ConfigurePlaceError> {
    let mut tx = app.begin(merchant).await?;
    // The warehouse may not exist yet, so lock the merchant instead.
    accounts::lock(&mut tx).await?;
    let known = places::lock_warehouse(&mut tx, id).await?;
    let action = if known.is_some() { "warehouse.changed" } else { "warehouse.added" };
    let WarehouseChange { name, external_identifier, stock_transfer_identifier, address } = change;
    let warehouse = match known {
        Some(known) => Warehouse {
            name: name.unwrap_or(known.name),
            external_identifier: external_identifier.apply(known.external_identifier),
            stock_transfer_identifier: stock_transfer_identifier.apply(known.stock_transfer_identifier),
            address: address.unwrap_or(known.address),
            id: known.id,
        },
        None => Warehouse {
            id: id.clone(),
            name: name.ok_or(ConfigurePlaceError::Incomplete("a name: --name"))?,
            external_identifier: external_identifier.apply(None),
            stock_transfer_identifier: stock_transfer_identifier.apply(None),
            address: address.ok_or(ConfigurePlaceError::Incomplete("an address: --address"))?,
        },
    };
    warehouse.check()?;
    places::save_warehouse(&mut tx, &warehouse, app.now()).await?;
    record(app, &mut tx, actor, action, id.as_str()).await?;
    app.commit(tx).await?;
    Ok(warehouse)
}

/// Removes a merchant's warehouse. Existing shipments do not change.
pub async fn remove_warehouse(app: &App, actor: &str, merchant: MerchantId, id: &WarehouseId) -> Result<(), ConfigurePlaceError> {
    let mut tx = app.begin(merchant).await?;
    if !places::remove_warehouse(&mut tx, id).await? {
        return Err(ConfigurePlaceError::NoWarehouse(id.clone()));
    }
    record(app, &mut tx, actor, "warehouse.removed", id.as_str()).await?;
    Ok(app.commit(tx).await?)
}

/// Adds a vendor to a merchant, and returns it with its number.
pub async fn add_vendor(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    name: String,
    address: Address,
) -> Result<Vendor, ConfigurePlaceError> {
    let mut tx = app.begin(merchant).await?;
    // A concurrent addition waits here, and gets the next number.
    accounts::lock(&mut tx).await?;
    let vendor = Vendor { id: places::next_vendor(&mut tx).await?, name, address };
    vendor.check()?;
    places::save_vendor(&mut tx, &vendor, app.now()).await?;
    record(app, &mut tx, actor, "vendor.added", &vendor.id.to_string()).await?;
    app.commit(tx).await?;
    Ok(vendor)
}

/// Changes a merchant's vendor, and returns it.
pub async fn set_vendor(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    id: VendorId,
    change: VendorChange,
) -> Result<Vendor, ConfigurePlaceError> {
    let mut tx = app.begin(merchant).await?;
    accounts::lock(&mut tx).await?;
    let known = places::lock_vendor(&mut tx, id).await?.ok_or(ConfigurePlaceError::NoVendor(id))?;
    let vendor = Vendor { id, name: change.name.unwrap_or(known.name), address: change.address.unwrap_or(known.address) };
    vendor.check()?;
    places::save_vendor(&mut tx, &vendor, app.now()).await?;
    record(app, &mut tx, actor, "vendor.changed", &id.to_string()).await?;
    app.commit(tx).await?;
    Ok(vendor)
}

/// Removes a merchant's vendor. Its number is never reused.
pub async fn remove_vendor(app: &App, actor: &str, merchant: MerchantId, id: VendorId) -> Result<(), ConfigurePlaceError> {
    let mut tx = app.begin(merchant).await?;
    if !places::remove_vendor(&mut tx, id, app.now()).await? {
        return Err(ConfigurePlaceError::NoVendor(id));
    }
    record(app, &mut tx, actor, "vendor.removed", &id.to_string()).await?;
    Ok(app.commit(tx).await?)
}
