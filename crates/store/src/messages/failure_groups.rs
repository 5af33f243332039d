//! The failure queue over all merchants, in groups by merchant, endpoint and reason.
//!
//! A page examines a fixed number of groups, each found by one probe of the index `failure_to_count`, and counts at most
//! [`MOST_COUNTED`] entries of each. So it touches at most a few hundred database pages, whatever is in the queue.

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use uuid::Uuid;

use crate::messages::failures::MOST_COUNTED;
use crate::{Failed, Store};

/// The most groups on a page, and the most that are examined for it.
const LISTED: usize = 10;
const LOOKED_AT: i32 = 20;

/// The groups that are listed.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub merchant: Option<MerchantId>,
    /// The interface as stored.
    pub interface: Option<String>,
    pub owner: Option<Owner>,
    /// Internal work instead of messages to merchants' systems.
    pub internal: bool,
}

/// The owner of entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    Nobody,
    Person(String),
}

/// The key of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupKey {
    pub merchant: MerchantId,
    pub endpoint: EndpointId,
    pub reason: String,
}

/// The open entries of an endpoint that failed for the same reason.
#[derive(Clone, Debug)]
pub struct Group {
    pub key: GroupKey,
    pub handle: String,
    /// The merchant's name.
    pub merchant: String,
    pub interface: String,
    /// True if the endpoint has been removed.
    pub removed: bool,
    /// The entries, up to [`MOST_COUNTED`].
    pub count: i64,
    /// Those of them about which the merchant was contacted.
    pub contacted: i64,
    /// Those of them that have no owner.
    pub unowned: i64,
    /// The owners, in alphabetical order.
    pub owners: Vec<String>,
    /// When the first of them was given up.
    pub oldest: DateTime<Utc>,
    /// When the last of them was given up.
    pub newest: DateTime<Utc>,
}

/// A page of groups.
#[derive(Debug)]
pub struct Page {
    pub groups: Vec<Group>,
    /// Continue after this group. `None` on the last page.
    pub next: Option<GroupKey>,
}

/// The groups of all merchants after `after`, in the order of their keys.
pub async fn list(store: &Store, filter: &Filter, after: Option<&GroupKey>) -> Result<Page, Failed> {
    let (found, next) = find(store, filter, after).await?;
    let mut groups = Vec::with_capacity(found.len());
    for Found { key, handle, merchant, interface, removed } in found {
        // The group may have been emptied in the meantime.
        if let Some(tally) = tally(store, &key).await? {
            let Tally { count, contacted, unowned, owners, oldest, newest } = tally;
            groups.push(Group { key, handle, merchant, interface, removed, count, contacted, unowned, owners, oldest, newest });
        }
    }
    Ok(Page { groups, next })
}

/// The number of entries on the first page of groups, at most [`MOST_COUNTED`] of each.
pub async fn count(store: &Store) -> Result<i64, Failed> {
    let (found, _) = find(store, &Filter::default(), None).await?;
    let mut entries = 0;
    for Found { key, .. } in found {
        entries += sqlx::query_scalar!(
            r#"
            select count(*) as "count!"
            from (
                select
                from failure
                where failure.merchant_id = $1 and failure.endpoint_id = $2 and failure.reason = $3
                    and failure.state in ('open', 'contacted')
                limit $4
            ) as entry
            "#,
            key.merchant.0,
            key.endpoint.0,
            key.reason,
            MOST_COUNTED,
        )
        .fetch_one(&store.pool)
        .await?;
    }
    Ok(entries)
}

/// A group that fits a filter.
struct Found {
    key: GroupKey,
    handle: String,
    merchant: String,
    interface: String,
    removed: bool,
}

