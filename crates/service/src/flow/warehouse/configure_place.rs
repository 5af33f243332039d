//! The operator says which warehouses and vendors a merchant has. Every change leaves an audit row in its own transaction.

use domain::id::MerchantId;
use domain::warehouse::place::{Address, NoWord, Vendor, VendorId, Warehouse, WarehouseId};
use store::merchants::accounts;
use store::merchants::audit::{self, Entry};
use store::warehouse::places;
use store::{Failed, Tx};

use crate::app::App;

/// What becomes of a word that a place may have.
#[derive(Clone, Debug, Default)]
pub enum Word {
    /// It stays as it is.
    #[default]
    Kept,
    /// It is this one from now on.
    Set(String),
    /// There is none any more.
    TakenBack,
}

impl Word {
    fn after(self, known: Option<String>) -> Option<String> {
        match self {
            Self::Kept => known,
            Self::Set(word) => Some(word),
            Self::TakenBack => None,
        }
    }
}

/// What is to be changed of a warehouse; what is absent stays as it is.
#[derive(Clone, Debug, Default)]
pub struct WarehouseChange {
    /// What people call it.
    pub name: Option<String>,
    /// What the merchant's systems call it.
    pub external_identifier: Word,
    /// What they call it in stock transfers.
    pub stock_transfer_identifier: Word,
    /// Where it is.
    pub address: Option<Address>,
}

/// What is to be changed of a vendor; what is absent stays as it is.
#[derive(Clone, Debug, Default)]
pub struct VendorChange {
    /// What people call it.
    pub name: Option<String>,
    /// Where it is.
    pub address: Option<Address>,
}

/// Why a place was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ConfigurePlaceError {
    /// There is no such warehouse.
    #[error("the merchant has no warehouse {0}; `backhaul warehouse list` shows those that it has")]
    NoWarehouse(WarehouseId),
    /// There is no such vendor.
    #[error("the merchant has no vendor {0}; `backhaul vendor list` shows those that it has")]
    NoVendor(VendorId),
    /// A new one needs more.
    #[error("a new place needs {0}")]
    Incomplete(&'static str),
    /// A word of it cannot be kept or sent.
    #[error(transparent)]
    Word(#[from] NoWord),
    /// The database.
    #[error(transparent)]
    Failed(#[from] Failed),
}

async fn record(app: &App, tx: &mut Tx, actor: &str, action: &str, detail: &str) -> Result<(), Failed> {
    audit::record(tx, Entry { id: app.mint(), actor, action, detail, done_at: app.now() }).await
}

/// Sets a merchant's warehouse or changes it, and answers what it is now. Shipments that were made keep what they were told.
pub async fn set_warehouse(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    id: &WarehouseId,
    change: WarehouseChange,
) -> Result<Warehouse, ConfigurePlaceError> {
    let mut tx = app.begin(merchant).await?;
    // There may be no warehouse yet that could be locked.
    accounts::lock(&mut tx).await?;
    let known = places::lock_warehouse(&mut tx, id).await?;
    let action = if known.is_some() { "warehouse.changed" } else { "warehouse.added" };
    let WarehouseChange { name, external_identifier, stock_transfer_identifier, address } = change;
    let warehouse = match known {
        Some(known) => Warehouse {
            name: name.unwrap_or(known.name),
            external_identifier: external_identifier.after(known.external_identifier),
            stock_transfer_identifier: stock_transfer_identifier.after(known.stock_transfer_identifier),
            address: address.unwrap_or(known.address),
            id: known.id,
        },
        None => Warehouse {
            id: id.clone(),
            name: name.ok_or(ConfigurePlaceError::Incomplete("a name: --name"))?,
            external_identifier: external_identifier.after(None),
            stock_transfer_identifier: stock_transfer_identifier.after(None),
            address: address.ok_or(ConfigurePlaceError::Incomplete("an address: --address"))?,
        },
    };
    warehouse.check()?;
    places::save_warehouse(&mut tx, &warehouse, app.now()).await?;
    record(app, &mut tx, actor, action, id.as_str()).await?;
    app.commit(tx).await?;
    Ok(warehouse)
}

/// Forgets a merchant's warehouse. Shipments that were made keep what they were told.
pub async fn remove_warehouse(app: &App, actor: &str, merchant: MerchantId, id: &WarehouseId) -> Result<(), ConfigurePlaceError> {
    let mut tx = app.begin(merchant).await?;
    if !places::remove_warehouse(&mut tx, id).await? {
        return Err(ConfigurePlaceError::NoWarehouse(id.clone()));
    }
    record(app, &mut tx, actor, "warehouse.removed", id.as_str()).await?;
    Ok(app.commit(tx).await?)
}

/// Gives a merchant another vendor, and answers it with its number.
pub async fn add_vendor(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    name: String,
    address: Address,
) -> Result<Vendor, ConfigurePlaceError> {
    let mut tx = app.begin(merchant).await?;
    // Whoever adds another at the same time waits here, and gets the number after this one's.
    accounts::lock(&mut tx).await?;
    let vendor = Vendor { id: places::next_vendor(&mut tx).await?, name, address };
    vendor.check()?;
    places::save_vendor(&mut tx, &vendor, app.now()).await?;
    record(app, &mut tx, actor, "vendor.added", &vendor.id.to_string()).await?;
    app.commit(tx).await?;
    Ok(vendor)
}

/// Changes a merchant's vendor, and answers what it is now.
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

/// Removes a merchant's vendor. Its number is not given again.
pub async fn remove_vendor(app: &App, actor: &str, merchant: MerchantId, id: VendorId) -> Result<(), ConfigurePlaceError> {
    let mut tx = app.begin(merchant).await?;
    if !places::remove_vendor(&mut tx, id, app.now()).await? {
        return Err(ConfigurePlaceError::NoVendor(id));
    }
    record(app, &mut tx, actor, "vendor.removed", &id.to_string()).await?;
    Ok(app.commit(tx).await?)
}
