//! Merchants' warehouses and vendors.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::warehouse::place::{Address, Vendor, VendorId, Warehouse, WarehouseId};

use crate::{Failed, Store, Tx};

struct WarehouseRow {
    warehouse_id: String,
    name: String,
    external_identifier: Option<String>,
    stock_transfer_identifier: Option<String>,
    address_name: String,
    company: Option<String>,
    street: String,
    street2: Option<String>,
    city: String,
    state: String,
    zip: String,
}

impl TryFrom<WarehouseRow> for Warehouse {
    type Error = Failed;

    fn try_from(row: WarehouseRow) -> Result<Self, Failed> {
        let WarehouseRow { address_name: name, company, street, street2, city, state, zip, .. } = row;
        Ok(Self {
            id: row.warehouse_id.parse().map_err(|_| Failed::Internal("a stored warehouse id is invalid"))?,
            name: row.name,
            external_identifier: row.external_identifier,
            stock_transfer_identifier: row.stock_transfer_identifier,
            address: Address { name, company, street, street2, city, state, zip },
        })
    }
}

/// The warehouse `id`, protected against removal until the transaction ends.
pub async fn lock_warehouse(tx: &mut Tx, id: &WarehouseId) -> Result<Option<Warehouse>, Failed> {
    let row = sqlx::query_as!(
        WarehouseRow,
        r#"
        select
            warehouse_id, name, external_identifier, stock_transfer_identifier,
            address_name, company, street, street2, city, state, zip
        from warehouse
        where merchant_id = $1 and warehouse_id = $2
        for key share
        "#,
        tx.merchant().0,
        id.as_str(),
    )
    .fetch_optional(tx.connection())
    .await?;
    row.map(Warehouse::try_from).transpose()
}

/// The warehouses of `merchant`, by id.
pub async fn warehouses(store: &Store, merchant: MerchantId) -> Result<Vec<Warehouse>, Failed> {
    let rows = sqlx::query_as!(
        WarehouseRow,
        r#"
        select
            warehouse_id, name, external_identifier, stock_transfer_identifier,
            address_name, company, street, street2, city, state, zip
        from warehouse
        where merchant_id = $1
        order by warehouse_id
        "#,
        merchant.0,
    )
    .fetch_all(&store.pool)
    .await?;
    rows.into_iter().map(Warehouse::try_from).collect()
}

/// Inserts or updates a warehouse.
pub async fn save_warehouse(tx: &mut Tx, warehouse: &Warehouse, now: DateTime<Utc>) -> Result<(), Failed> {
    let Warehouse { id, name, external_identifier, stock_transfer_identifier, address } = warehouse;
    sqlx::query!(
        r#"
        insert into warehouse (
            merchant_id, changed_at, warehouse_id, name, external_identifier, stock_transfer_identifier,
            address_name, company, street, street2, city, state, zip
        )
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
        on conflict (merchant_id, warehouse_id) do update set
            changed_at = excluded.changed_at, name = excluded.name, external_identifier = excluded.external_identifier,
            stock_transfer_identifier = excluded.stock_transfer_identifier, address_name = excluded.address_name,
            company = excluded.company, street = excluded.street, street2 = excluded.street2, city = excluded.city,
            state = excluded.state, zip = excluded.zip
        "#,
        tx.merchant().0,
        now,
        id.as_str(),
        name.as_str(),
        external_identifier.as_deref(),
        stock_transfer_identifier.as_deref(),
        address.name.as_str(),
        address.company.as_deref(),
        address.street.as_str(),
        address.street2.as_deref(),
        address.city.as_str(),
        address.state.as_str(),
        address.zip.as_str(),
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Deletes a warehouse. Returns false if it does not exist.
pub async fn remove_warehouse(tx: &mut Tx, id: &WarehouseId) -> Result<bool, Failed> {
    let removed = sqlx::query!("delete from warehouse where merchant_id = $1 and warehouse_id = $2", tx.merchant().0, id.as_str())
        .execute(tx.connection())
        .await?;
    Ok(removed.rows_affected() > 0)
}

struct VendorRow {
    vendor_id: i64,
    name: String,
    address_name: String,
    company: Option<String>,
    street: String,
    street2: Option<String>,
    city: String,
    state: String,
    zip: String,
}

impl From<VendorRow> for Vendor {
    fn from(row: VendorRow) -> Self {
        let VendorRow { address_name: name, company, street, street2, city, state, zip, .. } = row;
        Self { id: VendorId(row.vendor_id), name: row.name, address: Address { name, company, street, street2, city, state, zip } }
    }
}

/// The vendor `id`, protected against deletion until the transaction ends.
pub async fn lock_vendor(tx: &mut Tx, id: VendorId) -> Result<Option<Vendor>, Failed> {
    let row = sqlx::query_as!(
        VendorRow,
        r#"
        select vendor_id, name, address_name, company, street, street2, city, state, zip
        from vendor
        where merchant_id = $1 and vendor_id = $2 and removed_at is null
        for key share
        "#,
        tx.merchant().0,
        id.0,
    )
    .fetch_optional(tx.connection())
    .await?;
    Ok(row.map(Vendor::from))
}

/// The vendors of `merchant`, by number.
pub async fn vendors(store: &Store, merchant: MerchantId) -> Result<Vec<Vendor>, Failed> {
    let rows = sqlx::query_as!(
        VendorRow,
        r#"
        select vendor_id, name, address_name, company, street, street2, city, state, zip
        from vendor
        where merchant_id = $1 and removed_at is null
        order by vendor_id
        "#,
        merchant.0,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(rows.into_iter().map(Vendor::from).collect())
}

/// The number for the next new vendor. Lock the merchant before using it.
pub async fn next_vendor(tx: &mut Tx) -> Result<VendorId, Failed> {
    let merchant = tx.merchant().0;
    let next = sqlx::query_scalar!(r#"select coalesce(max(vendor_id), 0) + 1 as "next!" from vendor where merchant_id = $1"#, merchant)
        .fetch_one(tx.connection())
        .await?;
    Ok(VendorId(next))
}

/// Inserts or updates a vendor.
pub async fn save_vendor(tx: &mut Tx, vendor: &Vendor, now: DateTime<Utc>) -> Result<(), Failed> {
    let Vendor { id, name, address } = vendor;
    sqlx::query!(
        r#"
        insert into vendor (
            merchant_id, vendor_id, changed_at, name, address_name, company, street, street2, city, state, zip
        )
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        on conflict (merchant_id, vendor_id) do update set
            changed_at = excluded.changed_at, name = excluded.name, address_name = excluded.address_name,
            company = excluded.company, street = excluded.street, street2 = excluded.street2, city = excluded.city,
            state = excluded.state, zip = excluded.zip
        "#,
        tx.merchant().0,
        id.0,
        now,
        name.as_str(),
        address.name.as_str(),
        address.company.as_deref(),
        address.street.as_str(),
        address.street2.as_deref(),
        address.city.as_str(),
        address.state.as_str(),
        address.zip.as_str(),
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Marks a vendor as removed. Returns false if it does not exist. Its number is not reused.
pub async fn remove_vendor(tx: &mut Tx, id: VendorId, now: DateTime<Utc>) -> Result<bool, Failed> {
    let removed = sqlx::query!(
        "update vendor set removed_at = $3 where merchant_id = $1 and vendor_id = $2 and removed_at is null",
        tx.merchant().0,
        id.0,
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(removed.rows_affected() > 0)
}
