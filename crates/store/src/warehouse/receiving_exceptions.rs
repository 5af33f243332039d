//! Receiving exceptions: units that arrived unannounced, or were announced and did not arrive.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::warehouse::asn::Condition;
use domain::warehouse::inbound::{Exception, Target};
use uuid::Uuid;

use crate::{Failed, Store, Tx};

/// A new exception.
pub struct NewException<'a> {
    pub id: Uuid,
    pub exception: Exception,
    /// The ASN or the return that the unit was scanned for.
    pub target: Target<'a>,
    /// `None` when units are missing.
    pub unit: Option<&'a str>,
    /// `None` if the line is not known.
    pub line: Option<&'a str>,
    pub sku: Option<&'a str>,
    /// The number of units.
    pub quantity: u32,
    /// The internal id.
    pub warehouse: Option<&'a str>,
    pub condition: Option<Condition>,
    /// The login of whoever handled the unit.
    pub user: Option<&'a str>,
}

/// An exception in a list.
#[derive(Clone, Debug)]
pub struct Listed {
    pub id: Uuid,
    pub exception: Exception,
    /// The [`Target::key`] of the ASN or the return that the unit was scanned for.
    pub target: String,
    pub unit: Option<String>,
    pub line: Option<String>,
    pub sku: Option<String>,
    /// The number of units. For missing units, those that are still missing.
    pub quantity: u32,
    /// The internal id.
    pub warehouse: Option<String>,
    pub condition: Option<String>,
    /// The login of whoever handled the unit.
    pub user: Option<String>,
    /// The time it was recorded.
    pub found_at: DateTime<Utc>,
    pub resolved_at: Option<DateTime<Utc>>,
}

