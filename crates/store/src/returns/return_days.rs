//! Returns in the reports by the day: what became of the returns that were started on a day.
//!
//! A timer counts the hours that are over, each once. Whatever happens to a return is counted on the day on which it was started, so
//! that the figures of a day tell one story.

use std::collections::BTreeSet;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use domain::id::MerchantId;

use crate::messages::log::first_id;
use crate::messages::report_days::{self, COUNTED_AT_ONCE, Figure};
use crate::{Failed, Store, Tx};

/// Returns that were started.
pub const STARTED: &str = "return_started";
/// Units by the reason of the return.
pub const REASON: &str = "return_reason";
/// Units by what was asked for: a refund or an exchange.
pub const ASKED_FOR: &str = "return_asked_for";
/// Units by product.
pub const PRODUCT: &str = "return_product";
/// Returns that a carrier has, by the whole days that it took.
pub const HANDED_OVER: &str = "return_handed_over";
/// Returns of which a warehouse has received something, by the whole days that it took.
pub const RECEIVED: &str = "return_received";
/// Returns that were refunded, by the whole days that it took.
pub const REFUNDED: &str = "return_refunded";
/// Returns whose exchange was placed, by the whole days that it took.
pub const EXCHANGED: &str = "return_exchanged";
/// Returns that were cancelled or expired, by the whole days that it took.
pub const CANCELED: &str = "return_canceled";
/// Labels that were bought, by carrier.
pub const LABELS: &str = "labels";
/// The cost of labels in cents, by currency.
pub const LABEL_CENTS: &str = "label_cents";

/// The most products that a day names. The others are counted together, without a name.
const MOST_PRODUCTS: usize = 100;
/// The time by which the id of a return may differ from the time of its start, here and in [`list_uncounted`].
const SLACK: TimeDelta = TimeDelta::hours(1);