/// The groups of a page, and where to continue.
async fn find(store: &Store, filter: &Filter, after: Option<&GroupKey>) -> Result<(Vec<Found>, Option<GroupKey>), Failed> {
    let (merchant, endpoint, reason) = match (after, filter.merchant) {
        (Some(after), _) => (after.merchant.0, after.endpoint.0, after.reason.as_str()),
        (None, Some(merchant)) => (merchant.0, Uuid::nil(), ""),
        (None, None) => (Uuid::nil(), Uuid::nil(), ""),
    };
    let last_merchant = filter.merchant.map_or(Uuid::max(), |merchant| merchant.0);
    let (owner, nobodys) = match &filter.owner {
        None => (None, false),
        Some(Owner::Nobody) => (None, true),
        Some(Owner::Person(name)) => (Some(name.as_str()), false),
    };
    let rows = sqlx::query!(
        r#"
        -- Across merchants: a probe of the index for each group.
        with recursive key as (
            (
                select failure.merchant_id, failure.endpoint_id, failure.reason, 1 as place
                from failure
                where failure.state in ('open', 'contacted')
                    and (failure.merchant_id, failure.endpoint_id, failure.reason) > ($1, $2, $3) and failure.merchant_id <= $4
                order by failure.merchant_id, failure.endpoint_id, failure.reason
                limit 1
            )
            union all
            select next.merchant_id, next.endpoint_id, next.reason, key.place + 1
            from key
            cross join lateral (
                select failure.merchant_id, failure.endpoint_id, failure.reason
                from failure
                where failure.state in ('open', 'contacted')
                    and (failure.merchant_id, failure.endpoint_id, failure.reason) > (key.merchant_id, key.endpoint_id, key.reason)
                    and failure.merchant_id <= $4
                order by failure.merchant_id, failure.endpoint_id, failure.reason
                limit 1
            ) as next
            where key.place < $5
        )
        select
            key.merchant_id as "merchant_id!", key.endpoint_id as "endpoint_id!", key.reason as "reason!", merchant.handle, merchant.name,
            endpoint.interface, endpoint.removed_at is not null as "removed!",
            endpoint.internal = $6
                and ($7::text is null or endpoint.interface = $7)
                and ($8::text is null or exists (
                    select from failure
                    where failure.merchant_id = key.merchant_id and failure.endpoint_id = key.endpoint_id and failure.reason = key.reason
                        and failure.state in ('open', 'contacted') and failure.owner = $8
                ))
                and (not $9 or exists (
                    select from failure
                    where failure.merchant_id = key.merchant_id and failure.endpoint_id = key.endpoint_id and failure.reason = key.reason
                        and failure.state in ('open', 'contacted') and failure.owner is null
                )) as "fits!"
        from key
        join merchant on merchant.merchant_id = key.merchant_id
        join endpoint on endpoint.merchant_id = key.merchant_id and endpoint.endpoint_id = key.endpoint_id
        order by key.merchant_id, key.endpoint_id, key.reason
        "#,
        merchant,
        endpoint,
        reason,
        last_merchant,
        LOOKED_AT,
        filter.internal,
        filter.interface,
        owner,
        nobodys,
    )
    .fetch_all(&store.pool)
    .await?;
    let all_looked_at = i32::try_from(rows.len()).unwrap_or(i32::MAX) < LOOKED_AT;
    let (mut found, mut last, mut full) = (Vec::new(), None, false);
    for row in rows {
        if found.len() == LISTED {
            full = true;
            break;
        }
        let key = GroupKey { merchant: MerchantId(row.merchant_id), endpoint: EndpointId(row.endpoint_id), reason: row.reason };
        last = Some(key.clone());
        if row.fits {
            found.push(Found { key, handle: row.handle, merchant: row.name, interface: row.interface, removed: row.removed });
        }
    }
    Ok((found, last.filter(|_| full || !all_looked_at)))
}

/// The figures of a group.
#[derive(Clone, Debug)]
pub struct Tally {
    /// The entries, up to [`MOST_COUNTED`].
    pub count: i64,
    /// Those of them about which the merchant was contacted.
    pub contacted: i64,
    /// Those of them that have no owner.
    pub unowned: i64,
    /// The owners, in alphabetical order.
    pub owners: Vec<String>,
    /// When the first of them was given up.
    pub oldest: DateTime<Utc>,
    /// When the last of them was given up.
    pub newest: DateTime<Utc>,
}

/// The figures of a group. `None` if it is empty.
pub async fn tally(store: &Store, key: &GroupKey) -> Result<Option<Tally>, Failed> {
    let row = sqlx::query!(
        r#"
        select
            counted.count as "count!", counted.contacted as "contacted!", counted.unowned as "unowned!",
            coalesce(counted.owners, '{}') as "owners!", oldest.failed_at as "oldest!", newest.failed_at as "newest!"
        from (
            select
                count(*) as count, count(*) filter (where entry.state = 'contacted') as contacted,
                count(*) filter (where entry.owner is null) as unowned,
                array_agg(distinct entry.owner) filter (where entry.owner is not null) as owners
            from (
                select failure.state, failure.owner
                from failure
                where failure.merchant_id = $1 and failure.endpoint_id = $2 and failure.reason = $3
                    and failure.state in ('open', 'contacted')
                limit $4
            ) as entry
        ) as counted
        cross join lateral (
            select failure.failed_at
            from failure
            where failure.merchant_id = $1 and failure.endpoint_id = $2 and failure.reason = $3
                and failure.state in ('open', 'contacted')
            order by failure.failed_at, failure.message_id
            limit 1
        ) as oldest
        cross join lateral (
            select failure.failed_at
            from failure
            where failure.merchant_id = $1 and failure.endpoint_id = $2 and failure.reason = $3
                and failure.state in ('open', 'contacted')
            order by failure.failed_at desc, failure.message_id desc
            limit 1
        ) as newest
        "#,
        key.merchant.0,
        key.endpoint.0,
        key.reason,
        MOST_COUNTED,
    )
    .fetch_optional(&store.pool)
    .await?;
    Ok(row.map(|row| Tally {
        count: row.count,
        contacted: row.contacted,
        unowned: row.unowned,
        owners: row.owners,
        oldest: row.oldest,
        newest: row.newest,
    }))
}

/// An endpoint, possibly a removed one, as the failure queue shows it.
#[derive(Clone, Debug)]
pub struct EndpointFacts {
    pub interface: String,
    pub url: String,
    /// Maximum number of calls per second.
    pub per_second: i32,
    /// True if the endpoint has been removed.
    pub removed: bool,
    /// True while nothing is sent.
    pub paused: bool,
    /// True for internal work.
    pub internal: bool,
}

/// The endpoint `endpoint` of `merchant`, also if it has been removed.
pub async fn endpoint(store: &Store, merchant: MerchantId, endpoint: EndpointId) -> Result<Option<EndpointFacts>, Failed> {
    let facts = sqlx::query_as!(
        EndpointFacts,
        r#"
        select interface, url, per_second, removed_at is not null as "removed!", paused_at is not null as "paused!", internal
        from endpoint
        where merchant_id = $1 and endpoint_id = $2
        "#,
        merchant.0,
        endpoint.0,
    )
    .fetch_optional(&store.pool)
    .await?;
    Ok(facts)
}
