//! Deleting a whole merchant, table by table in small parts.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;

use crate::{Failed, Store, Tx};

/// The most rows of a kind that a preview counts.
pub const COUNTED: i64 = 1_000_000;

/// What a merchant has, each up to [`COUNTED`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    pub orders: i64,
    pub returns: i64,
    pub drop_ship_orders: i64,
    pub shipments: i64,
    pub messages: i64,
    /// Of the messages, those that are still to be delivered.
    pub owed: i64,
    /// Of the messages, those that were given up and are not settled.
    pub failures: i64,
    pub photos: i64,
}

/// Counts what the merchant has.
pub async fn count(store: &Store, merchant: MerchantId) -> Result<Counts, Failed> {
    let counts = sqlx::query_as!(
        Counts,
        r#"
        select
            (select count(*) from (select from customer_order where merchant_id = $1 limit $2) as orders) as "orders!",
            (select count(*) from (select from rma where merchant_id = $1 limit $2) as returns) as "returns!",
            (select count(*) from (select from drop_ship_order where merchant_id = $1 limit $2) as given) as "drop_ship_orders!",
            (select count(*) from (select from outbound_shipment where merchant_id = $1 limit $2) as shipped) as "shipments!",
            (select count(*) from (select from message where merchant_id = $1 limit $2) as written) as "messages!",
            (select count(*) from (select from delivery where merchant_id = $1 limit $2) as owed) as "owed!",
            (select count(*) from (select from failure where merchant_id = $1 and ended_at is null limit $2) as given_up) as "failures!",
            (select count(*) from (select from photo where merchant_id = $1 limit $2) as photos) as "photos!"
        "#,
        merchant.0,
        COUNTED,
    );
    Ok(counts.fetch_one(&store.pool).await?)
}

/// Marks the merchant as being deleted, and revokes its credentials. Returns false if it was marked before.
pub async fn begin(tx: &mut Tx, now: DateTime<Utc>) -> Result<bool, Failed> {
    let merchant = tx.merchant().0;
    let marked = sqlx::query!("update merchant set deleting_at = $2 where merchant_id = $1 and deleting_at is null", merchant, now)
        .execute(tx.connection())
        .await?;
    sqlx::query!("update credential set revoked_at = $2 where merchant_id = $1 and revoked_at is null", merchant, now)
        .execute(tx.connection())
        .await?;
    Ok(marked.rows_affected() > 0)
}

/// A merchant that is being deleted.
#[derive(Clone, Debug)]
pub struct Deletion {
    pub merchant: MerchantId,
    pub handle: String,
}

/// The merchants whose deletion began at `until` or before.
pub async fn list(store: &Store, until: DateTime<Utc>) -> Result<Vec<Deletion>, Failed> {
    let rows = sqlx::query!("select merchant_id, handle from merchant where deleting_at <= $1 order by deleting_at", until);
    let deletion = |merchant, handle| Deletion { merchant: MerchantId(merchant), handle };
    Ok(rows.fetch_all(&store.pool).await?.into_iter().map(|row| deletion(row.merchant_id, row.handle)).collect())
}

/// Deletes the merchant itself. Its audit trail stays until its own retention ends. Returns false if it is gone already.
pub async fn finish(tx: &mut Tx) -> Result<bool, Failed> {
    let deleted = sqlx::query!("delete from merchant where merchant_id = $1 and deleting_at is not null", tx.merchant().0)
        .execute(tx.connection())
        .await?;
    Ok(deleted.rows_affected() > 0)
}

/// Declares the tables, and a statement for each of them.
macro_rules! emptied {
    ($($table:literal)+) => {
        /// The tables with rows of merchants, in the order in which they are emptied: rows go before those that they refer to. The
        /// audit trail is not among them, and neither is the table of merchants.
        pub const EMPTIED: &[&str] = &[$($table),+];

        /// Deletes at most `most` of the merchant's rows from one of the tables [`EMPTIED`]. Returns their number.
        pub async fn delete(tx: &mut Tx, table: &str, most: i64) -> Result<u64, Failed> {
            let merchant = tx.merchant().0;
            tx.connection().see_tables().await?;
            let deleted = match table {
                $($table => {
                    sqlx::query!(
                        "delete from " + $table + " where merchant_id = $1 and ctid = any (array(select ctid from "
                            + $table + " where merchant_id = $1 limit $2))",
                        merchant,
                        most,
                    )
                    .execute(tx.connection())
                    .await?
                })+
                _ => return Err(Failed::Internal("a table without rows of merchants is to be emptied")),
            };
            Ok(deleted.rows_affected())
        }
    };
}

emptied! {
    "moved_merchant"
    "merchant_move"
    "access_token"
    "merchant_cell"
    "credential"
    "operator_request"
    "portal_host"
    "merchant_key"
    "portal_session"
    "portal_link"
    "portal_miss"
    "return_draft"
    "return_link"
    "withdrawal_draft"
    "withdrawal_link"
    "withdrawal"
    "refund_line"
    "refund"
    "customer_order"
    "suppression"
    "order_import_refusal"
    "order_import"
    "intake_refusal"
    "idempotency_key"
    "exchange_order"
    "unit_claim"
    "label"
    "label_order"
    "drop_off"
    "parcel"
    "carrier_event"
    "carrier_webhook"
    "exception_note"
    "receiving_exception"
    "receipt"
    "rma_item"
    "rma_event"
    "work_item"
    "rma"
    "photo"
    "asn_line"
    "inbound_asn"
    "asn_number"
    "shipment_carton"
    "shipment_unit"
    "shipment_part"
    "outbound_shipment"
    "drop_shipment_item"
    "drop_ship_item"
    "drop_shipment"
    "drop_ship_cancellation"
    "drop_ship_order"
    "retry_job"
    "replay_job"
    "failure_note"
    "failure"
    "unsent_message"
    "unsent_dropped"
    "delivery"
    "attempt"
    "message"
    "feed_counter"
    "attempt_hourly"
    "delivered_hourly"
    "endpoint_notice"
    "endpoint"
    "report_day"
    "report_mark"
    "warning_day"
    "fingerprint_progress"
    "return_policy"
    "former_policy"
    "carrier_account"
    "warehouse"
    "vendor"
    "brand_text"
    "brand"
    "mail_setting"
    "portal_setting"
}
