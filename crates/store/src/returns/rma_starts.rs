//! New returns, from the flow that starts them to the statement that writes them.
//!
//! Like a change, a new return waits for the next statement of its transaction, which is usually the commit with the message on it.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use sqlx::{Error, PgConnection};
use uuid::Uuid;

/// A new return that its transaction has still to write.
pub(crate) struct Start {
    pub(crate) id: Uuid,
    pub(crate) identifier: String,
    pub(crate) order: String,
    pub(crate) original_order: Option<String>,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) wakes_at: Option<DateTime<Utc>>,
    pub(crate) sequence: i64,
    pub(crate) shipping_cost: i64,
    pub(crate) fee_deducted: bool,
    pub(crate) exchange: Option<&'static str>,
    pub(crate) gift: bool,
    pub(crate) giftee_email: Option<String>,
    pub(crate) method: &'static str,
    pub(crate) status: &'static str,
    pub(crate) expected: bool,
    pub(crate) language: Option<String>,
    pub(crate) units: Units,
}

/// The units of a new return: one list per column, in the order of their positions.
#[derive(Default)]
pub(crate) struct Units {
    pub(crate) numbers: Vec<i32>,
    pub(crate) lines: Vec<String>,
    pub(crate) skus: Vec<String>,
    pub(crate) titles: Vec<Option<String>>,
    pub(crate) reasons: Vec<String>,
    pub(crate) refund_types: Vec<&'static str>,
    pub(crate) exchange_owed: Vec<bool>,
    pub(crate) exchange_skus: Vec<Option<String>>,
    pub(crate) receiving: Vec<Option<&'static str>>,
    pub(crate) products: Vec<i64>,
    pub(crate) discounts: Vec<i64>,
    pub(crate) taxes: Vec<i64>,
    pub(crate) estimated: Vec<i64>,
    pub(crate) fees: Vec<i64>,
    pub(crate) service: Vec<i64>,
    pub(crate) shopper: Vec<i64>,
}

/// Writes a new return with its units and its claims on them, and marks the order as having returns: the SQL before everything else,
/// that before and after the claims, the merchant, the return, and the arguments from `$34` on. PostgreSQL runs what nobody reads from
/// in reverse order, so what stands first takes its locks last.
macro_rules! write_start {
    ($query:ident, $first:tt, $before:tt, $after:tt, $merchant:expr, $start:expr $(, $argument:expr)* $(,)?) => {
        sqlx::$query!(
            "with "
                + $first
                + "started as (
                insert into rma (
                    merchant_id, rma_id, identifier, order_identifier, original_order_identifier, created_at, updated_at, wakes_at,
                    sequence, shipping_cost_cents, fee_deducted, exchange, gift, giftee_email, method, status, receiving_closed, reminded,
                    expected, language
                )
                values ($1, $2, $3, $4, $5, $6, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, false, false, $16, $17)
            ), units as (
                insert into rma_item (
                    merchant_id, rma_id, position, unit, order_line, sku, title, reason, refund_type, exchange_owed, exchange_sku,
                    receiving, product_cents, discount_cents, tax_cents, estimated_cents, fee_cents, service_cents, shopper_cents
                )
                select
                    $1, $2, (nth - 1)::integer, unit, order_line, sku, title, reason, refund_type, exchange_owed, exchange_sku, receiving,
                    product, discount, tax, estimated, fee, service, shopper
                from unnest(
                    $18::integer[], $19::text[], $20::text[], $21::text[], $22::text[], $23::text[], $24::boolean[], $25::text[],
                    $26::text[], $27::bigint[], $28::bigint[], $29::bigint[], $30::bigint[], $31::bigint[], $32::bigint[], $33::bigint[]
                ) with ordinality as returned (
                    unit, order_line, sku, title, reason, refund_type, exchange_owed, exchange_sku,
                    receiving, product, discount, tax, estimated, fee, service, shopper, nth
                )
            ), noted as (
                update customer_order set has_returns = true
                where merchant_id = $1 and identifier = $4 and not has_returns
            ) "
                + $before
                + "insert into unit_claim (merchant_id, rma_id, order_identifier, order_line, unit)
            select $1, $2, $4, order_line, unit
            from unnest($18::integer[], $19::text[]) as claimed (unit, order_line)"
                + $after,
            $merchant.0,
            $start.id,
            $start.identifier,
            $start.order,
            $start.original_order,
            $start.created_at,
            $start.wakes_at,
            $start.sequence,
            $start.shipping_cost,
            $start.fee_deducted,
            $start.exchange,
            $start.gift,
            $start.giftee_email,
            $start.method,
            $start.status,
            $start.expected,
            $start.language,
            &$start.units.numbers,
            &$start.units.lines,
            &$start.units.skus,
            &$start.units.titles as &[Option<String>],
            &$start.units.reasons,
            &$start.units.refund_types as &[&str],
            &$start.units.exchange_owed,
            &$start.units.exchange_skus as &[Option<String>],
            &$start.units.receiving as &[Option<&str>],
            &$start.units.products,
            &$start.units.discounts,
            &$start.units.taxes,
            &$start.units.estimated,
            &$start.units.fees,
            &$start.units.service,
            &$start.units.shopper,
            $($argument),*
        )
    };
}
pub(crate) use write_start;

impl Start {
    /// Writes the return on its own.
    pub(crate) async fn write(&self, connection: &mut PgConnection, merchant: MerchantId) -> Result<(), Error> {
        write_start!(query, "", "", "", merchant, self).execute(connection).await.map(drop)
    }
}
