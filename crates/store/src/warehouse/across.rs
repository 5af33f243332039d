//! What the console lists of warehouses, of one merchant or of all: ASNs, expected returns, shipments and drop-ship orders, newest first.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::warehouse::inbound;
use uuid::Uuid;

use crate::messages::window::Window;
use crate::warehouse::inbound_asns::state;
use crate::{Failed, Store};

/// An inbound ASN.
#[derive(Clone, Debug)]
pub struct ListedAsn {
    pub id: Uuid,
    pub handle: String,
    pub merchant_name: String,
    pub number: String,
    pub shipment: String,
    pub state: inbound::State,
    /// The place that it goes to, as the merchant names it.
    pub to: String,
    pub lines: i32,
    /// The number of units announced.
    pub announced: i64,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

struct AsnRow {
    id: Uuid,
    handle: String,
    merchant_name: String,
    asn_number: String,
    shipment_identifier: String,
    state: String,
    receiving: bool,
    to_identifier: String,
    line_count: i32,
    announced: i64,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

/// Selects ASNs. Only the index by state has the order of pairs of state and id, so that no plan reads past rows of other states.
macro_rules! asns {
    ($whose:tt $(, $argument:expr)* $(,)?) => {
        sqlx::query_as!(
            AsnRow,
            "select newest.asn_id as id, merchant.handle, merchant.name as merchant_name, newest.asn_number, newest.shipment_identifier, "
                + "newest.state, newest.to_identifier, newest.line_count, newest.announced, newest.created_at, newest.updated_at, "
                // Without the offset, the planner may gather the receipts of all ASNs first.
                + "exists (select from receipt where receipt.merchant_id = newest.merchant_id and receipt.asn_id = newest.asn_id "
                + r#"offset 0) as "receiving!" from (select one.* from unnest($1::text[]) as wanted (state) cross join lateral ("#
                + "select * from inbound_asn where "
                + $whose
                + "(inbound_asn.state, inbound_asn.asn_id) >= (wanted.state, $2) and (inbound_asn.state, inbound_asn.asn_id) < (wanted.state, $3) "
                + "order by inbound_asn.state desc, inbound_asn.asn_id desc limit $4) as one order by one.asn_id desc limit $4) as newest "
                + "join merchant on merchant.merchant_id = newest.merchant_id order by newest.asn_id desc",
            $($argument),*
        )
    };
}

/// ASNs in these stored states: `open` if something of it may still arrive, `closed` or `canceled`.
pub async fn asns(store: &Store, merchant: Option<MerchantId>, states: &[&str], window: &Window) -> Result<Vec<ListedAsn>, Failed> {
    let (from, before) = window.bounds();
    let rows = match merchant {
        Some(merchant) => {
            asns!("inbound_asn.merchant_id = $5 and ", states as &[&str], from, before, window.most, merchant.0)
                .fetch_all(&store.pool)
                .await?
        }
        None => asns!("", states as &[&str], from, before, window.most).fetch_all(&store.pool).await?,
    };
    let listed = |row: AsnRow| {
        Ok(ListedAsn {
            id: row.id,
            handle: row.handle,
            merchant_name: row.merchant_name,
            number: row.asn_number,
            shipment: row.shipment_identifier,
            state: state(&row.state, row.receiving)?,
            to: row.to_identifier,
            lines: row.line_count,
            announced: row.announced,
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    };
    rows.into_iter().map(listed).collect()
}

/// A return of which the warehouse waits for units.
#[derive(Clone, Debug)]
pub struct ExpectedReturn {
    pub id: Uuid,
    pub handle: String,
    pub merchant_name: String,
    pub identifier: String,
    pub order: String,
    pub method: String,
    /// The tracking numbers of its parcels.
    pub tracking_numbers: Vec<String>,
    /// A carrier has a parcel of it.
    pub under_way: bool,
    /// The units that have not arrived, and all.
    pub waiting: i64,
    pub units: i64,
    /// The warehouse expects nothing more.
    pub closed: bool,
    pub created_at: DateTime<Utc>,
}

macro_rules! expected {
    ($whose:tt $(, $argument:expr)* $(,)?) => {
        sqlx::query_as!(
            ExpectedReturn,
            "select newest.rma_id as id, merchant.handle, merchant.name as merchant_name, newest.identifier, newest.order_identifier as order, "
                + "newest.method, newest.receiving_closed as closed, newest.created_at, item.* from (select * from rma where "
                + $whose
                + "rma.expected and rma.rma_id >= $1 and rma.rma_id < $2 order by rma.rma_id desc limit $3) as newest "
                + "join merchant on merchant.merchant_id = newest.merchant_id cross join lateral ("
                + "select coalesce(array_agg(distinct rma_item.tracking_number) filter (where rma_item.tracking_number is not null), '{}') "
                + r#"as "tracking_numbers!", count(*) as "units!", "#
                + r#"count(*) filter (where rma_item.receiving in ('PENDING', 'NOT_RECEIVED')) as "waiting!", "#
                + r#"coalesce(bool_or(rma_item.parcel in ('TRANSIT', 'ACCEPTED')), false) as "under_way!" from rma_item "#
                + "where rma_item.merchant_id = newest.merchant_id and rma_item.rma_id = newest.rma_id) as item order by newest.rma_id desc",
            $($argument),*
        )
    };
}

/// Returns of which the warehouse waits for units.
pub async fn expected_returns(store: &Store, merchant: Option<MerchantId>, window: &Window) -> Result<Vec<ExpectedReturn>, Failed> {
    let (from, before) = window.bounds();
    let rows = match merchant {
        Some(merchant) => expected!("rma.merchant_id = $4 and ", from, before, window.most, merchant.0).fetch_all(&store.pool).await?,
        None => expected!("", from, before, window.most).fetch_all(&store.pool).await?,
    };
    Ok(rows)
}

/// A shipment out of a warehouse.
#[derive(Clone, Debug)]
pub struct ListedShipment {
    pub id: Uuid,
    pub handle: String,
    pub merchant_name: String,
    pub number: String,
    pub state: String,
    pub kind: String,
    pub shipment: String,
    pub to: String,
    pub carrier: Option<String>,
    pub units: i32,
    pub cartons: i32,
    pub ship_date: DateTime<Utc>,
    pub created_at: DateTime<Utc>,
}

macro_rules! shipments {
    ($whose:tt $(, $argument:expr)* $(,)?) => {
        sqlx::query_as!(
            ListedShipment,
            "select newest.shipment_id as id, merchant.handle, merchant.name as merchant_name, newest.asn_number as number, newest.state, "
                + "newest.kind, newest.shipment_identifier as shipment, newest.to_identifier as to, newest.carrier, newest.units, "
                + "newest.cartons, newest.ship_date, newest.created_at from (select one.* from unnest($1::text[]) as wanted (state) "
                + "cross join lateral (select * from outbound_shipment where "
                + $whose
                + "(outbound_shipment.state, outbound_shipment.shipment_id) >= (wanted.state, $2) "
                + "and (outbound_shipment.state, outbound_shipment.shipment_id) < (wanted.state, $3) "
                + "order by outbound_shipment.state desc, outbound_shipment.shipment_id desc limit $4) as one order by one.shipment_id desc limit $4) as newest "
                + "join merchant on merchant.merchant_id = newest.merchant_id order by newest.shipment_id desc",
            $($argument),*
        )
    };
}

/// Shipments in these states.
pub async fn shipments(
    store: &Store,
    merchant: Option<MerchantId>,
    states: &[&str],
    window: &Window,
) -> Result<Vec<ListedShipment>, Failed> {
    let (from, before) = window.bounds();
    let rows = match merchant {
        Some(merchant) => {
            shipments!("outbound_shipment.merchant_id = $5 and ", states as &[&str], from, before, window.most, merchant.0)
                .fetch_all(&store.pool)
                .await?
        }
        None => shipments!("", states as &[&str], from, before, window.most).fetch_all(&store.pool).await?,
    };
    Ok(rows)
}

/// A drop-ship order.
#[derive(Clone, Debug)]
pub struct ListedDropShip {
    pub id: Uuid,
    pub handle: String,
    pub merchant_name: String,
    pub client_identifier: String,
    pub status: String,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    /// The units that were ordered, have left and were called off.
    pub ordered: i64,
    pub shipped: i64,
    pub cancelled: i64,
}

macro_rules! drop_ships {
    ($whose:tt $(, $argument:expr)* $(,)?) => {
        sqlx::query_as!(
            ListedDropShip,
            "select newest.drop_ship_order_id as id, merchant.handle, merchant.name as merchant_name, newest.client_identifier, "
                + "newest.status, newest.created_at, newest.updated_at, item.* from (select one.* from unnest($1::text[]) as wanted (status) "
                + "cross join lateral (select * from drop_ship_order where "
                + $whose
                + "(drop_ship_order.status, drop_ship_order.drop_ship_order_id) >= (wanted.status, $2) "
                + "and (drop_ship_order.status, drop_ship_order.drop_ship_order_id) < (wanted.status, $3) "
                + "order by drop_ship_order.status desc, drop_ship_order.drop_ship_order_id desc limit $4) as one "
                + "order by one.drop_ship_order_id desc limit $4) as newest join merchant on merchant.merchant_id = newest.merchant_id "
                + r#"cross join lateral (select coalesce(sum(ordered), 0) as "ordered!", coalesce(sum(shipped), 0) as "shipped!", "#
                + r#"coalesce(sum(cancelled), 0) as "cancelled!" from drop_ship_item "#
                + "where drop_ship_item.merchant_id = newest.merchant_id and drop_ship_item.drop_ship_order_id = newest.drop_ship_order_id"
                + ") as item order by newest.drop_ship_order_id desc",
            $($argument),*
        )
    };
}

/// Drop-ship orders in these statuses.
pub async fn drop_ship_orders(
    store: &Store,
    merchant: Option<MerchantId>,
    statuses: &[&str],
    window: &Window,
) -> Result<Vec<ListedDropShip>, Failed> {
    let (from, before) = window.bounds();
    let rows = match merchant {
        Some(merchant) => {
            drop_ships!("drop_ship_order.merchant_id = $5 and ", statuses as &[&str], from, before, window.most, merchant.0)
                .fetch_all(&store.pool)
                .await?
        }
        None => drop_ships!("", statuses as &[&str], from, before, window.most).fetch_all(&store.pool).await?,
    };
    Ok(rows)
}
