//! Changed returns.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use super::super::addressee::Addressee;
use super::{Messages, Shared, write_shared};
use crate::connection::Connection;
use crate::failed::Failed;
use crate::returns::rma_changes::{Change, Units};

/// A changed unit: the position, and the columns that are written.
#[derive(Default)]
struct ChangedUnits<'c> {
    merchants: Vec<Uuid>,
    returns: Vec<Uuid>,
    positions: Vec<i32>,
    parcels: Vec<Option<&'c str>>,
    tracking_numbers: Vec<Option<&'c str>>,
    receiving: Vec<Option<&'c str>>,
    refunds: Vec<Option<&'c str>>,
    in_question: Vec<bool>,
    refund_types: Vec<&'c str>,
    exchange_owed: Vec<bool>,
    exchange_orders: Vec<Option<&'c str>>,
    estimated: Vec<i64>,
    fees: Vec<i64>,
    service: Vec<i64>,
    shopper: Vec<i64>,
}

impl<'c> ChangedUnits<'c> {
    fn of(changes: &'c [Shared<Change>]) -> Self {
        let mut units = Self::default();
        for Shared { merchant, write: change, .. } in changes {
            let of_units = change.units.changed.iter().enumerate().filter(|(_, is_written)| **is_written);
            of_units.for_each(|(position, _)| units.push(*merchant, change, position));
        }
        units
    }

    /// Adds the unit at `position`. All lists of a change are equally long.
    fn push(&mut self, merchant: MerchantId, change: &'c Change, position: usize) {
        let of: &Units = &change.units;
        let Ok(number) = i32::try_from(position) else { return };
        self.merchants.push(merchant.0);
        self.returns.push(change.id);
        self.positions.push(number);
        self.parcels.extend(of.parcels.get(position));
        self.tracking_numbers.extend(of.tracking_numbers.get(position).map(Option::as_deref));
        self.receiving.extend(of.receiving.get(position));
        self.refunds.extend(of.refunds.get(position).map(Option::as_deref));
        self.in_question.extend(of.in_question.get(position));
        self.refund_types.extend(of.refund_types.get(position));
        self.exchange_owed.extend(of.exchange_owed.get(position));
        self.exchange_orders.extend(of.exchange_orders.get(position).map(Option::as_deref));
        self.estimated.extend(of.estimated.get(position));
        self.fees.extend(of.fees.get(position));
        self.service.extend(of.service.get(position));
        self.shopper.extend(of.shopper.get(position));
    }
}

