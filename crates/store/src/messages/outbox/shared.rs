//! Returns of several merchants, each with the message on it, in one statement: new ones, or changed ones. The counters of the feed are
//! taken last, in the order of their merchants, and each once for all messages of its merchant.

pub(super) mod changes;
pub(super) mod starts;

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::node::trace::SpanIds;
use uuid::Uuid;

use super::message::Message;

/// What a transaction that several merchants share writes of a return, with the message on it.
pub(crate) struct Shared<W> {
    pub(crate) merchant: MerchantId,
    pub(crate) write: W,
    pub(crate) message: Message,
    /// The place in a trace that the message carries.
    pub(crate) trace: Option<SpanIds>,
}

/// The messages on returns: one list per column.
struct Messages<'m> {
    merchants: Vec<Uuid>,
    ids: Vec<Uuid>,
    sequences: Vec<i64>,
    events: Vec<&'static str>,
    subjects: Vec<&'m str>,
    bodies: Vec<&'m str>,
    traces: Vec<Option<Vec<u8>>>,
    /// The place of each among those of its merchant, from 1 on.
    places: Vec<i64>,
    due_at: Vec<DateTime<Utc>>,
    /// The kind of all of them.
    kind: &'static str,
    owed: BTreeMap<Uuid, Owed>,
}

/// The messages of one merchant.
struct Owed {
    count: i64,
    last: Uuid,
}

impl<'m> Messages<'m> {
    /// The messages on what is kept; `None` if there are none. They have one kind.
    fn of<W>(kept: &'m [Shared<W>]) -> Option<Self> {
        let first = kept.first()?;
        let mut owed: BTreeMap<Uuid, Owed> = BTreeMap::new();
        let mut places = Vec::with_capacity(kept.len());
        for Shared { merchant, message, .. } in kept {
            let of = owed.entry(merchant.0).or_insert(Owed { count: 0, last: message.id });
            (of.count, of.last) = (of.count + 1, message.id);
            places.push(of.count);
        }
        Some(Self {
            merchants: kept.iter().map(|of| of.merchant.0).collect(),
            ids: kept.iter().map(|of| of.message.id).collect(),
            sequences: kept.iter().map(|of| of.message.sequence).collect(),
            events: kept.iter().map(|of| of.message.event).collect(),
            subjects: kept.iter().map(|of| of.message.subject.as_str()).collect(),
            bodies: kept.iter().map(|of| of.message.body.as_str()).collect(),
            traces: kept.iter().map(|of| of.trace.map(|trace| trace.context.to_bytes())).collect(),
            places,
            due_at: kept.iter().map(|of| of.message.due_at).collect(),
            kind: first.message.kind.as_str(),
            owed,
        })
    }
}

/// Writes returns and the messages on them, with their positions and deliveries; without an endpoint, a message is unsent: the SQL that
/// writes the returns, the messages, and the arguments from `$14` on. PostgreSQL runs what nobody reads from in reverse order, so the
/// counters, which stand first, are locked last.
macro_rules! write_shared {
    ($write:tt, $messages:expr $(, $argument:expr)* $(,)?) => {
        sqlx::query!(
            r#"
            -- Returns of several merchants, each by its key.
            with owing as materialized (
                select *
                from unnest(
                    $1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::bytea[], $8::bigint[],
                    -- The planner cannot tell how long this list is, and keeps its plan.
                    (select $9::timestamptz[])
                ) as owing (merchant_id, message_id, sequence, event, subject, body, trace, place, due_at)
            ), counters as materialized (
                select feed_counter.merchant_id
                from feed_counter
                where feed_counter.merchant_id = any ((select $10::uuid[])::uuid[])
                order by feed_counter.merchant_id
                for update
            ), taken as (
                update feed_counter
                set last = feed_counter.last + case when live then owed.messages else 0 end,
                    last_message = case when live then owed.last_message else feed_counter.last_message end
                from counters
                join unnest($10::uuid[], $11::bigint[], (select $12::uuid[])) as owed (merchant_id, messages, last_message)
                    on owed.merchant_id = counters.merchant_id
                where feed_counter.merchant_id = counters.merchant_id
                returning feed_counter.merchant_id, case when live then feed_counter.last - owed.messages end as before
            ), written as (
                insert into message (merchant_id, message_id, transaction, feed_epoch, sequence, kind, event, subject, body, position, trace)
                select owing.merchant_id, message_id, pg_current_xact_id(), (select feed_epoch()), sequence, $13, event, subject, body,
                    taken.before + place, trace
                from owing
                left join taken on taken.merchant_id = owing.merchant_id
            ), "#
                + $write
                + r#", addressed as materialized (
                select owing.merchant_id, owing.message_id, owing.sequence, owing.subject, owing.due_at,
                    endpoint.endpoint_id, endpoint.revision, endpoint.paused_at
                from owing
                left join endpoint on endpoint.merchant_id = owing.merchant_id and endpoint.interface = $13 and endpoint.removed_at is null
            ), owed as (
                insert into delivery (merchant_id, message_id, endpoint_id, sequence, due_at, attempts, attempts_before, discard, lane)
                select merchant_id, message_id, endpoint_id, sequence, due_at, 0, 0, false, subject
                from addressed
                where endpoint_id is not null
            ), unsent as (
                insert into unsent_message (merchant_id, message_id, sequence, kind, subject)
                select merchant_id, message_id, sequence, $13, subject from addressed where endpoint_id is null
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
            &$messages.merchants,
            &$messages.ids,
            &$messages.sequences,
            &$messages.events as &[&str],
            &$messages.subjects as &[&str],
            &$messages.bodies as &[&str],
            &$messages.traces as &[Option<Vec<u8>>],
            &$messages.places,
            &$messages.due_at,
            &$messages.owed.keys().copied().collect::<Vec<_>>(),
            &$messages.owed.values().map(|of| of.count).collect::<Vec<_>>(),
            &$messages.owed.values().map(|of| of.last).collect::<Vec<_>>(),
            $messages.kind,
            $($argument),*
        )
    };
}
use write_shared;
