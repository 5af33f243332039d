//! New returns.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::super::addressee::Addressee;
use super::{Messages, Shared, write_shared};
use crate::connection::Connection;
use crate::failed::Failed;
use crate::returns::rma_starts::Start;

/// The units of new returns: one list per column.
#[derive(Default)]
struct StartedUnits<'s> {
    merchants: Vec<Uuid>,
    returns: Vec<Uuid>,
    orders: Vec<&'s str>,
    positions: Vec<i32>,
    numbers: Vec<i32>,
    lines: Vec<&'s str>,
    skus: Vec<&'s str>,
    titles: Vec<Option<&'s str>>,
    reasons: Vec<&'s str>,
    refund_types: Vec<&'static str>,
    exchange_owed: Vec<bool>,
    receiving: Vec<Option<&'static str>>,
    products: Vec<i64>,
    discounts: Vec<i64>,
    taxes: Vec<i64>,
    estimated: Vec<i64>,
    fees: Vec<i64>,
    service: Vec<i64>,
    shopper: Vec<i64>,
}

impl<'s> StartedUnits<'s> {
    fn of(starts: &'s [Shared<Start>]) -> Self {
        let mut units = Self::default();
        starts.iter().for_each(|of| units.push(of));
        units
    }

    /// Adds the units of a return. All lists of it are equally long.
    fn push(&mut self, Shared { merchant, write: start, .. }: &'s Shared<Start>) {
        let of = &start.units;
        self.positions.extend((0..).take(of.numbers.len()));
        self.merchants.resize(self.positions.len(), merchant.0);
        self.returns.resize(self.positions.len(), start.id);
        self.orders.resize(self.positions.len(), &start.order);
        self.numbers.extend(&of.numbers);
        self.lines.extend(of.lines.iter().map(String::as_str));
        self.skus.extend(of.skus.iter().map(String::as_str));
        self.titles.extend(of.titles.iter().map(Option::as_deref));
        self.reasons.extend(of.reasons.iter().map(String::as_str));
        self.refund_types.extend(&of.refund_types);
        self.exchange_owed.extend(&of.exchange_owed);
        self.receiving.extend(&of.receiving);
        self.products.extend(&of.products);
        self.discounts.extend(&of.discounts);
        self.taxes.extend(&of.taxes);
        self.estimated.extend(&of.estimated);
        self.fees.extend(&of.fees);
        self.service.extend(&of.service);
        self.shopper.extend(&of.shopper);
    }
}

