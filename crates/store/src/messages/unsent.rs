//! Unsent messages: those whose interface had no endpoint when they were written.

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::messages::message::Interface;
use uuid::Uuid;

use crate::{Failed, Store, Tx};

/// The unsent messages of a merchant for one interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsent {
    /// The interface as stored.
    pub interface: String,
    /// Messages that can still be sent.
    pub waiting: i64,
    /// Messages that were dropped with their partition.
    pub dropped: i64,
}

/// The number of unsent messages for `interface`.
pub async fn count(tx: &mut Tx, interface: Interface) -> Result<i64, Failed> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from unsent_message where merchant_id = $1 and kind = $2"#,
        tx.merchant().0,
        interface.as_str(),
    )
    .fetch_one(tx.connection())
    .await?;
    Ok(count)
}

/// The unsent messages of `merchant`, by interface.
pub async fn list(store: &Store, merchant: MerchantId) -> Result<Vec<Unsent>, Failed> {
    let rows = sqlx::query!(
        r#"
        select counted.kind as "kind!", sum(counted.waiting)::bigint as "waiting!", sum(counted.dropped)::bigint as "dropped!"
        from (
            select kind, count(*) as waiting, 0 as dropped from unsent_message where merchant_id = $1 group by kind
            union all
            select kind, 0, count from unsent_dropped where merchant_id = $1
        ) as counted
        group by counted.kind
        order by counted.kind
        "#,
        merchant.0,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(rows.into_iter().map(|row| Unsent { interface: row.kind, waiting: row.waiting, dropped: row.dropped }).collect())
}

/// The messages that one statement owes.
const BATCH: i64 = 5_000;

/// Owes all unsent messages for `interface` to `endpoint`, oldest first, due at `now`. Those of a subject go in order. One whose
/// subject has sent newer messages goes in a lane of its own, like a manual retry. Erased ones are dropped. Returns how many are
/// owed.
pub async fn release(tx: &mut Tx, interface: Interface, endpoint: EndpointId, now: DateTime<Utc>) -> Result<i64, Failed> {
    let mut released = 0;
    loop {
        let batch = sqlx::query!(
            r#"
            with next as materialized (
                select unsent.message_id, unsent.sequence, unsent.subject
                from unsent_message as unsent
                where unsent.merchant_id = $1 and unsent.kind = $2
                order by unsent.message_id
                limit $5
            ),
            -- A cluster runs these parts one after the other, and each sees what the one before it did. So nothing is deleted yet.
            owed as (
                insert into delivery (merchant_id, message_id, endpoint_id, sequence, due_at, attempts, attempts_before, discard, lane)
                select
                    $1, next.message_id, $3, next.sequence, $4, 0, 0, false,
                    case
                        when exists (
                            select from message as newer
                            where newer.merchant_id = $1 and newer.subject = next.subject and newer.message_id > next.message_id
                                and newer.kind = $2 and newer.kind <> 'endpoint_test' and not newer.internal and newer.sequence > next.sequence
                                and not exists (
                                    select from unsent_message as unsent
                                    where unsent.merchant_id = $1 and unsent.message_id = newer.message_id
                                )
                        ) then next.message_id::text
                        else next.subject
                    end
                from next
                join message on message.merchant_id = $1 and message.message_id = next.message_id and not message.erased
                order by next.message_id
                on conflict (merchant_id, message_id) do nothing
                returning message_id
            ),
            gone as (
                delete from unsent_message using next
                where unsent_message.merchant_id = $1 and unsent_message.message_id = next.message_id
            )
            select (select count(*) from next) as "taken!", (select count(*) from owed) as "owed!"
            "#,
            tx.merchant().0,
            interface.as_str(),
            endpoint.0,
            now,
            BATCH,
        )
        .fetch_one(tx.connection())
        .await?;
        released += batch.owed;
        if batch.taken < BATCH {
            return Ok(released);
        }
    }
}

/// Takes `message` out of the unsent ones, because it is sent by itself.
pub(crate) async fn remove(tx: &mut Tx, message: Uuid) -> Result<(), Failed> {
    let merchant = tx.merchant().0;
    sqlx::query!("delete from unsent_message where merchant_id = $1 and message_id = $2", merchant, message)
        .execute(tx.connection())
        .await?;
    Ok(())
}

/// Merchants with unsent messages whose partition has been dropped, from a look at `most` of the messages.
pub async fn list_outdated(store: &Store, oldest: Uuid, most: i64) -> Result<Vec<MerchantId>, Failed> {
    let merchants = sqlx::query_scalar!(
        r#"
        select distinct old.merchant_id as "merchant_id!"
        from (select merchant_id from unsent_message where message_id < $1 order by message_id limit $2) as old
        "#,
        oldest,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(merchants.into_iter().map(MerchantId).collect())
}

/// Counts and deletes at most `most` of the merchant's unsent messages before `oldest`, which have been dropped with their partition.
/// Returns how many there were.
pub async fn count_dropped(tx: &mut Tx, oldest: Uuid, most: i64, now: DateTime<Utc>) -> Result<i64, Failed> {
    let dropped = sqlx::query_scalar!(
        r#"
        with dropped as (
            delete from unsent_message
            where unsent_message.merchant_id = $1 and unsent_message.message_id in (
                select old.message_id from unsent_message as old
                where old.merchant_id = $1 and old.message_id < $2
                order by old.message_id
                limit $4
            )
            returning unsent_message.kind
        ), counted as (
            insert into unsent_dropped as before (merchant_id, kind, dropped_at, count)
            select $1, dropped.kind, $3, count(*) from dropped group by dropped.kind
            on conflict (merchant_id, kind) do update set count = before.count + excluded.count, dropped_at = excluded.dropped_at
        )
        select count(*) as "count!" from dropped
        "#,
        tx.merchant().0,
        oldest,
        now,
        most,
    )
    .fetch_one(tx.connection())
    .await?;
    Ok(dropped)
}
