//! The newest snapshot of each order.

mod columns;
mod record;
mod text;

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::orders::snapshot::{Digest, Version};
use futures::future::ready;
use sqlx::Connection as _;
use uuid::Uuid;

use self::columns::{Columns, Texts};
pub use self::record::{Fingerprint, Snapshot};
pub use self::text::Text;
use crate::connection::Connection;
use crate::{Failed, SharedTx, Store, Tx};

/// The most bytes of orders whose memory a connection keeps for its next statements.
const MOST_KEPT: usize = 256 * 1024;

/// A snapshot that was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    pub merchant: MerchantId,
    pub identifier: String,
    /// The number of snapshots stored so far: 1 for a new order.
    pub revision: i64,
    /// True if a return of the order was ever started.
    pub has_returns: bool,
}

/// Stores the snapshots that are new, and returns those. This is [`domain::orders::snapshot::judge`] in SQL, because the decision
/// must be made under the row's lock; only here are contents compared that digests do not tell apart. Each order may appear once, and they
/// must be sorted by (merchant, identifier) to avoid deadlocks. Snapshots of shoppers who were erased are not stored, unless everything
/// personal has been removed from them.
pub async fn publish(tx: &mut Tx, snapshots: &[&Snapshot<'_>]) -> Result<Vec<Published>, Failed> {
    upsert(tx.connection(), snapshots).await
}

/// [`publish`] in one statement outside of a transaction, for snapshots of any number of merchants. Each row stands alone. Fails with
/// [`Failed::Moved`] if one of the merchants lives in another cell.
pub async fn publish_batch(store: &Store, snapshots: &[&Snapshot<'_>]) -> Result<Vec<Published>, Failed> {
    let mut connection = store.pool.single().await?;
    let published = upsert(&mut connection, snapshots).await?;
    // A connection keeps the memory of its largest statement. Batches go round all connections, and few are written at a time.
    if snapshots.iter().map(|snapshot| snapshot.text.size()).sum::<usize>() > MOST_KEPT {
        let shrinking = connection.work(|connection| {
            connection.shrink_buffers();
            Box::pin(ready(Ok(())))
        });
        // It sends nothing.
        let _ = shrinking.await;
    }
    connection.end().await?;
    Ok(published)
}

async fn upsert(connection: &mut Connection, snapshots: &[&Snapshot<'_>]) -> Result<Vec<Published>, Failed> {
    let mut columns = Columns::with_capacity(snapshots.len());
    for snapshot in snapshots {
        columns.push(snapshot);
    }
    let rows = sqlx::query!(
        r#"
        insert into customer_order as stored (
            merchant_id, identifier, status, placed_at, updated_at, received_at, revision,
            digest, email_fingerprint, zip_fingerprint, warnings, snapshot, erased_at
        )
        select
            merchant_id, identifier, status, placed_at, updated_at, received_at, 1,
            digest, email_fingerprint, zip_fingerprint, warnings, snapshot, erased_at
        from unnest(
            $1::uuid[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::timestamptz[],
            $7::bytea[], $8::bytea[], $9::bytea[], $10::text[], $11::text[],
            -- The planner cannot tell how long this list is. Otherwise a short batch promises a cheaper plan than the one that is kept,
            -- and each would be planned anew, which takes longer than writing it.
            (select $12::timestamptz[])
        ) as arriving (
            merchant_id, identifier, status, placed_at, updated_at, received_at,
            digest, email_fingerprint, zip_fingerprint, warnings, snapshot, erased_at
        )
        where (arriving.erased_at is not null or not exists (
            select from suppression
            where suppression.merchant_id = arriving.merchant_id and suppression.fingerprint = arriving.email_fingerprint
                and suppression.erased_at >= arriving.placed_at
        ))
        -- Asked once for the statement: it fails if one of the merchants lives in another cell.
        and (
            select bool_and(refuse_moved(moved.cell)) from moved_merchant as moved
            where moved.merchant_id = any ((select $1::uuid[])::uuid[]) and moved.closed
        ) is not false
        on conflict (merchant_id, identifier) do update set
            status = excluded.status,
            placed_at = excluded.placed_at,
            updated_at = excluded.updated_at,
            received_at = excluded.received_at,
            revision = stored.revision + 1,
            digest = excluded.digest,
            email_fingerprint = excluded.email_fingerprint,
            zip_fingerprint = excluded.zip_fingerprint,
            warnings = excluded.warnings,
            snapshot = excluded.snapshot,
            erased_at = excluded.erased_at
        -- The same again is no news, in whatever spelling; of two with the same time, the later arrival wins. Digests that begin
        -- alike were made in the same way, and tell the contents apart. Others do not: then the stored text is read, and compared.
        -- Equal content has equal times, so only then is there anything to compare.
        where (stored.erased_at is null or excluded.erased_at is not null) and excluded.digest <> stored.digest and (
            excluded.updated_at > stored.updated_at
            or (excluded.updated_at = stored.updated_at and (
                substr(excluded.digest, 1, 4) = substr(stored.digest, 1, 4)
                or (excluded.snapshot <> stored.snapshot and not same_content(stored.snapshot, excluded.snapshot))
            ))
        )
        returning merchant_id, identifier, revision, has_returns
        "#,
        &columns.merchants,
        &columns.identifiers as &[&str],
        &columns.statuses as &[&str],
        &columns.placed,
        &columns.updated,
        &columns.received,
        &columns.digests as &[&[u8]],
        &columns.emails as &[Option<&[u8]>],
        &columns.zips as &[Option<&[u8]>],
        &columns.warnings as &[Option<&str>],
        &columns.texts as &Texts<'_>,
        &columns.erased as &[Option<DateTime<Utc>>],
    )
    .fetch_all(connection)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Published {
            merchant: MerchantId(row.merchant_id),
            identifier: row.identifier,
            revision: row.revision,
            has_returns: row.has_returns,
        })
        .collect())
}

/// True if the merchant has the order `identifier`.
pub async fn exists(tx: &mut Tx, identifier: &str) -> Result<bool, Failed> {
    let found = sqlx::query_scalar!(
        r#"select exists (select from customer_order where merchant_id = $1 and identifier = $2) as "exists!""#,
        tx.merchant().0,
        identifier,
    );
    Ok(found.fetch_one(tx.connection()).await?)
}

/// A snapshot that was not stored.
pub struct Unapplied {
    pub identifier: String,
    /// The stored version of the order, if there is one.
    pub stored: Option<Version>,
    /// The shopper was erased, so it can only be stored without anything personal.
    pub suppressed: bool,
}

/// Looks up why snapshots of the merchant were not stored.
pub async fn unapplied(tx: &mut Tx, snapshots: &[&Snapshot<'_>]) -> Result<Vec<Unapplied>, Failed> {
    let merchant = tx.merchant();
    read_unapplied(tx.connection(), merchant, snapshots).await
}

/// [`unapplied`] outside of a transaction.
pub async fn currently_unapplied(store: &Store, merchant: MerchantId, snapshots: &[&Snapshot<'_>]) -> Result<Vec<Unapplied>, Failed> {
    let mut connection = store.pool.single().await?;
    read_unapplied(&mut connection, merchant, snapshots).await
}

async fn read_unapplied(connection: &mut Connection, merchant: MerchantId, snapshots: &[&Snapshot<'_>]) -> Result<Vec<Unapplied>, Failed> {
    let identifiers: Vec<&str> = snapshots.iter().map(|snapshot| &*snapshot.identifier).collect();
    let emails: Vec<Option<&[u8]>> =
        snapshots.iter().map(|snapshot| snapshot.email_fingerprint.as_ref().map(Fingerprint::as_slice)).collect();
    let placed: Vec<DateTime<Utc>> = snapshots.iter().map(|snapshot| snapshot.placed_at).collect();
    let rows = sqlx::query!(
        r#"
        select
            arriving.identifier as "identifier!", stored.updated_at as "updated_at?", stored.digest as "digest?",
            (stored.erased_at is not null or exists (
                select from suppression
                where suppression.merchant_id = $1 and suppression.fingerprint = arriving.email_fingerprint
                    and suppression.erased_at >= arriving.placed_at
            )) as "suppressed!"
        -- As in the upsert, the planner cannot tell how long the lists are, and keeps its plan.
        from unnest($2::text[], $3::bytea[], (select $4::timestamptz[])) as arriving (identifier, email_fingerprint, placed_at)
        left join customer_order as stored on stored.merchant_id = $1 and stored.identifier = arriving.identifier
        "#,
        merchant.0,
        &identifiers as &[&str],
        &emails as &[Option<&[u8]>],
        &placed,
    )
    .fetch_all(connection)
    .await?;
    let read = |updated_at: Option<DateTime<Utc>>, stored: Option<Vec<u8>>| match (updated_at, stored) {
        (Some(updated_at), Some(stored)) => Ok::<_, Failed>(Some(Version { updated_at, digest: digest(stored)? })),
        _ => Ok(None),
    };
    rows.into_iter()
        .map(|row| Ok(Unapplied { identifier: row.identifier, stored: read(row.updated_at, row.digest)?, suppressed: row.suppressed }))
        .collect()
}

fn digest(bytes: Vec<u8>) -> Result<Digest, Failed> {
    Digest::try_from(bytes).map_err(|_| Failed::Internal("a stored digest is not 32 bytes long"))
}

/// A stored order.
pub struct Stored {
    pub identifier: String,
    /// The number of snapshots stored so far.
    pub revision: i64,
    /// The time the snapshot arrived.
    pub received_at: DateTime<Utc>,
    /// Inconsistencies in the order, as JSON.
    pub warnings: Option<String>,
    /// The order exactly as sent.
    pub snapshot: String,
}

/// The order `identifier` of `merchant`.
pub async fn find(store: &Store, merchant: MerchantId, identifier: &str) -> Result<Option<Stored>, Failed> {
    let stored = sqlx::query_as!(
        Stored,
        r#"
        select identifier, revision, received_at, warnings, snapshot
        from customer_order
        where merchant_id = $1 and identifier = $2
        "#,
        merchant.0,
        identifier,
    )
    .fetch_optional(&store.pool)
    .await?;
    Ok(stored)
}

/// What a shopper must know to see an order.
pub struct ShopperKeys {
    pub identifier: String,
    /// Fingerprint of the shopper's e-mail address.
    pub email: Option<Fingerprint>,
    /// Fingerprint of the shopper's postal code.
    pub zip: Option<Fingerprint>,
}

/// The orders of `merchant` with one of these identifiers, and the keys of their shoppers.
pub async fn shopper_keys(store: &Store, merchant: MerchantId, identifiers: &[String]) -> Result<Vec<ShopperKeys>, Failed> {
    let rows = sqlx::query!(
        r#"
        select identifier, email_fingerprint, zip_fingerprint
        from customer_order
        where merchant_id = $1 and identifier = any($2)
        "#,
        merchant.0,
        identifiers,
    )
    .fetch_all(&store.pool)
    .await?;
    let print = |stored: Option<Vec<u8>>| stored.and_then(|stored| stored.try_into().ok());
    let keys = rows.into_iter().map(|row| ShopperKeys {
        identifier: row.identifier,
        email: print(row.email_fingerprint),
        zip: print(row.zip_fingerprint),
    });
    Ok(keys.collect())
}

/// An order of an e-mail address.
pub struct OfEmail {
    pub identifier: String,
    pub placed_at: DateTime<Utc>,
    pub snapshot: String,
}

/// The newest orders of `merchant` with an e-mail address, of which these are the fingerprints by each key.
pub async fn of_email(store: &Store, merchant: MerchantId, emails: &[Fingerprint], most: i64) -> Result<Vec<OfEmail>, Failed> {
    let orders = sqlx::query_as!(
        OfEmail,
        r#"
        select identifier, placed_at, snapshot
        from customer_order
        where merchant_id = $1 and email_fingerprint = any($2)
        order by placed_at desc
        limit $3
        "#,
        merchant.0,
        &emails.iter().map(|email| email.to_vec()).collect::<Vec<_>>(),
        most,
    );
    Ok(orders.fetch_all(&store.pool).await?)
}

/// The order `identifier`, locked until the transaction ends.
pub async fn lock(tx: &mut Tx, identifier: &str) -> Result<Option<Stored>, Failed> {
    let stored = sqlx::query_as!(
        Stored,
        r#"
        select identifier, revision, received_at, warnings, snapshot
        from customer_order
        where merchant_id = $1 and identifier = $2
        for update
        "#,
        tx.merchant().0,
        identifier,
    )
    .fetch_optional(tx.connection())
    .await?;
    Ok(stored)
}

/// The orders with these identifiers exactly as sent, each with its merchant, locked until the transaction ends. One that does not exist is
/// left out, and so is one that somebody else has locked: nobody waits.
pub async fn lock_at_once(tx: &mut SharedTx, wanted: &[(MerchantId, &str)]) -> Result<HashMap<(MerchantId, String), String>, Failed> {
    let (merchants, identifiers): (Vec<Uuid>, Vec<&str>) = wanted.iter().map(|(merchant, identifier)| (merchant.0, *identifier)).unzip();
    let rows = sqlx::query!(
        r#"
        select stored.merchant_id, stored.identifier, stored.snapshot
        -- The planner cannot tell how long the lists are, and keeps its plan.
        from unnest($1::uuid[], (select $2::text[])) as wanted (of_merchant, named)
        join customer_order as stored on stored.merchant_id = wanted.of_merchant and stored.identifier = wanted.named
        for update of stored skip locked
        "#,
        &merchants,
        &identifiers as &[&str],
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(rows.into_iter().map(|row| ((MerchantId(row.merchant_id), row.identifier), row.snapshot)).collect())
}

/// The order `identifier` exactly as sent.
pub async fn snapshot(tx: &mut Tx, identifier: &str) -> Result<Option<String>, Failed> {
    let merchant = tx.merchant().0;
    let snapshot =
        sqlx::query_scalar!("select snapshot from customer_order where merchant_id = $1 and identifier = $2", merchant, identifier)
            .fetch_optional(tx.connection())
            .await?;
    Ok(snapshot)
}

/// An order with warnings.
#[derive(Clone, Debug)]
pub struct Doubtful {
    pub identifier: String,
    /// The time the snapshot arrived.
    pub received_at: DateTime<Utc>,
    /// Inconsistencies in the order, as JSON.
    pub warnings: String,
}

/// The orders of `merchant` with warnings, latest first, before the one that was received at this time and has this identifier.
pub async fn list_doubtful(
    store: &Store,
    merchant: MerchantId,
    before: Option<(DateTime<Utc>, String)>,
    limit: i64,
) -> Result<Vec<Doubtful>, Failed> {
    let (received_before, identifier) = before.unwrap_or((DateTime::<Utc>::MAX_UTC, String::new()));
    let rows = sqlx::query_as!(
        Doubtful,
        r#"
        select identifier, received_at, warnings as "warnings!"
        from customer_order
        where merchant_id = $1 and warnings is not null and (received_at, identifier) < ($2, $3)
        order by received_at desc, identifier desc
        limit $4
        "#,
        merchant.0,
        received_before,
        identifier,
        limit,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(rows)
}
