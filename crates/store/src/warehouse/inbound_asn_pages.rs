//! Lists of inbound ASNs, newest first, and of what one of them announces and has brought: a page at a time.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::warehouse::inbound::State;
use uuid::Uuid;

use crate::warehouse::inbound_asns::{Line, LineRow, state};
use crate::{Failed, Store};

/// An ASN in a list.
#[derive(Clone, Debug)]
pub struct Listed {
    pub id: Uuid,
    pub number: String,
    pub shipment: String,
    pub state: State,
    /// The number of lines.
    pub lines: i32,
    /// The number of units announced.
    pub announced: i64,
    /// The time it was announced.
    pub created_at: DateTime<Utc>,
    /// The time it was last changed, cancelled or closed.
    pub updated_at: DateTime<Utc>,
}

struct Row {
    asn_id: Uuid,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    announced: i64,
    line_count: i32,
    state: String,
    asn_number: String,
    shipment_identifier: String,
    receiving: bool,
}

/// Selects the rows of a page: the conditions, then the arguments.
macro_rules! rows {
    ($end:tt $(, $argument:expr)* $(,)?) => {
        sqlx::query_as!(
            Row,
            "select asn_id, created_at, updated_at, announced, line_count, state, asn_number, shipment_identifier, "
                // Without the offset, the planner may gather the receipts of all ASNs first.
                + "exists (select from receipt where receipt.merchant_id = inbound_asn.merchant_id and receipt.asn_id = inbound_asn.asn_id "
                + "offset 0) "
                + r#"as "receiving!" from inbound_asn "#
                + $end
                + " order by asn_id desc limit $3",
            $($argument),*
        )
    };
}

/// The ASNs of `merchant`, of one shipment or all, before the ASN `before`, at most `limit`. The flag tells whether there
/// are more.
pub async fn list(
    store: &Store,
    merchant: MerchantId,
    shipment: Option<&str>,
    before: Option<Uuid>,
    limit: usize,
) -> Result<(Vec<Listed>, bool), Failed> {
    let before = before.unwrap_or(Uuid::max());
    // One extra row tells whether there are more.
    let most = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let rows = match shipment {
        Some(shipment) => {
            rows!("where merchant_id = $1 and asn_id < $2 and shipment_identifier = $4", merchant.0, before, most, shipment)
                .fetch_all(&store.pool)
                .await?
        }
        None => rows!("where merchant_id = $1 and asn_id < $2", merchant.0, before, most).fetch_all(&store.pool).await?,
    };
    let more = rows.len() > limit;
    let listed = |row: Row| {
        Ok(Listed {
            id: row.asn_id,
            state: state(&row.state, row.receiving)?,
            number: row.asn_number,
            shipment: row.shipment_identifier,
            lines: row.line_count,
            announced: row.announced,
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    };
    Ok((rows.into_iter().take(limit).map(listed).collect::<Result<_, Failed>>()?, more))
}

/// The lines of an ASN after the line `after`, by identifier, at most `most`.
pub async fn list_lines(store: &Store, merchant: MerchantId, asn: Uuid, after: &str, most: i64) -> Result<Vec<Line>, Failed> {
    let rows = sqlx::query_as!(
        LineRow,
        r#"
        select
            asn_id, position, carton, quantity, received, line_identifier, carton_identifier, reference_type, reference_identifier,
            alternate_identifier, reference_line_identifier, unit_identifier, client_unit_identifier, sku, upc, program_identifier,
            serial_number, vendor_identifier, condition, eligibility_flags, merchant, concept, asin, return_reason
        from asn_line
        where merchant_id = $1 and asn_id = $2 and line_identifier > $3
        order by line_identifier
        limit $4
        "#,
        merchant.0,
        asn,
        after,
        most,
    );
    rows.fetch_all(&store.pool).await?.into_iter().map(Line::try_from).collect()
}

/// A unit that was received against an ASN.
#[derive(Clone, Debug)]
pub struct ReceivedUnit {
    /// The license plate.
    pub unit: String,
    pub line: String,
    pub sku: Option<String>,
    pub condition: String,
    pub reject_reason: Option<String>,
    /// The internal id of the warehouse.
    pub warehouse: String,
    pub received_at: DateTime<Utc>,
}

/// The units received against an ASN: some of them, latest first, at most `most`, and the number of all, counted up to `most_counted`.
pub async fn list_received(
    store: &Store,
    merchant: MerchantId,
    asn: Uuid,
    most: i64,
    most_counted: i64,
) -> Result<(Vec<ReceivedUnit>, i64), Failed> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from (select from receipt where merchant_id = $1 and asn_id = $2 limit $3) as received"#,
        merchant.0,
        asn,
        most_counted,
    );
    let count = count.fetch_one(&store.pool).await?;
    let units = sqlx::query_as!(
        ReceivedUnit,
        r#"
        select unit_identifier as unit, line_identifier as line, sku, condition, reject_reason, warehouse_id as warehouse, received_at
        from (select * from receipt where merchant_id = $1 and asn_id = $2 limit $3) as received
        order by received_at desc, unit_identifier
        "#,
        merchant.0,
        asn,
        most,
    );
    Ok((units.fetch_all(&store.pool).await?, count))
}

/// The number of units that an ASN announces.
pub async fn announced(store: &Store, merchant: MerchantId, asn: Uuid) -> Result<i64, Failed> {
    let announced = sqlx::query_scalar!("select announced from inbound_asn where merchant_id = $1 and asn_id = $2", merchant.0, asn);
    Ok(announced.fetch_one(&store.pool).await?)
}