/// The merchants with returns that changed before `until` and are not counted yet.
pub async fn list_uncounted(store: &Store, until: DateTime<Utc>, most: i64) -> Result<Vec<MerchantId>, Failed> {
    let merchants = sqlx::query_scalar!(
        r#"
        select merchant.merchant_id
        from merchant
        left join report_mark on report_mark.merchant_id = merchant.merchant_id
        cross join lateral (select greatest(report_mark.returns_until, '1970-01-02 UTC') as counted_until) as mark
        where exists (
            select from rma_event
            where rma_event.merchant_id = merchant.merchant_id
                and rma_event.happened_at >= mark.counted_until and rma_event.happened_at < $1
        ) or exists (
            -- The first 48 bits of an id are the milliseconds of its time.
            select from rma
            where rma.merchant_id = merchant.merchant_id and rma.created_at >= mark.counted_until and rma.created_at < $1
                and rma.rma_id >= (
                    lpad(to_hex((extract(epoch from mark.counted_until - '1 h'::interval) * 1000)::bigint), 12, '0') || repeat('0', 20)
                )::uuid
        )
        order by merchant.merchant_id
        limit $2
        "#,
        until,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(merchants.into_iter().map(MerchantId).collect())
}

/// Counts what happened to the merchant's returns in the next hours that are closed at `until`. Returns whether there may be more.
pub async fn count(tx: &mut Tx, until: DateTime<Utc>, now: DateTime<Utc>) -> Result<bool, Failed> {
    let mark = report_days::lock_mark(tx).await?.returns_until;
    let first = sqlx::query_scalar!(
        r#"select min(created_at) as "first" from (select created_at from rma where merchant_id = $1 order by rma_id limit 1) as oldest"#,
        tx.merchant().0,
    )
    .fetch_one(tx.connection())
    .await?;
    let Some(first) = first else { return Ok(false) };
    let from = mark.max(report_days::hour_of(first));
    let to = until.min(from + COUNTED_AT_ONCE);
    if from < to {
        let figures = figures(tx, from, to).await?;
        for day in figures.chunk_by(|one, next| one.day == next.day) {
            let named = products(tx, day).await?;
            report_days::add(tx, &name_few(day, named), now).await?;
        }
        sqlx::query!("update report_mark set returns_until = $2 where merchant_id = $1", tx.merchant().0, to)
            .execute(tx.connection())
            .await?;
    }
    Ok(to < until)
}

/// The figures of the hours from `from` until before `to`, by the day on which the returns were started.
async fn figures(tx: &mut Tx, from: DateTime<Utc>, to: DateTime<Utc>) -> Result<Vec<Figure>, Failed> {
    let figures = sqlx::query_as!(
        Figure,
        r#"
        with started as materialized (
            select rma_id, (created_at at time zone 'UTC')::date as day
            from rma
            where merchant_id = $1 and rma_id >= $4 and rma_id < $5 and created_at >= $2 and created_at < $3
        ),
        unit as materialized (
            select started.day, rma_item.reason, rma_item.refund_type, rma_item.sku
            from started
            join rma_item on rma_item.merchant_id = $1 and rma_item.rma_id = started.rma_id
        ),
        change as materialized (
            select rma_event.rma_id, rma_event.event, rma_event.sequence, (rma.created_at at time zone 'UTC')::date as day,
                case
                    when rma_event.event = 'rma.tracking_updated'
                        and rma_event.parcels && array['ACCEPTED', 'TRANSIT', 'DELIVERED', 'RETURNED', 'FAILURE'] then 'return_handed_over'
                    when rma_event.event = 'rma.received' then 'return_received'
                    when rma_event.event = 'rma.refunded' then 'return_refunded'
                    when rma_event.event = 'rma.exchange_placed' then 'return_exchanged'
                    when rma_event.event = 'rma.canceled' then 'return_canceled'
                end as stage,
                floor(extract(epoch from greatest(rma_event.happened_at - rma.created_at, '0 s')) / 86400)::bigint as days
            from rma_event
            join rma on rma.merchant_id = rma_event.merchant_id and rma.rma_id = rma_event.rma_id
            where rma_event.merchant_id = $1 and rma_event.happened_at >= $2 and rma_event.happened_at < $3
        ),
        reached as (
            select change.day, change.stage, change.days
            from change
            where change.stage is not null and not exists (
                select from rma_event as earlier
                where earlier.merchant_id = $1 and earlier.rma_id = change.rma_id and earlier.sequence < change.sequence
                    and earlier.event = change.event
                    and (
                        change.stage <> 'return_handed_over'
                        or earlier.parcels && array['ACCEPTED', 'TRANSIT', 'DELIVERED', 'RETURNED', 'FAILURE']
                    )
            )
        ),
        -- A return has one label, and the change that it makes is the first of its parcels.
        labelled as (
            select change.day, label.carrier, label.cost_cents, label.currency
            from change
            join label on label.merchant_id = $1 and label.rma_id = change.rma_id
            where change.event = 'rma.tracking_updated' and not exists (
                select from rma_event as earlier
                where earlier.merchant_id = $1 and earlier.rma_id = change.rma_id and earlier.sequence < change.sequence
                    and earlier.event = change.event
            )
        )
        select day as "day!", '' as "interface!", figure as "figure!", value as "value!", sum(count)::bigint as "count!"
        from (
            select day, 'return_started', '', 1 from started
            union all
            select day, 'return_reason', reason, 1 from unit
            union all
            select day, 'return_asked_for', refund_type, 1 from unit
            union all
            select day, 'return_product', sku, 1 from unit
            union all
            select day, stage, days::text, 1 from reached
            union all
            select day, 'labels', carrier, 1 from labelled
            union all
            select day, 'label_cents', currency, cost_cents from labelled where cost_cents is not null and currency is not null
        ) as every (day, figure, value, count)
        group by 1, 3, 4
        order by 1, 3, 5 desc, 4
        "#,
        tx.merchant().0,
        from,
        to,
        first_id(from - SLACK),
        first_id(to + SLACK),
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(figures)
}

/// The products that the day of `figures` already names.
async fn products(tx: &mut Tx, figures: &[Figure]) -> Result<BTreeSet<String>, Failed> {
    let day: Option<NaiveDate> = figures.first().map(|figure| figure.day);
    let named = sqlx::query_scalar!(
        r#"
        select of_day.value as "value!"
        from report_day
        cross join lateral unnest(report_day.figures, report_day.details) as of_day (figure, value)
        where report_day.merchant_id = $1 and report_day.day = $2 and of_day.figure = 'return_product' and of_day.value <> ''
        "#,
        tx.merchant().0,
        day,
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(named.into_iter().collect())
}

/// The figures with at most [`MOST_PRODUCTS`] products named, those in `named` included.
fn name_few(figures: &[Figure], mut named: BTreeSet<String>) -> Vec<Figure> {
    let (products, mut few): (Vec<Figure>, Vec<Figure>) = figures.iter().cloned().partition(|figure| figure.figure == PRODUCT);
    let mut others = 0;
    for product in products {
        if named.contains(&product.value) || (named.len() < MOST_PRODUCTS && named.insert(product.value.clone())) {
            few.push(product);
        } else {
            others += product.count;
        }
    }
    if let (Some(first), true) = (figures.first(), others > 0) {
        few.push(Figure { figure: PRODUCT.to_owned(), value: String::new(), count: others, ..first.clone() });
    }
    few
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(sku: &str, count: i64) -> Figure {
        let day = NaiveDate::from_ymd_opt(2026, 3, 1).unwrap();
        Figure { day, interface: String::new(), figure: PRODUCT.into(), value: sku.into(), count }
    }

    #[test]
    fn a_day_names_so_many_products_and_counts_the_others_together() {
        let figures: Vec<Figure> = (0..MOST_PRODUCTS).map(|number| product(&format!("SKU-{number}"), 2)).collect();
        assert_eq!(name_few(&figures, BTreeSet::new()), figures);
        let named = BTreeSet::from(["SKU-99".to_owned(), "SKU-old".to_owned()]);
        let few = name_few(&figures, named);
        assert_eq!(few.len(), MOST_PRODUCTS, "99 are named anew or again, and one entry is for the others");
        assert!(few.contains(&product("SKU-99", 2)) && few.contains(&product("", 2)));
        assert_eq!(few.iter().map(|figure| figure.count).sum::<i64>(), 200, "nothing is lost");
    }
}
