//! Changes of returns of several merchants, each with the message on it, in one statement. The counters of the feed are taken last, in the
//! order of their merchants, and each once for all messages of its merchant.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::node::trace::SpanIds;
use uuid::Uuid;

use super::addressee::Addressee;
use super::message::Message;
use crate::connection::Connection;
use crate::failed::Failed;
use crate::returns::rma_changes::{Change, Units};

/// A change in a transaction that several merchants share, with the message on it.
pub struct Shared {
    pub(crate) merchant: MerchantId,
    pub(crate) change: Change,
    pub(crate) message: Message,
    /// The place in a trace that the message carries.
    pub(crate) trace: Option<SpanIds>,
}

impl Shared {
    /// The merchant that it belongs to.
    #[must_use]
    pub fn merchant(&self) -> MerchantId {
        self.merchant
    }

    /// The place in a trace that the message carries.
    #[must_use]
    pub fn trace(&self) -> Option<SpanIds> {
        self.trace
    }
}

/// The messages of one merchant.
struct Owed {
    count: i64,
    last: Uuid,
}

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
    fn of(changes: &'c [Shared]) -> Self {
        let mut units = Self::default();
        for Shared { merchant, change, .. } in changes {
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

/// Writes changes, each of another return, and their messages with their positions and deliveries; without an endpoint, a message is
/// unsent. Returns whom each message is addressed to, by its id. The messages have one kind.
#[expect(clippy::too_many_lines, reason = "one statement, a line for each of its columns")]
pub(super) async fn insert(connection: &mut Connection, changes: &[Shared]) -> Result<BTreeMap<Uuid, Addressee>, Failed> {
    let Some(first) = changes.first() else { return Ok(BTreeMap::new()) };
    let mut owed: BTreeMap<Uuid, Owed> = BTreeMap::new();
    let mut places = Vec::with_capacity(changes.len());
    for Shared { merchant, message, .. } in changes {
        let of = owed.entry(merchant.0).or_insert(Owed { count: 0, last: message.id });
        (of.count, of.last) = (of.count + 1, message.id);
        places.push(of.count);
    }
    let units = ChangedUnits::of(changes);
    let happened = |change: &Change| change.event.as_ref().map_or(change.updated_at, |entry| entry.happened_at);
    let parcels = |change: &Change| change.event.as_ref().map(|entry| entry.parcels.join(",")).unwrap_or_default();
    let traces: Vec<Option<Vec<u8>>> = changes.iter().map(|of| of.trace.map(|trace| trace.context.to_bytes())).collect();
    let rows = sqlx::query!(
        r#"
        -- Changes of several merchants, each by its key.
        with changed as materialized (
            select *
            from unnest(
                $1::uuid[], $2::uuid[], $3::bigint[], $4::timestamptz[], $5::timestamptz[], $6::text[], $7::text[], $8::text[],
                $9::boolean[], $10::boolean[], $11::boolean[], $12::boolean[], $13::boolean[], $14::timestamptz[], $15::text[], $16::text[],
                $17::uuid[], $18::text[], $19::text[], $20::text[], $21::bytea[], $22::bigint[],
                -- The planner cannot tell how long this list is, and keeps its plan.
                (select $23::timestamptz[])
            ) as changed (
                merchant_id, rma_id, sequence, updated_at, wakes_at, status, exchange, cancel_reason, reminded, receiving_closed,
                scanned_early, expected, awaits_refund, happened_at, noted, parcels, message_id, event, subject, body, trace, place, due_at
            )
        ), counters as materialized (
            select feed_counter.merchant_id
            from feed_counter
            where feed_counter.merchant_id = any ((select $24::uuid[])::uuid[])
            order by feed_counter.merchant_id
            for update
        ), taken as (
            update feed_counter
            set last = feed_counter.last + case when live then owed.messages else 0 end,
                last_message = case when live then owed.last_message else feed_counter.last_message end
            from counters
            join unnest($24::uuid[], $25::bigint[], (select $26::uuid[])) as owed (merchant_id, messages, last_message)
                on owed.merchant_id = counters.merchant_id
            where feed_counter.merchant_id = counters.merchant_id
            returning feed_counter.merchant_id, case when live then feed_counter.last - owed.messages end as before
        ), written as (
            insert into message (merchant_id, message_id, transaction, feed_epoch, sequence, kind, event, subject, body, position, trace)
            select changed.merchant_id, message_id, pg_current_xact_id(), (select feed_epoch()), sequence, $27, event, subject, body,
                taken.before + place, trace
            from changed
            left join taken on taken.merchant_id = changed.merchant_id
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
        ), addressed as materialized (
            select changed.merchant_id, changed.message_id, changed.sequence, changed.subject, changed.due_at,
                endpoint.endpoint_id, endpoint.revision, endpoint.paused_at
            from changed
            left join endpoint on endpoint.merchant_id = changed.merchant_id and endpoint.interface = $27 and endpoint.removed_at is null
        ), owed as (
            insert into delivery (merchant_id, message_id, endpoint_id, sequence, due_at, attempts, attempts_before, discard, lane)
            select merchant_id, message_id, endpoint_id, sequence, due_at, 0, 0, false, subject
            from addressed
            where endpoint_id is not null
        ), unsent as (
            insert into unsent_message (merchant_id, message_id, sequence, kind, subject)
            select merchant_id, message_id, sequence, $27, subject from addressed where endpoint_id is null
        )
        select message_id as "message_id!", endpoint_id as "endpoint_id?", revision as "revision?",
            -- Nobody can write an earlier message of a subject beside this one, because its lock is held.
            paused_at is null and not exists (
                select 1 as found from moved_merchant where moved_merchant.merchant_id = addressed.merchant_id
            ) and not exists (
                select 1 as found
                from delivery as before
                where before.merchant_id = addressed.merchant_id and before.endpoint_id = addressed.endpoint_id
                    and before.lane = addressed.subject and before.sequence < addressed.sequence
            ) as "is_next!"
        from addressed
        "#,
        &changes.iter().map(|of| of.merchant.0).collect::<Vec<_>>(),
        &changes.iter().map(|of| of.change.id).collect::<Vec<_>>(),
        &changes.iter().map(|of| of.change.sequence).collect::<Vec<_>>(),
        &changes.iter().map(|of| of.change.updated_at).collect::<Vec<_>>(),
        &changes.iter().map(|of| of.change.wakes_at).collect::<Vec<_>>() as &[Option<DateTime<Utc>>],
        &changes.iter().map(|of| of.change.status).collect::<Vec<_>>() as &[&str],
        &changes.iter().map(|of| of.change.exchange).collect::<Vec<_>>() as &[Option<&str>],
        &changes.iter().map(|of| of.change.cancel_reason.as_deref()).collect::<Vec<_>>() as &[Option<&str>],
        &changes.iter().map(|of| of.change.flags.reminded).collect::<Vec<_>>(),
        &changes.iter().map(|of| of.change.flags.receiving_closed).collect::<Vec<_>>(),
        &changes.iter().map(|of| of.change.flags.scanned_early).collect::<Vec<_>>(),
        &changes.iter().map(|of| of.change.flags.expected).collect::<Vec<_>>(),
        &changes.iter().map(|of| of.change.flags.awaits_refund).collect::<Vec<_>>(),
        &changes.iter().map(|of| happened(&of.change)).collect::<Vec<_>>(),
        &changes.iter().map(|of| of.change.event.as_ref().map(|entry| entry.event)).collect::<Vec<_>>() as &[Option<&str>],
        &changes.iter().map(|of| parcels(&of.change)).collect::<Vec<_>>(),
        &changes.iter().map(|of| of.message.id).collect::<Vec<_>>(),
        &changes.iter().map(|of| of.message.event).collect::<Vec<_>>() as &[&str],
        &changes.iter().map(|of| of.message.subject.as_str()).collect::<Vec<_>>() as &[&str],
        &changes.iter().map(|of| of.message.body.as_str()).collect::<Vec<_>>() as &[&str],
        &traces as &[Option<Vec<u8>>],
        &places,
        &changes.iter().map(|of| of.message.due_at).collect::<Vec<_>>(),
        &owed.keys().copied().collect::<Vec<_>>(),
        &owed.values().map(|of| of.count).collect::<Vec<_>>(),
        &owed.values().map(|of| of.last).collect::<Vec<_>>(),
        first.message.kind.as_str(),
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
