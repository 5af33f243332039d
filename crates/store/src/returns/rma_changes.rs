//! Changes of returns, from the flow that makes them to the statement that writes them.
//!
//! A change waits for the next statement of its transaction. Usually that is the commit, which writes the message on the change in the
//! same statement (`messages::outbox`).

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use sqlx::{Error, PgConnection};
use uuid::Uuid;

/// A change of a return that its transaction has still to write.
pub(crate) struct Change {
    pub(crate) id: Uuid,
    pub(crate) sequence: i64,
    pub(crate) updated_at: DateTime<Utc>,
    pub(crate) wakes_at: Option<DateTime<Utc>>,
    pub(crate) status: &'static str,
    pub(crate) exchange: Option<&'static str>,
    pub(crate) cancel_reason: Option<String>,
    pub(crate) flags: Flags,
    /// The entry of its time line.
    pub(crate) event: Option<Entry>,
    pub(crate) units: Units,
}

/// The flags of a return.
#[expect(clippy::struct_excessive_bools, reason = "the columns of a row")]
pub(crate) struct Flags {
    pub(crate) reminded: bool,
    pub(crate) receiving_closed: bool,
    pub(crate) scanned_early: bool,
    pub(crate) expected: bool,
    pub(crate) awaits_refund: bool,
}

/// An entry of a return's time line.
pub(crate) struct Entry {
    pub(crate) event: &'static str,
    pub(crate) happened_at: DateTime<Utc>,
    /// The parcel states of its units, each once.
    pub(crate) parcels: Vec<&'static str>,
}

/// The units of a return: one list per column, in the order of their positions.
#[derive(Default)]
pub(crate) struct Units {
    /// True for those that are written.
    pub(crate) changed: Vec<bool>,
    pub(crate) parcels: Vec<Option<&'static str>>,
    pub(crate) tracking_numbers: Vec<Option<String>>,
    pub(crate) receiving: Vec<Option<&'static str>>,
    pub(crate) refunds: Vec<Option<String>>,
    pub(crate) in_question: Vec<bool>,
    pub(crate) refund_types: Vec<&'static str>,
    pub(crate) exchange_owed: Vec<bool>,
    pub(crate) exchange_orders: Vec<Option<String>>,
    pub(crate) estimated: Vec<i64>,
    pub(crate) fees: Vec<i64>,
    pub(crate) service: Vec<i64>,
    pub(crate) shopper: Vec<i64>,
}

impl Units {
    /// True if a unit is written.
    pub(crate) fn any_changed(&self) -> bool {
        self.changed.contains(&true)
    }
}

/// Writes a change: the SQL before everything else, that before and after the update of the return, the merchant, the change, and the
/// arguments from `$32` on. PostgreSQL runs what nobody reads from in reverse order, so what stands first takes its locks last.
///
/// A unit takes the element at its position from each list, as JSON: with a subscript, a node of a cluster that passes the statement on
/// crashes. A join with `unnest` would be planned anew every time, because the planner expects a shorter list to pay off.
macro_rules! write_change {
    ($query:ident, $first:tt, $before:tt, $after:tt, $merchant:expr, $change:expr $(, $argument:expr)* $(,)?) => {
        sqlx::$query!(
            "with "
                + $first
                + "units as (
                update rma_item
                set parcel = to_jsonb($19::text[]) ->> position, tracking_number = to_jsonb($20::text[]) ->> position,
                    receiving = to_jsonb($21::text[]) ->> position, refund_identifier = to_jsonb($22::text[]) ->> position,
                    refund_in_question = (to_jsonb($23::boolean[]) ->> position)::boolean, refund_type = to_jsonb($24::text[]) ->> position,
                    exchange_owed = (to_jsonb($25::boolean[]) ->> position)::boolean, exchange_order_identifier = to_jsonb($26::text[]) ->> position,
                    estimated_cents = (to_jsonb($27::bigint[]) ->> position)::bigint, fee_cents = (to_jsonb($28::bigint[]) ->> position)::bigint,
                    service_cents = (to_jsonb($29::bigint[]) ->> position)::bigint, shopper_cents = (to_jsonb($30::bigint[]) ->> position)::bigint
                where merchant_id = $1 and rma_id = $2 and $17::boolean and (to_jsonb($18::boolean[]) ->> position)::boolean
            ), noted as (
                insert into rma_event (merchant_id, rma_id, sequence, happened_at, event, parcels)
                select $1, $2, $3, $14, $15, $16 where $31::boolean
            ) "
                + $before
                + "update rma
            set sequence = $3, updated_at = $4, wakes_at = $5, status = $6, exchange = $7, cancel_reason = $8, reminded = $9,
                receiving_closed = $10, scanned_early = $11, expected = $12,
                -- The promise counts from the first goods that came back, and later ones do not move it.
                refund_due_at = case
                    when $13::boolean then coalesce(
                        refund_due_at,
                        days_after($4, (select refund_days from merchant where merchant.merchant_id = $1))
                    )
                end
            where merchant_id = $1 and rma_id = $2"
                + $after,
            $merchant.0,
            $change.id,
            $change.sequence,
            $change.updated_at,
            $change.wakes_at,
            $change.status,
            $change.exchange,
            $change.cancel_reason,
            $change.flags.reminded,
            $change.flags.receiving_closed,
            $change.flags.scanned_early,
            $change.flags.expected,
            $change.flags.awaits_refund,
            $change.event.as_ref().map_or($change.updated_at, |entry| entry.happened_at),
            $change.event.as_ref().map_or("", |entry| entry.event),
            $change.event.as_ref().map(|entry| entry.parcels.as_slice()).unwrap_or_default() as &[&str],
            $change.units.any_changed(),
            &$change.units.changed,
            &$change.units.parcels as &[Option<&str>],
            &$change.units.tracking_numbers as &[Option<String>],
            &$change.units.receiving as &[Option<&str>],
            &$change.units.refunds as &[Option<String>],
            &$change.units.in_question,
            &$change.units.refund_types as &[&str],
            &$change.units.exchange_owed,
            &$change.units.exchange_orders as &[Option<String>],
            &$change.units.estimated,
            &$change.units.fees,
            &$change.units.service,
            &$change.units.shopper,
            $change.event.is_some(),
            $($argument),*
        )
    };
}
pub(crate) use write_change;

impl Change {
    /// Writes the change on its own.
    pub(crate) async fn write(&self, connection: &mut PgConnection, merchant: MerchantId) -> Result<(), Error> {
        write_change!(query, "", "", "", merchant, self).execute(connection).await.map(drop)
    }
}
