//! Shipments out of a warehouse, and the ASN numbers they use.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::warehouse::place::Address;
use domain::warehouse::shipment::{AsnNumber, CarrierPayment, Kind, PlaceType, State};
use uuid::Uuid;

use crate::{Failed, Store, Tx};

/// The maximum page size.
pub const MOST_LISTED: usize = 100;

/// A stored shipment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shipment {
    pub id: Uuid,
    /// Without the suffix of a part.
    pub number: AsnNumber,
    /// SHA-256 of the request that created it.
    pub request_hash: [u8; 32],
    pub kind: Kind,
    pub state: State,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    /// The actual or planned date.
    pub ship_date: DateTime<Utc>,
    /// The number of changes that have been sent.
    pub sequence: i64,
    /// The number of units.
    pub units: u32,
    /// The number of cartons.
    pub cartons: u32,
    /// The number of messages that describe it. Zero until its units are fixed.
    pub parts: u32,
    pub channel: String,
    /// An order, a return authorisation, or whatever else identifies it.
    pub shipment_identifier: String,
    pub carrier: Option<String>,
    /// The party that pays the carrier.
    pub carrier_payment: Option<CarrierPayment>,
    pub bol_number: Option<String>,
    /// Tracking or PRO numbers as scanned.
    pub tracking_numbers: Vec<String>,
    /// The place it leaves.
    pub from_identifier: String,
    pub from_type: PlaceType,
    /// The place it goes to.
    pub to_identifier: String,
    pub to_type: PlaceType,
    pub to_address: Address,
}

struct Row {
    shipment_id: Uuid,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    ship_date: DateTime<Utc>,
    sequence: i64,
    units: i32,
    cartons: i32,
    parts: i32,
    state: String,
    kind: String,
    asn_number: String,
    request_hash: Vec<u8>,
    channel: String,
    shipment_identifier: String,
    carrier: Option<String>,
    carrier_payment_type: Option<String>,
    bol_number: Option<String>,
    tracking_numbers: Vec<String>,
    from_identifier: String,
    from_type: String,
    to_identifier: String,
    to_type: String,
    to_name: String,
    to_company: Option<String>,
    to_street: String,
    to_street2: Option<String>,
    to_city: String,
    to_state: String,
    to_zip: String,
}

/// Selects shipments: the conditions, then the arguments.
macro_rules! shipments {
    ($end:tt $(, $argument:expr)* $(,)?) => {
        sqlx::query_as!(
            Row,
            "select shipment_id, created_at, updated_at, ship_date, sequence, units, cartons, parts, state, kind, asn_number, request_hash, "
                + "channel, shipment_identifier, carrier, carrier_payment_type, bol_number, tracking_numbers, from_identifier, "
                + "from_type, to_identifier, to_type, to_name, to_company, to_street, to_street2, to_city, to_state, to_zip from outbound_shipment "
                + $end,
            $($argument),*
        )
    };
}

impl TryFrom<Row> for Shipment {
    type Error = Failed;

    fn try_from(row: Row) -> Result<Self, Failed> {
        let unknown = |_| Failed::Internal("a stored value of a shipment is unknown");
        Ok(Self {
            id: row.shipment_id,
            number: row.asn_number.parse().map_err(|_| Failed::Internal("a stored ASN number is invalid"))?,
            request_hash: row.request_hash.try_into().map_err(|_| Failed::Internal("a stored request hash is not 32 bytes long"))?,
            kind: row.kind.parse().map_err(unknown)?,
            state: row.state.parse().map_err(unknown)?,
            created_at: row.created_at,
            updated_at: row.updated_at,
            ship_date: row.ship_date,
            sequence: row.sequence,
            units: count(row.units)?,
            cartons: count(row.cartons)?,
            parts: count(row.parts)?,
            channel: row.channel,
            shipment_identifier: row.shipment_identifier,
            carrier: row.carrier,
            carrier_payment: row.carrier_payment_type.map(|word| word.parse().map_err(unknown)).transpose()?,
            bol_number: row.bol_number,
            tracking_numbers: row.tracking_numbers,
            from_identifier: row.from_identifier,
            from_type: row.from_type.parse().map_err(unknown)?,
            to_identifier: row.to_identifier,
            to_type: row.to_type.parse().map_err(unknown)?,
            to_address: Address {
                name: row.to_name,
                company: row.to_company,
                street: row.to_street,
                street2: row.to_street2,
                city: row.to_city,
                state: row.to_state,
                zip: row.to_zip,
            },
        })
    }
}

pub(crate) fn count(number: i32) -> Result<u32, Failed> {
    u32::try_from(number).map_err(|_| Failed::Internal("a stored count is negative"))
}

