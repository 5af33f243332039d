//! Lists of a merchant's orders, a page at a time: by identifier, the highest first, or by their last change, the newest first.
//!
//! Whatever the filter, a page examines a fixed number of orders and returns where to continue. So a page can be short, or even empty,
//! although there are more orders.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;

use crate::{Failed, Store};

/// The number of orders that a page examines.
pub const LOOKED_AT: i64 = 200;

/// The filter of a list.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// The identifier begins with this text.
    pub prefix: String,
    /// As stored, such as `Shipped`.
    pub status: Option<String>,
    pub with_returns: bool,
    pub with_warnings: bool,
    /// Placed at this time or later.
    pub from: Option<DateTime<Utc>>,
    /// Placed before this time.
    pub to: Option<DateTime<Utc>>,
}

/// An order in a list.
#[derive(Clone, Debug)]
pub struct Listed {
    pub identifier: String,
    pub status: String,
    pub placed_at: DateTime<Utc>,
    pub received_at: DateTime<Utc>,
    /// The number of snapshots stored so far.
    pub revision: i64,
    pub has_returns: bool,
    pub has_warnings: bool,
}

impl Filter {
    fn fits(&self, order: &Listed) -> bool {
        self.status.as_ref().is_none_or(|status| *status == order.status)
            && (!self.with_returns || order.has_returns)
            && (!self.with_warnings || order.has_warnings)
            && self.from.is_none_or(|from| order.placed_at >= from)
            && self.to.is_none_or(|to| order.placed_at < to)
    }
}

/// One page of a list.
#[derive(Debug)]
pub struct Page {
    pub orders: Vec<Listed>,
    /// Continue before this identifier. `None` on the last page.
    pub next: Option<String>,
}

/// The orders of `merchant` before the identifier `before`, at most `limit` of them.
pub async fn list(store: &Store, merchant: MerchantId, filter: &Filter, before: Option<&str>, limit: usize) -> Result<Page, Failed> {
    let rows = sqlx::query_as!(
        Listed,
        r#"
        select identifier, status, placed_at, received_at, revision, has_returns, warnings is not null as "has_warnings!"
        from customer_order
        where merchant_id = $1 and identifier >= $2 and identifier < $3 and starts_with(identifier, $2)
        order by identifier desc
        limit $4
        "#,
        merchant.0,
        filter.prefix,
        // The highest character follows every identifier that begins with the prefix.
        before.map_or_else(|| format!("{}\u{10ffff}", filter.prefix), ToOwned::to_owned),
        LOOKED_AT,
    )
    .fetch_all(&store.pool)
    .await?;
    let all_looked_at = i64::try_from(rows.len()).unwrap_or(i64::MAX) < LOOKED_AT;
    let mut page = Page { orders: Vec::new(), next: None };
    let mut last = None;
    for row in rows {
        if page.orders.len() == limit {
            page.next = last;
            return Ok(page);
        }
        last = Some(row.identifier.clone());
        if filter.fits(&row) {
            page.orders.push(row);
        }
    }
    page.next = last.filter(|_| !all_looked_at);
    Ok(page)
}

/// The number of orders that a page by the last change examines: one more than the largest page has. With many more, PostgreSQL would
/// rather read and sort all orders of a merchant that has a few hundred.
const CHANGES_LOOKED_AT: i64 = 101;

/// The filter of a list by the last change.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Changed at this time or later.
    pub since: Option<DateTime<Utc>>,
    /// As stored, such as `Shipped`.
    pub status: Option<String>,
}

/// An order in a list by the last change.
#[derive(Clone, Debug)]
pub struct Changed {
    pub identifier: String,
    pub status: String,
    pub placed_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub received_at: DateTime<Utc>,
    /// The time of the newest snapshot, or the end of its last return if that is later.
    pub changed_at: DateTime<Utc>,
    /// The number of snapshots stored so far.
    pub revision: i64,
    pub has_returns: bool,
    pub has_warnings: bool,
}

/// One page of a list by the last change.
#[derive(Debug)]
pub struct ChangedPage {
    pub orders: Vec<Changed>,
    /// Continue before this change. `None` on the last page.
    pub next: Option<(DateTime<Utc>, String)>,
}

/// The orders of `merchant` that changed before `before`, at most `limit` of them. Orders that were erased are left out.
pub async fn list_changed(
    store: &Store,
    merchant: MerchantId,
    filter: &Changes,
    before: Option<(DateTime<Utc>, String)>,
    limit: usize,
) -> Result<ChangedPage, Failed> {
    let (changed_before, identifier) = before.unwrap_or((DateTime::<Utc>::MAX_UTC, String::new()));
    // The time since which is no condition here: PostgreSQL would expect so few orders that it would read and sort all of them.
    let rows = sqlx::query_as!(
        Changed,
        r#"
        select identifier, status, placed_at, updated_at, received_at, greatest(received_at, kept_from) as "changed_at!", revision,
            has_returns, warnings is not null as "has_warnings!"
        from customer_order
        where merchant_id = $1 and digest <> '\x0000000000000000000000000000000000000000000000000000000000000000'
            and (greatest(received_at, kept_from), identifier) < ($2, $3)
        order by greatest(received_at, kept_from) desc, identifier desc
        limit $4
        "#,
        merchant.0,
        changed_before,
        identifier,
        CHANGES_LOOKED_AT,
    )
    .fetch_all(&store.pool)
    .await?;
    let all_looked_at = i64::try_from(rows.len()).unwrap_or(i64::MAX) < CHANGES_LOOKED_AT;
    let mut page = ChangedPage { orders: Vec::new(), next: None };
    let mut last = None;
    for row in rows {
        if filter.since.is_some_and(|since| row.changed_at < since) {
            return Ok(page);
        }
        if page.orders.len() == limit {
            page.next = last;
            return Ok(page);
        }
        last = Some((row.changed_at, row.identifier.clone()));
        if filter.status.as_ref().is_none_or(|status| *status == row.status) {
            page.orders.push(row);
        }
    }
    page.next = last.filter(|_| !all_looked_at);
    Ok(page)
}
