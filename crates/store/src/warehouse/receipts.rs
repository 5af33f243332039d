//! Units that were received, each once, and the ASN lines or returns that they were received against.

use chrono::{DateTime, Utc};
use domain::warehouse::asn::Condition;
use uuid::Uuid;

use crate::warehouse::inbound_asns::{Line, LineRow};
use crate::{Failed, Tx};

/// A scanned unit, with the identifiers by which its ASN line is looked up.
#[derive(Clone, Copy, Debug)]
pub struct LineQuery<'a> {
    pub asn: Uuid,
    pub line: Option<&'a str>,
    /// The license plate.
    pub unit: &'a str,
    /// The merchant's identifier for the unit.
    pub client_unit: Option<&'a str>,
    pub sku: Option<&'a str>,
}

/// A line and its ASN.
#[derive(Clone, Debug)]
pub struct Placed {
    pub asn: Uuid,
    pub line: Line,
}

/// A unit to record as received.
pub struct Receipt<'a> {
    /// The license plate.
    pub unit: &'a str,
    /// The ASN, or `None` if it is received for its return.
    pub asn: Option<Uuid>,
    /// The return, if there is no ASN.
    pub rma: Option<Uuid>,
    /// The line of the ASN, or the order line of the return.
    pub line: &'a str,
    /// The internal id.
    pub warehouse: &'a str,
    /// The merchant's identifier for the unit.
    pub client_unit: Option<&'a str>,
    pub sku: Option<&'a str>,
    pub upc: Option<&'a str>,
    pub condition: Condition,
    /// The channel that it is assigned to.
    pub channel: Option<&'a str>,
    pub serial_number: Option<&'a str>,
    pub asin: Option<&'a str>,
    pub return_reason: Option<&'a str>,
    pub reject_reason: Option<&'a str>,
    /// The login of whoever handled it.
    pub user: Option<&'a str>,
    pub tracking_number: Option<&'a str>,
    /// The location where it was first put.
    pub location: Option<&'a str>,
}

/// The line that a unit was received against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The license plate.
    pub unit: String,
    /// `None` if it was received for its return.
    pub asn_number: Option<String>,
    /// The return that it belongs to, if it is known.
    pub rma: Option<String>,
    pub line: String,
}

/// Selects the candidate lines for scanned units. Each identifier of a scan is looked up separately, so the cost does not
/// depend on the number of lines.
macro_rules! candidates {
    ($query:ident $(($row:ident))?, $head:tt, $end:tt, $tx:expr, $wanted:expr) => {{
        let asns: Vec<Uuid> = $wanted.iter().map(|wanted| wanted.asn).collect();
        let lines: Vec<Option<&str>> = $wanted.iter().map(|wanted| wanted.line).collect();
        let skus: Vec<Option<&str>> = $wanted.iter().map(|wanted| wanted.sku).collect();
        let units = $wanted.iter().flat_map(|wanted| [Some(wanted.unit), wanted.client_unit].map(|unit| unit.map(|unit| (wanted.asn, unit))));
        let (asns_of_units, units): (Vec<Uuid>, Vec<&str>) = units.flatten().unzip();
        sqlx::$query!(
            $($row,)?
            "with wanted as (select asn_id, line, sku from unnest($2::uuid[], $3::text[], $4::text[]) as wanted (asn_id, line, sku)), \
             unit as (select asn_id, name from unnest($5::uuid[], $6::text[]) as unit (asn_id, name)), named as (\
             select asn_id, line as line_identifier from wanted where line is not null \
             union select unit.asn_id, found.line_identifier from unit cross join lateral (select line_identifier from asn_line \
             where merchant_id = $1 and asn_id = unit.asn_id and unit_identifier = unit.name limit 1) as found \
             union select unit.asn_id, found.line_identifier from unit cross join lateral (select line_identifier from asn_line \
             where merchant_id = $1 and asn_id = unit.asn_id and client_unit_identifier = unit.name limit 1) as found \
             union select of.asn_id, found.line_identifier from (select distinct asn_id, sku from wanted where sku is not null) as of \
             cross join lateral (select line_identifier from asn_line where merchant_id = $1 and asn_id = of.asn_id and sku = of.sku \
             and unit_identifier is null and client_unit_identifier is null offset 0) as found) "
                + $head
                + " from named join asn_line on asn_line.merchant_id = $1 and asn_line.asn_id = named.asn_id \
                   and asn_line.line_identifier = named.line_identifier "
                + $end,
            $tx.merchant().0,
            &asns,
            &lines as &[Option<&str>],
            &skus as &[Option<&str>],
            &asns_of_units,
            &units as &[&str],
        )
        .fetch_all($tx.connection())
        .await?
    }};
}