pub(crate) fn number(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// The shipment `number`, locked until the transaction ends.
pub async fn lock(tx: &mut Tx, number: &str) -> Result<Option<Shipment>, Failed> {
    let merchant = tx.merchant().0;
    let row = shipments!("where merchant_id = $1 and asn_number = $2 for update", merchant, number).fetch_optional(tx.connection()).await?;
    row.map(Shipment::try_from).transpose()
}

/// The shipment `number` of `merchant`.
pub async fn find(store: &Store, merchant: MerchantId, number: &str) -> Result<Option<Shipment>, Failed> {
    let row = shipments!("where merchant_id = $1 and asn_number = $2", merchant.0, number).fetch_optional(&store.pool).await?;
    row.map(Shipment::try_from).transpose()
}

/// The shipments of `merchant` before the shipment `before`, newest first, at most `limit` of them. Also returns where to
/// continue; `None` on the last page.
pub async fn list(
    store: &Store,
    merchant: MerchantId,
    before: Option<Uuid>,
    limit: usize,
) -> Result<(Vec<Shipment>, Option<Uuid>), Failed> {
    let limit = limit.min(MOST_LISTED);
    // One extra row tells whether there are more.
    let most = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let before = before.unwrap_or(Uuid::max());
    let rows = shipments!("where merchant_id = $1 and shipment_id < $2 order by shipment_id desc limit $3", merchant.0, before, most)
        .fetch_all(&store.pool)
        .await?;
    let more = rows.len() > limit;
    let found = rows.into_iter().take(limit).map(Shipment::try_from).collect::<Result<Vec<_>, _>>()?;
    let next = found.last().map(|last| last.id).filter(|_| more);
    Ok((found, next))
}

/// Inserts a shipment and reserves its number.
pub async fn insert(tx: &mut Tx, new: &Shipment) -> Result<(), Failed> {
    let to = &new.to_address;
    sqlx::query!(
        r#"
        with made as (
            insert into outbound_shipment (
                merchant_id, shipment_id, created_at, updated_at, ship_date, sequence, units, cartons, parts, state, kind, asn_number,
                request_hash, channel, shipment_identifier, carrier, carrier_payment_type, bol_number, tracking_numbers,
                from_identifier, to_identifier, to_type, to_name, to_company, to_street, to_street2, to_city, to_state, to_zip, from_type
            )
            values (
                $1, $2, $3, $3, $4, 0, 0, 0, 0, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
                $24, $25
            )
        )
        insert into asn_number (merchant_id, shipment_id, number) values ($1, $2, $7)
        "#,
        tx.merchant().0,
        new.id,
        new.created_at,
        new.ship_date,
        new.state.as_str(),
        new.kind.as_str(),
        new.number.as_str(),
        &new.request_hash[..],
        new.channel.as_str(),
        new.shipment_identifier.as_str(),
        new.carrier.as_deref(),
        new.carrier_payment.map(CarrierPayment::as_str),
        new.bol_number.as_deref(),
        new.tracking_numbers.as_slice(),
        new.from_identifier.as_str(),
        new.to_identifier.as_str(),
        new.to_type.as_str(),
        to.name.as_str(),
        to.company.as_deref(),
        to.street.as_str(),
        to.street2.as_deref(),
        to.city.as_str(),
        to.state.as_str(),
        to.zip.as_str(),
        new.from_type.as_str(),
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Saves the changeable fields of a shipment. It must be locked.
pub async fn save(tx: &mut Tx, changed: &Shipment) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        update outbound_shipment
        set updated_at = $3, ship_date = $4, sequence = $5, units = $6, cartons = $7, parts = $8, state = $9, carrier = $10,
            carrier_payment_type = $11, bol_number = $12, tracking_numbers = $13
        where merchant_id = $1 and shipment_id = $2
        "#,
        tx.merchant().0,
        changed.id,
        changed.updated_at,
        changed.ship_date,
        changed.sequence,
        number(changed.units),
        number(changed.cartons),
        number(changed.parts),
        changed.state.as_str(),
        changed.carrier.as_deref(),
        changed.carrier_payment.map(CarrierPayment::as_str),
        changed.bol_number.as_deref(),
        changed.tracking_numbers.as_slice(),
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Reserves numbers for the parts of a shipment. Returns the first one that another shipment has, if any.
pub async fn take_numbers(tx: &mut Tx, shipment: Uuid, numbers: &[String]) -> Result<Option<String>, Failed> {
    let merchant = tx.merchant().0;
    let taken = sqlx::query_scalar!(
        r#"
        insert into asn_number (merchant_id, shipment_id, number)
        select $1, $2, number from unnest($3::text[]) as wanted (number)
        on conflict (merchant_id, number) do nothing
        returning number
        "#,
        merchant,
        shipment,
        numbers,
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(numbers.iter().find(|number| !taken.contains(number)).cloned())
}