/// Writes changes, each of another return, and their messages. Returns whom each message is addressed to, by its id.
pub(in crate::messages::outbox) async fn insert(
    connection: &mut Connection,
    changes: &[Shared<Change>],
) -> Result<BTreeMap<Uuid, Addressee>, Failed> {
    let Some(messages) = Messages::of(changes) else { return Ok(BTreeMap::new()) };
    let units = ChangedUnits::of(changes);
    let happened = |change: &Change| change.event.as_ref().map_or(change.updated_at, |entry| entry.happened_at);
    let parcels = |change: &Change| change.event.as_ref().map(|entry| entry.parcels.join(",")).unwrap_or_default();
    let rows = write_shared!(
        "changed as materialized (
            select *
            from unnest(
                $1::uuid[], $14::uuid[], $3::bigint[], $15::timestamptz[], $16::timestamptz[], $17::text[], $18::text[], $19::text[],
                $20::boolean[], $21::boolean[], $22::boolean[], $23::boolean[], $24::boolean[], $25::timestamptz[], $26::text[],
                (select $27::text[])
            ) as changed (
                merchant_id, rma_id, sequence, updated_at, wakes_at, status, exchange, cancel_reason, reminded, receiving_closed,
                scanned_early, expected, awaits_refund, happened_at, noted, parcels
            )
        ), units as (
            update rma_item
            set parcel = unit.parcel, tracking_number = unit.tracking_number, receiving = unit.receiving,
                refund_identifier = unit.refund_identifier, refund_in_question = unit.refund_in_question, refund_type = unit.refund_type,
                exchange_owed = unit.exchange_owed, exchange_order_identifier = unit.exchange_order_identifier,
                estimated_cents = unit.estimated, fee_cents = unit.fee, service_cents = unit.service, shopper_cents = unit.shopper
            from unnest(
                $28::uuid[], $29::uuid[], $30::integer[], $31::text[], $32::text[], $33::text[], $34::text[], $35::boolean[], $36::text[],
                $37::boolean[], $38::text[], $39::bigint[], $40::bigint[], $41::bigint[], (select $42::bigint[])
            ) as unit (
                merchant_id, rma_id, position, parcel, tracking_number, receiving, refund_identifier, refund_in_question, refund_type,
                exchange_owed, exchange_order_identifier, estimated, fee, service, shopper
            )
            where rma_item.merchant_id = unit.merchant_id and rma_item.rma_id = unit.rma_id and rma_item.position = unit.position
        ), noted as (
            insert into rma_event (merchant_id, rma_id, sequence, happened_at, event, parcels)
            select merchant_id, rma_id, sequence, happened_at, noted, string_to_array(parcels, ',') from changed where noted is not null
        ), saved as (
            update rma
            set sequence = changed.sequence, updated_at = changed.updated_at, wakes_at = changed.wakes_at, status = changed.status,
                exchange = changed.exchange, cancel_reason = changed.cancel_reason, reminded = changed.reminded,
                receiving_closed = changed.receiving_closed, scanned_early = changed.scanned_early, expected = changed.expected,
                -- The promise counts from the first goods that came back, and later ones do not move it.
                refund_due_at = case
                    when changed.awaits_refund then coalesce(
                        refund_due_at,
                        days_after(changed.updated_at, (select refund_days from merchant where merchant.merchant_id = changed.merchant_id))
                    )
                end
            from changed
            where rma.merchant_id = changed.merchant_id and rma.rma_id = changed.rma_id
        )",
        messages,
        &changes.iter().map(|of| of.write.id).collect::<Vec<_>>(),
        &changes.iter().map(|of| of.write.updated_at).collect::<Vec<_>>(),
        &changes.iter().map(|of| of.write.wakes_at).collect::<Vec<_>>() as &[Option<DateTime<Utc>>],
        &changes.iter().map(|of| of.write.status).collect::<Vec<_>>() as &[&str],
        &changes.iter().map(|of| of.write.exchange).collect::<Vec<_>>() as &[Option<&str>],
        &changes.iter().map(|of| of.write.cancel_reason.as_deref()).collect::<Vec<_>>() as &[Option<&str>],
        &changes.iter().map(|of| of.write.flags.reminded).collect::<Vec<_>>(),
        &changes.iter().map(|of| of.write.flags.receiving_closed).collect::<Vec<_>>(),
        &changes.iter().map(|of| of.write.flags.scanned_early).collect::<Vec<_>>(),
        &changes.iter().map(|of| of.write.flags.expected).collect::<Vec<_>>(),
        &changes.iter().map(|of| of.write.flags.awaits_refund).collect::<Vec<_>>(),
        &changes.iter().map(|of| happened(&of.write)).collect::<Vec<_>>(),
        &changes.iter().map(|of| of.write.event.as_ref().map(|entry| entry.event)).collect::<Vec<_>>() as &[Option<&str>],
        &changes.iter().map(|of| parcels(&of.write)).collect::<Vec<_>>(),
        &units.merchants,
        &units.returns,
        &units.positions,
        &units.parcels as &[Option<&str>],
        &units.tracking_numbers as &[Option<&str>],
        &units.receiving as &[Option<&str>],
        &units.refunds as &[Option<&str>],
        &units.in_question,
        &units.refund_types as &[&str],
        &units.exchange_owed,
        &units.exchange_orders as &[Option<&str>],
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
