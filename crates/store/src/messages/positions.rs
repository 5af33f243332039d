//! The positions of messages in their merchant's feed: 1, 2, 3 … without a gap.
//!
//! A transaction numbers its messages with its last statement (`messages::outbox`). What was written before messages were numbered, or by
//! the version before, is numbered here afterwards: first in the order in which that version has shown it, so that its cursors can be
//! translated, and at the end of the feed once the merchant is live.

use domain::id::MerchantId;
use uuid::Uuid;

use crate::{Failed, Store, Tx};

/// How far a merchant's feed is numbered.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    /// The newest position.
    pub last: i64,
    /// True once whoever writes a message numbers it.
    pub live: bool,
}

/// Starts the feed of a new merchant.
pub(crate) async fn start(tx: &mut Tx) -> Result<(), Failed> {
    let merchant = tx.merchant().0;
    sqlx::query!("insert into feed_counter (merchant_id, last, floor, live) values ($1, 0, 0, true)", merchant)
        .execute(tx.connection())
        .await?;
    Ok(())
}

/// Up to `most` merchants with messages that are not numbered, or that are not live.
pub async fn list_unfinished(store: &Store, most: usize) -> Result<Vec<MerchantId>, Failed> {
    let unfinished = sqlx::query_scalar!(
        r#"
        -- Across merchants: feeds that are not live.
        select merchant_id from feed_counter where not live order by merchant_id limit $1
        "#,
        i64::try_from(most).unwrap_or(i64::MAX),
    );
    let mut merchants = unfinished.fetch_all(&store.feed).await?;
    let mut after = Uuid::nil();
    while merchants.len() < most {
        // One after the other: each is found at once, however many messages a merchant has.
        let next = sqlx::query_scalar!(
            r#"
            -- Across merchants: messages that are not numbered.
            select merchant_id
            from message
            where merchant_id > $1 and position is null and kind <> 'endpoint_test' and not internal
            order by merchant_id
            limit 1
            "#,
            after,
        );
        let Some(merchant) = next.fetch_optional(&store.feed).await? else { break };
        after = merchant;
        if !merchants.contains(&merchant) {
            merchants.push(merchant);
        }
    }
    Ok(merchants.into_iter().map(MerchantId).collect())
}

/// Locks the counter of the merchant's feed. Nobody numbers messages meanwhile. A merchant of the version before gets its counter here.
pub async fn lock(tx: &mut Tx) -> Result<Counter, Failed> {
    let merchant = tx.merchant().0;
    sqlx::query!(
        "insert into feed_counter (merchant_id, last, floor, live) values ($1, 0, 0, false) on conflict (merchant_id) do nothing",
        merchant
    )
    .execute(tx.connection())
    .await?;
    let counter = sqlx::query_as!(Counter, "select last, live from feed_counter where merchant_id = $1 for update", merchant);
    Ok(counter.fetch_one(tx.connection()).await?)
}

/// The next messages to number, at most `most` of them, in the order in which the version before shows them: up to the oldest transaction
/// that still runs, before which nothing can be added any more.
pub async fn list_settled(tx: &mut Tx, most: i64) -> Result<Vec<Uuid>, Failed> {
    let messages = sqlx::query_scalar!(
        r#"
        select message_id
        from message
        where merchant_id = $1 and position is null and kind <> 'endpoint_test' and not internal
            and (feed_epoch, transaction) < (
                select installation.feed_epoch, pg_snapshot_xmin(pg_current_snapshot()) from installation
            )
        order by feed_epoch, transaction, message_id
        limit $2
        "#,
        tx.merchant().0,
        most,
    );
    Ok(messages.fetch_all(tx.connection()).await?)
}

/// The next messages to number in the same order, also those beside which others may still be added.
pub async fn list_unnumbered(tx: &mut Tx, most: i64) -> Result<Vec<Uuid>, Failed> {
    let messages = sqlx::query_scalar!(
        r#"
        select message_id
        from message
        where merchant_id = $1 and position is null and kind <> 'endpoint_test' and not internal
        order by feed_epoch, transaction, message_id
        limit $2
        "#,
        tx.merchant().0,
        most,
    );
    Ok(messages.fetch_all(tx.connection()).await?)
}

/// Numbers messages after the newest position of a counter that is locked. Returns the counter as it is then.
pub async fn number(tx: &mut Tx, counter: Counter, messages: &[Uuid]) -> Result<Counter, Failed> {
    let merchant = tx.merchant().0;
    let Some(newest) = messages.last().copied() else { return Ok(counter) };
    let numbered = sqlx::query!(
        r#"
        update message
        set position = $2::bigint + array_position($3::uuid[], message_id)
        where merchant_id = $1 and message_id = any($3::uuid[])
        "#,
        merchant,
        counter.last,
        messages,
    );
    numbered.execute(tx.connection()).await?;
    let last = counter.last + i64::try_from(messages.len()).unwrap_or(i64::MAX);
    sqlx::query!("update feed_counter set last = $2, last_message = $3 where merchant_id = $1", merchant, last, newest)
        .execute(tx.connection())
        .await?;
    Ok(Counter { last, ..counter })
}

/// Makes the feed live. Positions up to that of `counter` are in the order of the version before.
pub async fn set_live(tx: &mut Tx, counter: Counter) -> Result<Counter, Failed> {
    let merchant = tx.merchant().0;
    sqlx::query!("update feed_counter set live = true, numbered_before = $2 where merchant_id = $1", merchant, counter.last)
        .execute(tx.connection())
        .await?;
    Ok(Counter { live: true, ..counter })
}
