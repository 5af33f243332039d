//! The units of a shipment by carton, a page at a time.

use domain::id::MerchantId;
use uuid::Uuid;

use crate::{Failed, Store};

/// A unit of a shipment.
#[derive(Clone, Debug)]
pub struct PackedUnit {
    /// The number of its carton, from 1, and its place in it.
    pub carton: i32,
    pub position: i32,
    /// The identifier scanned on the carton.
    pub carton_identifier: Option<String>,
    pub line: String,
    /// The license plate.
    pub unit: String,
    pub sku: String,
    pub condition: String,
    /// The inbound ASN that it was received against.
    pub inbound_asn: Option<String>,
}

/// The units of a shipment after this carton and place, at most `most`.
pub async fn list(store: &Store, merchant: MerchantId, shipment: Uuid, after: (i32, i32), most: i64) -> Result<Vec<PackedUnit>, Failed> {
    let units = sqlx::query_as!(
        PackedUnit,
        r#"
        select unit.carton, unit.position, carton.identifier as "carton_identifier?", unit.line_identifier as line,
            unit.unit_identifier as unit, unit.sku, unit.condition, unit.inbound_received_asn as inbound_asn
        from (
            select * from shipment_unit
            where merchant_id = $1 and shipment_id = $2 and (carton, position) > ($3, $4)
            order by carton, position
            limit $5
        ) as unit
        left join shipment_carton as carton
            on carton.merchant_id = unit.merchant_id and carton.shipment_id = unit.shipment_id and carton.carton = unit.carton
        order by unit.carton, unit.position
        "#,
        merchant.0,
        shipment,
        after.0,
        after.1,
        most,
    );
    Ok(units.fetch_all(&store.pool).await?)
}
