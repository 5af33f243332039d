//! The warehouse, the vendor and the announced inbound goods of a demo merchant.

use anyhow::anyhow;
use domain::id::MerchantId;
use domain::warehouse::place::Address;
use sandbox::shop::Shop;

use crate::app::App;
use crate::flow::warehouse::announce_asns::announce;
use crate::flow::warehouse::configure_place::{TextChange, WarehouseChange, add_vendor, set_warehouse};
use crate::show::warehouse::inbound;

/// The actor that the audit log shows for `backhaul dev`.
pub(super) const ACTOR: &str = "dev";
/// The id of every demo merchant's warehouse.
pub(super) const WAREHOUSE: &str = "WH-1";
/// The number of every demo merchant's vendor.
pub(super) const VENDOR: u32 = 1;

/// Adds a warehouse and a vendor to a new merchant, and announces goods to the warehouse.
pub(super) async fn create(app: &App, merchant: MerchantId, shop: Shop) -> anyhow::Result<()> {
    let change = WarehouseChange {
        name: Some("Returnsburg".to_owned()),
        external_identifier: TextChange::Set("0042".to_owned()),
        stock_transfer_identifier: TextChange::Set("ST-42".to_owned()),
        address: Some(address(&format!("{} Returns", shop.name), "1 Warehouse Way", "Returnsburg")),
    };
    set_warehouse(app, ACTOR, merchant, &WAREHOUSE.parse()?, change).await?;
    add_vendor(app, ACTOR, merchant, "Example Makers".to_owned(), address("Returns Desk", "1 Example Mill", "Exampleton")).await?;
    let text = shop.inbound_asns().to_string();
    let sent = wire::warehouse::inbound::read(text.as_bytes()).map_err(|_| anyhow!("the sample ASNs were refused"))?;
    let asns: Vec<_> = sent.inbound_asns.0.iter().map(inbound::asn).collect();
    announce(app, merchant, &asns).await?;
    Ok(())
}

fn address(name: &str, street: &str, city: &str) -> Address {
    let [name, street, city, state, zip] = [name, street, city, "OH", "43085"].map(ToOwned::to_owned);
    Address { name, company: None, street, street2: None, city, state, zip }
}