/// Writes new returns without exchanges, each of another order, with their units, their claims on them, and their messages, and marks the
/// orders as having returns. Returns whom each message is addressed to, by its id.
pub(in crate::messages::outbox) async fn insert(
    connection: &mut Connection,
    starts: &[Shared<Start>],
) -> Result<BTreeMap<Uuid, Addressee>, Failed> {
    let Some(messages) = Messages::of(starts) else { return Ok(BTreeMap::new()) };
    let units = StartedUnits::of(starts);
    let rows = write_shared!(
        "new as materialized (
            select *
            from unnest(
                $1::uuid[], $14::uuid[], $15::text[], $16::text[], $17::text[], $18::timestamptz[], $19::timestamptz[], $3::bigint[],
                $20::bigint[], $21::boolean[], $22::boolean[], $23::text[], $24::text[], $25::text[], $26::boolean[],
                (select $27::text[])
            ) as new (
                merchant_id, rma_id, identifier, order_identifier, original_order_identifier, created_at, wakes_at, sequence,
                shipping_cost_cents, fee_deducted, gift, giftee_email, method, status, expected, language
            )
        ), returned as materialized (
            select *
            from unnest(
                $28::uuid[], $29::uuid[], $30::text[], $31::integer[], $32::integer[], $33::text[], $34::text[], $35::text[], $36::text[],
                $37::text[], $38::boolean[], $39::text[], $40::bigint[], $41::bigint[], $42::bigint[], $43::bigint[], $44::bigint[],
                $45::bigint[], (select $46::bigint[])
            ) as returned (
                merchant_id, rma_id, order_identifier, position, unit, order_line, sku, title, reason, refund_type, exchange_owed,
                receiving, product, discount, tax, estimated, fee, service, shopper
            )
        ),
        -- A cluster checks foreign keys after each of these parts, so the return comes before what refers to it.
        started as (
            insert into rma (
                merchant_id, rma_id, identifier, order_identifier, original_order_identifier, created_at, updated_at, wakes_at, sequence,
                shipping_cost_cents, fee_deducted, gift, giftee_email, method, status, receiving_closed, reminded, expected, language
            )
            select merchant_id, rma_id, identifier, order_identifier, original_order_identifier, created_at, created_at, wakes_at, sequence,
                shipping_cost_cents, fee_deducted, gift, giftee_email, method, status, false, false, expected, language
            from new
        ), units as (
            insert into rma_item (
                merchant_id, rma_id, position, unit, order_line, sku, title, reason, refund_type, exchange_owed, receiving,
                product_cents, discount_cents, tax_cents, estimated_cents, fee_cents, service_cents, shopper_cents
            )
            select
                merchant_id, rma_id, position, unit, order_line, sku, title, reason, refund_type, exchange_owed, receiving,
                product, discount, tax, estimated, fee, service, shopper
            from returned
        ), claimed as (
            insert into unit_claim (merchant_id, rma_id, order_identifier, order_line, unit)
            select merchant_id, rma_id, order_identifier, order_line, unit from returned
        ), noted as (
            update customer_order
            set has_returns = true
            from new
            where customer_order.merchant_id = new.merchant_id and customer_order.identifier = new.order_identifier
                and not customer_order.has_returns
        )",
        messages,
        &starts.iter().map(|of| of.write.id).collect::<Vec<_>>(),
        &starts.iter().map(|of| of.write.identifier.as_str()).collect::<Vec<_>>() as &[&str],
        &starts.iter().map(|of| of.write.order.as_str()).collect::<Vec<_>>() as &[&str],
        &starts.iter().map(|of| of.write.original_order.as_deref()).collect::<Vec<_>>() as &[Option<&str>],
        &starts.iter().map(|of| of.write.created_at).collect::<Vec<_>>(),
        &starts.iter().map(|of| of.write.wakes_at).collect::<Vec<_>>() as &[Option<DateTime<Utc>>],
        &starts.iter().map(|of| of.write.shipping_cost).collect::<Vec<_>>(),
        &starts.iter().map(|of| of.write.fee_deducted).collect::<Vec<_>>(),
        &starts.iter().map(|of| of.write.gift).collect::<Vec<_>>(),
        &starts.iter().map(|of| of.write.giftee_email.as_deref()).collect::<Vec<_>>() as &[Option<&str>],
        &starts.iter().map(|of| of.write.method).collect::<Vec<_>>() as &[&str],
        &starts.iter().map(|of| of.write.status).collect::<Vec<_>>() as &[&str],
        &starts.iter().map(|of| of.write.expected).collect::<Vec<_>>(),
        &starts.iter().map(|of| of.write.language.as_deref()).collect::<Vec<_>>() as &[Option<&str>],
        &units.merchants,
        &units.returns,
        &units.orders as &[&str],
        &units.positions,
        &units.numbers,
        &units.lines as &[&str],
        &units.skus as &[&str],
        &units.titles as &[Option<&str>],
        &units.reasons as &[&str],
        &units.refund_types as &[&str],
        &units.exchange_owed,
        &units.receiving as &[Option<&str>],
        &units.products,
        &units.discounts,
        &units.taxes,
        &units.estimated,
        &units.fees,
        &units.service,
        &units.shopper,
    )
    .fetch_all(connection)
    .await?;
    let addressed = rows.into_iter().filter_map(|row| Some((row.message_id, Addressee::read(row.endpoint_id, row.revision, row.is_next)?)));
    Ok(addressed.collect())
}