/// Inserts exceptions in the given order. One that exists already stays as it is.
pub async fn insert<'a>(tx: &mut Tx, found: &'a [NewException<'a>], now: DateTime<Utc>) -> Result<(), Failed> {
    let text = |of: fn(&NewException<'a>) -> Option<&'a str>| found.iter().map(of).collect::<Vec<_>>();
    sqlx::query!(
        r#"
        insert into receiving_exception (
            merchant_id, exception_id, found_at, quantity, exception, asn_number, unit_identifier, line_identifier, sku, warehouse_id,
            condition, user_login
        )
        select $1, id, $2, quantity, exception, asn_number, coalesce(unit, ''), coalesce(line, ''), sku, warehouse, condition, user_login
        from unnest(
            $3::uuid[], $4::integer[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[]
        ) as found (id, quantity, exception, asn_number, unit, line, sku, warehouse, condition, user_login)
        on conflict (merchant_id, asn_number, unit_identifier, line_identifier, exception) do nothing
        "#,
        tx.merchant().0,
        now,
        &found.iter().map(|found| found.id).collect::<Vec<_>>(),
        &found.iter().map(|found| i32::try_from(found.quantity).unwrap_or(i32::MAX)).collect::<Vec<_>>(),
        &found.iter().map(|found| found.exception.as_str()).collect::<Vec<_>>() as &[&str],
        &found.iter().map(|found| found.target.key()).collect::<Vec<_>>(),
        &text(|found| found.unit) as &[Option<&str>],
        &text(|found| found.line) as &[Option<&str>],
        &text(|found| found.sku) as &[Option<&str>],
        &text(|found| found.warehouse) as &[Option<&str>],
        &found.iter().map(|found| found.condition.map(Condition::as_str)).collect::<Vec<_>>() as &[Option<&str>],
        &text(|found| found.user) as &[Option<&str>],
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Resolves the exceptions of units that were received after all. Only one transaction at a time handles a unit.
pub async fn resolve_units(tx: &mut Tx, units: &[&str], now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        update receiving_exception set resolved_at = $3
        where merchant_id = $1 and unit_identifier = any($2) and resolved_at is null
        "#,
        tx.merchant().0,
        units as &[&str],
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Reduces the missing quantity by one for each of these lines, because a unit arrived late. The lines must be locked; a
/// line may be given several times.
pub async fn fewer_missing(tx: &mut Tx, lines: &[(&str, &str)], now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        update receiving_exception
        set quantity = quantity - late.units, resolved_at = case when quantity = late.units then $4::timestamptz end
        from (
            select asn_number, line, count(*)::integer as units
            from unnest($2::text[], $3::text[]) as late (asn_number, line)
            group by asn_number, line
        ) as late
        where merchant_id = $1 and receiving_exception.asn_number = late.asn_number and line_identifier = late.line
            and exception = 'short' and resolved_at is null
        "#,
        tx.merchant().0,
        &lines.iter().map(|(asn_number, _)| *asn_number).collect::<Vec<_>>() as &[&str],
        &lines.iter().map(|(_, line)| *line).collect::<Vec<_>>() as &[&str],
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Locks the exception `id` until the transaction ends. Returns whether it is resolved; `None` if there is none.
pub async fn lock(tx: &mut Tx, id: Uuid) -> Result<Option<bool>, Failed> {
    let resolved = sqlx::query_scalar!(
        r#"
        select resolved_at is not null as "resolved!" from receiving_exception
        where merchant_id = $1 and exception_id = $2
        for update
        "#,
        tx.merchant().0,
        id,
    )
    .fetch_optional(tx.connection())
    .await?;
    Ok(resolved)
}

/// Saves the e-mail address of the person who looks into an exception; empty if nobody does. It must be locked.
pub async fn save_owner(tx: &mut Tx, id: Uuid, owner: &str) -> Result<(), Failed> {
    sqlx::query!("update receiving_exception set owner = $3 where merchant_id = $1 and exception_id = $2", tx.merchant().0, id, owner,)
        .execute(tx.connection())
        .await?;
    Ok(())
}

/// Resolves an exception for a person's reason. It must be locked.
pub async fn resolve(tx: &mut Tx, id: Uuid, resolution: &str, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        "update receiving_exception set resolved_at = $3, resolution = $4 where merchant_id = $1 and exception_id = $2",
        tx.merchant().0,
        id,
        now,
        resolution,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

struct Row {
    exception_id: Uuid,
    found_at: DateTime<Utc>,
    resolved_at: Option<DateTime<Utc>>,
    quantity: i32,
    exception: String,
    asn_number: String,
    unit_identifier: String,
    line_identifier: String,
    sku: Option<String>,
    warehouse_id: Option<String>,
    condition: Option<String>,
    user_login: Option<String>,
}

/// Selects the rows of a page: the conditions, then the arguments.
macro_rules! rows {
    ($end:tt $(, $argument:expr)* $(,)?) => {
        sqlx::query_as!(
            Row,
            "select exception_id, found_at, resolved_at, quantity, exception, asn_number, unit_identifier, line_identifier, sku, "
                + "warehouse_id, condition, user_login from receiving_exception "
                + $end
                + " order by exception_id desc limit $3",
            $($argument),*
        )
    };
}

/// The exceptions of `merchant`, of one ASN or return or all, before the exception `before`: newest first, at most `limit`. The flag
/// tells whether there are more.
pub async fn list(
    store: &Store,
    merchant: MerchantId,
    target: Option<Target<'_>>,
    before: Option<Uuid>,
    limit: usize,
) -> Result<(Vec<Listed>, bool), Failed> {
    let before = before.unwrap_or(Uuid::max());
    // One extra row tells whether there are more.
    let most = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let rows = match target {
        Some(target) => {
            rows!("where merchant_id = $1 and exception_id < $2 and asn_number = $4", merchant.0, before, most, target.key())
                .fetch_all(&store.pool)
                .await?
        }
        None => rows!("where merchant_id = $1 and exception_id < $2", merchant.0, before, most).fetch_all(&store.pool).await?,
    };
    let more = rows.len() > limit;
    Ok((rows.into_iter().take(limit).map(listed).collect::<Result<_, _>>()?, more))
}

fn listed(row: Row) -> Result<Listed, Failed> {
    let some = |text: String| (!text.is_empty()).then_some(text);
    Ok(Listed {
        id: row.exception_id,
        exception: row.exception.parse().map_err(|_| Failed::Internal("a stored receiving exception is unknown"))?,
        target: row.asn_number,
        unit: some(row.unit_identifier),
        line: some(row.line_identifier),
        sku: row.sku,
        quantity: u32::try_from(row.quantity).unwrap_or_default(),
        warehouse: row.warehouse_id,
        condition: row.condition,
        user: row.user_login,
        found_at: row.found_at,
        resolved_at: row.resolved_at,
    })
}
