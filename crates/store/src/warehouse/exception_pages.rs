//! Receiving exceptions as the console's work list: of one merchant or of all, a page at a time.
//!
//! Whatever the filter, a page examines a fixed number of exceptions and returns where to continue. So a page can be short although there
//! are more.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use crate::{Failed, Store};

/// The number of exceptions that a page examines.
pub const LOOKED_AT: i64 = 100;

/// The exceptions that a list shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// All that are open, oldest first.
    Open,
    /// Those that are open and that the person with this e-mail address looks into, oldest first. Empty: that nobody does.
    OwnedBy(String),
    /// Those that are resolved, by a person or by what arrived, newest first.
    Resolved,
}

/// A receiving exception.
#[derive(Clone, Debug)]
pub struct WorkedException {
    pub id: Uuid,
    pub handle: String,
    pub merchant_name: String,
    pub found_at: DateTime<Utc>,
    pub resolved_at: Option<DateTime<Utc>>,
    /// The reason, if a person resolved it.
    pub resolution: Option<String>,
    pub exception: String,
    pub quantity: i32,
    /// The key of what the unit was scanned for: an ASN, a return or a parcel.
    pub scanned_for: String,
    /// Empty when units are missing.
    pub unit_identifier: String,
    /// Empty if the line is not known.
    pub line_identifier: String,
    pub sku: Option<String>,
    pub warehouse: Option<String>,
    pub condition: Option<String>,
    /// The login of whoever handled the unit.
    pub user_login: Option<String>,
    /// The e-mail address of the person who looks into it; empty if nobody does.
    pub owner: String,
    pub owner_name: Option<String>,
}

/// One page of a list.
#[derive(Debug)]
pub struct Page {
    pub exceptions: Vec<WorkedException>,
    /// Continue after this exception. `None` on the last page.
    pub next: Option<Uuid>,
}

/// Selects exceptions with their merchants and owners: the source of the rows, the order, then the arguments.
macro_rules! exceptions {
    ($source:tt, $order:tt $(, $argument:expr)* $(,)?) => {
        sqlx::query_as!(
            WorkedException,
            r#"select found.exception_id as id, merchant.handle, merchant.name as merchant_name, found.found_at, found.resolved_at, "#
                + "found.resolution, found.exception, found.quantity, found.asn_number as scanned_for, found.unit_identifier, "
                + "found.line_identifier, found.sku, found.warehouse_id as warehouse, found.condition, found.user_login, found.owner, "
                + r#"operator.name as "owner_name?" from (select * from receiving_exception where "#
                + $source
                + ") as found join merchant on merchant.merchant_id = found.merchant_id "
                + "left join operator on operator.email = found.owner order by found.exception_id "
                + $order,
            $($argument),*
        )
    };
}

/// The number of open exceptions, of one owner or all, counted up to `most`, and when the oldest was found.
pub async fn count(store: &Store, owner: Option<&str>, most: i64) -> Result<(i64, Option<DateTime<Utc>>), Failed> {
    if let Some(owner) = owner {
        let row = sqlx::query!(
            r#"
            select count(*) as "count!", min(found_at) as oldest
            from (
                select found_at from receiving_exception
                where resolved_at is null and owner = $1
                -- Over all merchants.
                order by exception_id
                limit $2
            ) as open
            "#,
            owner,
            most,
        );
        let row = row.fetch_one(&store.pool).await?;
        return Ok((row.count, row.oldest));
    }
    let row = sqlx::query!(
        r#"
        select count(*) as "count!", min(found_at) as oldest
        from (select found_at from receiving_exception where resolved_at is null order by exception_id limit $1) as open
        "#,
        most,
    )
    .fetch_one(&store.pool)
    .await?;
    Ok((row.count, row.oldest))
}

/// The exceptions after `after` in the order of the list, at most `limit`, of one merchant or of all.
pub async fn list(store: &Store, merchant: Option<MerchantId>, shown: &Shown, after: Option<Uuid>, limit: usize) -> Result<Page, Failed> {
    let (first, last) = (after.unwrap_or(Uuid::nil()), after.unwrap_or(Uuid::max()));
    let rows = match (shown, merchant) {
        (Shown::Open, None) => {
            exceptions!("resolved_at is null and exception_id > $1 order by exception_id limit $2", "", first, LOOKED_AT)
                .fetch_all(&store.pool)
                .await?
        }
        (Shown::OwnedBy(owner), None) => {
            exceptions!(
                "resolved_at is null and owner = $3 and exception_id > $1 order by exception_id limit $2",
                "",
                first,
                LOOKED_AT,
                owner,
            )
            .fetch_all(&store.pool)
            .await?
        }
        (Shown::Resolved, None) => {
            exceptions!("resolved_at is not null and exception_id < $1 order by exception_id desc limit $2", "desc", last, LOOKED_AT,)
                .fetch_all(&store.pool)
                .await?
        }
        (Shown::Open | Shown::OwnedBy(_), Some(merchant)) => {
            exceptions!(
                "merchant_id = $3 and resolved_at is null and exception_id > $1 order by exception_id limit $2",
                "",
                first,
                LOOKED_AT,
                merchant.0,
            )
            .fetch_all(&store.pool)
            .await?
        }
        (Shown::Resolved, Some(merchant)) => {
            exceptions!("merchant_id = $3 and exception_id < $1 order by exception_id desc limit $2", "desc", last, LOOKED_AT, merchant.0)
                .fetch_all(&store.pool)
                .await?
        }
    };
    Ok(page(rows, shown, limit))
}

/// The rows that fit, up to `limit`, and where the next page begins.
fn page(rows: Vec<WorkedException>, shown: &Shown, limit: usize) -> Page {
    let fits = |row: &WorkedException| match shown {
        Shown::Open => true,
        Shown::OwnedBy(owner) => row.owner == *owner,
        Shown::Resolved => row.resolved_at.is_some(),
    };
    let all_looked_at = i64::try_from(rows.len()).unwrap_or(i64::MAX) < LOOKED_AT;
    let mut page = Page { exceptions: Vec::new(), next: None };
    let mut last = None;
    for row in rows {
        if page.exceptions.len() == limit {
            page.next = last;
            return page;
        }
        last = Some(row.id);
        if fits(&row) {
            page.exceptions.push(row);
        }
    }
    page.next = last.filter(|_| !all_looked_at);
    page
}

/// The exception `id` of `merchant`.
pub async fn find(store: &Store, merchant: MerchantId, id: Uuid) -> Result<Option<WorkedException>, Failed> {
    let found = exceptions!("merchant_id = $1 and exception_id = $2", "", merchant.0, id);
    Ok(found.fetch_optional(&store.pool).await?)
}