/// The identifiers of the returns that the units may belong to.
pub async fn returns_of(tx: &mut Tx, wanted: &[LineQuery<'_>]) -> Result<Vec<String>, Failed> {
    let returns: Vec<Option<String>> =
        candidates!(query_scalar, "select distinct asn_line.reference_identifier", "where asn_line.reference_type = 'RMA'", tx, wanted);
    Ok(returns.into_iter().flatten().collect())
}

/// The lines that the units may be received against, in the order in which they were announced. They are locked by ASN and
/// identifier until the transaction ends.
pub async fn lock_lines(tx: &mut Tx, wanted: &[LineQuery<'_>]) -> Result<Vec<Placed>, Failed> {
    let mut rows = candidates!(
        query_as(LineRow),
        "select asn_line.asn_id, asn_line.position, asn_line.carton, asn_line.quantity, asn_line.received, asn_line.line_identifier, \
         asn_line.carton_identifier, asn_line.reference_type, asn_line.reference_identifier, asn_line.alternate_identifier, \
         asn_line.reference_line_identifier, asn_line.unit_identifier, asn_line.client_unit_identifier, asn_line.sku, asn_line.upc, \
         asn_line.program_identifier, asn_line.serial_number, asn_line.vendor_identifier, asn_line.condition, \
         asn_line.eligibility_flags, asn_line.merchant, asn_line.concept, asn_line.asin, asn_line.return_reason",
        "order by asn_line.asn_id, asn_line.line_identifier for update of asn_line",
        tx,
        wanted
    );
    rows.sort_unstable_by_key(|row| (row.asn_id, row.position));
    rows.into_iter().map(|row| Ok(Placed { asn: row.asn_id, line: row.try_into()? })).collect()
}

/// Those of these units that were received before.
pub async fn known(tx: &mut Tx, units: &[&str]) -> Result<Vec<Known>, Failed> {
    let known = sqlx::query_as!(
        Known,
        r#"
        select
            receipt.unit_identifier as unit, inbound_asn.asn_number as "asn_number?",
            coalesce(rma.identifier, asn_line.reference_identifier) as rma, receipt.line_identifier as line
        from receipt
        left join inbound_asn on inbound_asn.merchant_id = $1 and inbound_asn.asn_id = receipt.asn_id
        left join asn_line on asn_line.merchant_id = $1 and asn_line.asn_id = receipt.asn_id
            and asn_line.line_identifier = receipt.line_identifier and asn_line.reference_type = 'RMA'
        left join rma on rma.merchant_id = $1 and rma.rma_id = receipt.rma_id
        where receipt.merchant_id = $1 and receipt.unit_identifier = any($2)
        "#,
        tx.merchant().0,
        units as &[&str],
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(known)
}

/// Inserts units, ordered by license plate, and counts them on their lines, which must be locked. Returns the number of
/// units inserted. If it is lower than the number given, someone else has received a unit and the caller must roll back.
pub async fn insert<'a>(tx: &mut Tx, receipts: &'a [Receipt<'a>], now: DateTime<Utc>) -> Result<usize, Failed> {
    let text = |of: fn(&Receipt<'a>) -> Option<&'a str>| receipts.iter().map(of).collect::<Vec<_>>();
    let inserted = sqlx::query_scalar!(
        r#"
        with arrived as (
            select *
            from unnest(
                $3::text[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[],
                $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::uuid[]
            ) as arrived (
                unit, asn_id, line, warehouse, client_unit, sku, upc, condition, channel,
                serial_number, asin, return_reason, reject_reason, user_login, tracking_number, location, rma_id
            )
        ), kept as (
            insert into receipt (
                merchant_id, asn_id, rma_id, received_at, line_identifier, unit_identifier, warehouse_id, client_unit_identifier, sku, upc,
                condition, channel, serial_number, asin, return_reason, reject_reason, user_login, tracking_number, location_identifier
            )
            select
                $1, asn_id, rma_id, $2, line, unit, warehouse, client_unit, sku, upc, condition,
                channel, serial_number, asin, return_reason, reject_reason, user_login, tracking_number, location
            from arrived
            order by unit
            on conflict (merchant_id, unit_identifier) do nothing
            returning asn_id, line_identifier
        ), counted as (
            update asn_line
            set received = received + arrived.units
            from (select asn_id, line_identifier, count(*)::integer as units from kept group by asn_id, line_identifier) as arrived
            where asn_line.merchant_id = $1 and asn_line.asn_id = arrived.asn_id and asn_line.line_identifier = arrived.line_identifier
        )
        select count(*) as "inserted!" from kept
        "#,
        tx.merchant().0,
        now,
        &receipts.iter().map(|receipt| receipt.unit).collect::<Vec<_>>() as &[&str],
        &receipts.iter().map(|receipt| receipt.asn).collect::<Vec<_>>() as &[Option<Uuid>],
        &receipts.iter().map(|receipt| receipt.line).collect::<Vec<_>>() as &[&str],
        &receipts.iter().map(|receipt| receipt.warehouse).collect::<Vec<_>>() as &[&str],
        &text(|receipt| receipt.client_unit) as &[Option<&str>],
        &text(|receipt| receipt.sku) as &[Option<&str>],
        &text(|receipt| receipt.upc) as &[Option<&str>],
        &receipts.iter().map(|receipt| receipt.condition.as_str()).collect::<Vec<_>>() as &[&str],
        &text(|receipt| receipt.channel) as &[Option<&str>],
        &text(|receipt| receipt.serial_number) as &[Option<&str>],
        &text(|receipt| receipt.asin) as &[Option<&str>],
        &text(|receipt| receipt.return_reason) as &[Option<&str>],
        &text(|receipt| receipt.reject_reason) as &[Option<&str>],
        &text(|receipt| receipt.user) as &[Option<&str>],
        &text(|receipt| receipt.tracking_number) as &[Option<&str>],
        &text(|receipt| receipt.location) as &[Option<&str>],
        &receipts.iter().map(|receipt| receipt.rma).collect::<Vec<_>>() as &[Option<Uuid>],
    )
    .fetch_one(tx.connection())
    .await?;
    Ok(usize::try_from(inserted).unwrap_or_default())
}

/// The next returns that lines of the ASN `asn` belong to, after the identifier `after`. The flag tells whether closing the
/// ASN completes the return: its receiving is not closed, and no other open ASN announces units of it. Without the `offset`,
/// the planner may gather the subquery for all returns of the merchant first.
pub async fn returns_to_close(tx: &mut Tx, asn: Uuid, after: &str, most: i64) -> Result<Vec<(String, bool)>, Failed> {
    let rows = sqlx::query!(
        r#"
        select named.identifier as "identifier!", exists (
            select from rma
            where rma.merchant_id = $1 and rma.identifier = named.identifier and not rma.receiving_closed and rma.status <> 'CANCELED'
                and exists (
                    select from rma_item
                    where rma_item.merchant_id = $1 and rma_item.rma_id = rma.rma_id and rma_item.receiving is not null
                )
                and not exists (
                    select from asn_line as elsewhere
                    join inbound_asn on inbound_asn.merchant_id = $1 and inbound_asn.asn_id = elsewhere.asn_id
                    where elsewhere.merchant_id = $1 and elsewhere.reference_type = 'RMA'
                        and elsewhere.reference_identifier = named.identifier and elsewhere.asn_id <> $2
                        and elsewhere.received < elsewhere.quantity and inbound_asn.state = 'open'
                )
            offset 0
        ) as "closes!"
        from (
            select distinct reference_identifier as identifier
            from asn_line
            where merchant_id = $1 and asn_id = $2 and reference_type = 'RMA' and reference_identifier > $3
            order by reference_identifier
            limit $4
        ) as named
        order by named.identifier
        "#,
        tx.merchant().0,
        asn,
        after,
        most,
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(rows.into_iter().map(|row| (row.identifier, row.closes)).collect())
}

/// The lines of an ASN with missing units: identifier, SKU and number of units. The ASN must be locked.
pub async fn short_lines(tx: &mut Tx, asn: Uuid) -> Result<Vec<(String, Option<String>, u32)>, Failed> {
    let rows = sqlx::query!(
        r#"
        select line_identifier, sku, quantity - received as "missing!"
        from asn_line
        where merchant_id = $1 and asn_id = $2 and received < quantity
        order by position
        "#,
        tx.merchant().0,
        asn,
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(rows.into_iter().map(|row| (row.line_identifier, row.sku, u32::try_from(row.missing).unwrap_or_default())).collect())
}
