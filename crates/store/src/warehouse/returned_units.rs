//! Units that a warehouse received for a return, with or without an ASN.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use crate::{Failed, Store};

/// A received unit of a return.
#[derive(Clone, Debug)]
pub struct ReturnedUnit {
    /// The license plate.
    pub unit: String,
    pub sku: Option<String>,
    pub condition: String,
    pub reject_reason: Option<String>,
    /// The internal id of the warehouse.
    pub warehouse: String,
    /// `None` if it was received for the return alone.
    pub asn_number: Option<String>,
    pub received_at: DateTime<Utc>,
}

/// The units that were received for the return `rma`, which ASNs know as `identifier`: latest first, at most `most`.
pub async fn list(store: &Store, merchant: MerchantId, rma: Uuid, identifier: &str, most: i64) -> Result<Vec<ReturnedUnit>, Failed> {
    let units = sqlx::query_as!(
        ReturnedUnit,
        r#"
        select found.unit_identifier as "unit!", found.sku, found.condition as "condition!", found.reject_reason,
            found.warehouse_id as "warehouse!", found.asn_number, found.received_at as "received_at!"
        from (
            (
                select receipt.unit_identifier, receipt.sku, receipt.condition, receipt.reject_reason, receipt.warehouse_id,
                    null::text as asn_number, receipt.received_at
                from receipt
                where receipt.merchant_id = $1 and receipt.rma_id = $2
                limit $4
            )
            union all
            (
                select receipt.unit_identifier, receipt.sku, receipt.condition, receipt.reject_reason, receipt.warehouse_id,
                    inbound_asn.asn_number, receipt.received_at
                from asn_line
                join receipt on receipt.merchant_id = $1 and receipt.asn_id = asn_line.asn_id
                    and receipt.line_identifier = asn_line.line_identifier
                join inbound_asn on inbound_asn.merchant_id = $1 and inbound_asn.asn_id = asn_line.asn_id
                where asn_line.merchant_id = $1 and asn_line.reference_type = 'RMA' and asn_line.reference_identifier = $3
                limit $4
            )
        ) as found
        order by found.received_at desc, found.unit_identifier
        limit $4
        "#,
        merchant.0,
        rma,
        identifier,
        most,
    );
    Ok(units.fetch_all(&store.pool).await?)
}
