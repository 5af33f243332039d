//! The parts of a shipment, one per message, and the lines of each.

use uuid::Uuid;

use super::unit::{Carton, CartonRow, Unit};
use crate::warehouse::reference::Reference;
use crate::warehouse::shipments::{count, number};
use crate::{Failed, Tx};

/// A part of a shipment, described by one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The ASN number as sent.
    pub asn_number: String,
    /// The carton and position of its first line.
    pub first: (u32, u32),
    /// The number of lines.
    pub lines: u32,
}

/// Consecutive lines of a shipment, with their cartons.
pub struct Lines {
    /// The units, by carton and in the order in which they were added.
    pub units: Vec<Unit>,
    /// The cartons, by number.
    pub cartons: Vec<Carton>,
    /// The carton and position of the first line.
    pub first: (u32, u32),
    /// The carton and position of the last line.
    pub last: (u32, u32),
}

struct UnitRow {
    carton: i32,
    position: i32,
    condition: String,
    line_identifier: String,
    unit_identifier: String,
    program_identifier: String,
    client_unit_identifier: Option<String>,
    inbound_received_asn: Option<String>,
    sku: String,
    upc: Option<String>,
    vendor_identifier: Option<String>,
    serial_number: Option<String>,
    merchant: Option<String>,
    eligibility_flags: Option<Vec<String>>,
    reference_type: Option<String>,
    reference_identifier: Option<String>,
    reference_alternate: Option<String>,
}

/// Selects units: the conditions, then the arguments.
macro_rules! units {
    ($end:tt $(, $argument:expr)* $(,)?) => {
        sqlx::query_as!(
            UnitRow,
            "select carton, position, condition, line_identifier, unit_identifier, program_identifier, client_unit_identifier, "
                + "inbound_received_asn, sku, upc, vendor_identifier, serial_number, merchant, eligibility_flags, reference_type, "
                + "reference_identifier, reference_alternate from shipment_unit "
                + $end,
            $($argument),*
        )
    };
}

impl TryFrom<UnitRow> for Unit {
    type Error = Failed;

    fn try_from(row: UnitRow) -> Result<Self, Failed> {
        Ok(Self {
            carton: count(row.carton)?,
            line: row.line_identifier,
            program: row.program_identifier,
            unit: row.unit_identifier,
            client_unit: row.client_unit_identifier,
            inbound_asn: row.inbound_received_asn,
            sku: row.sku,
            upc: row.upc,
            vendor: row.vendor_identifier,
            serial_number: row.serial_number,
            condition: row.condition.parse().map_err(|_| Failed::Internal("a stored condition is unknown"))?,
            eligibility_flags: row.eligibility_flags,
            merchant: row.merchant,
            reference: Reference::restore(row.reference_type, row.reference_identifier, row.reference_alternate)?,
        })
    }
}

/// The units of the shipment with these line identifiers. The shipment must be locked.
pub async fn of_lines(tx: &mut Tx, shipment: Uuid, lines: &[String]) -> Result<Vec<Unit>, Failed> {
    let merchant = tx.merchant().0;
    let rows = units!("where merchant_id = $1 and shipment_id = $2 and line_identifier = any($3)", merchant, shipment, lines)
        .fetch_all(tx.connection())
        .await?;
    rows.into_iter().map(Unit::try_from).collect()
}

/// Up to `most` lines of the shipment, starting at `from`. The units of the shipment must be fixed. `None` if there are no
/// more.
pub async fn lines_from(tx: &mut Tx, shipment: Uuid, from: (u32, u32), most: u32) -> Result<Option<Lines>, Failed> {
    let merchant = tx.merchant().0;
    let rows = units!(
        "where merchant_id = $1 and shipment_id = $2 and (carton, position) >= ($3, $4) order by carton, position limit $5",
        merchant,
        shipment,
        number(from.0),
        number(from.1),
        i64::from(most),
    )
    .fetch_all(tx.connection())
    .await?;
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(None) };
    let (first, last) = ((count(first.carton)?, count(first.position)?), (count(last.carton)?, count(last.position)?));
    let cartons = sqlx::query_as!(
        CartonRow,
        r#"
        select carton, key, identifier, reference_type, reference_identifier, reference_alternate, sorting_template
        from shipment_carton
        where merchant_id = $1 and shipment_id = $2 and carton between $3 and $4
        order by carton
        "#,
        merchant,
        shipment,
        number(first.0),
        number(last.0),
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(Some(Lines {
        units: rows.into_iter().map(Unit::try_from).collect::<Result<_, _>>()?,
        cartons: cartons.into_iter().map(Carton::try_from).collect::<Result<_, _>>()?,
        first,
        last,
    }))
}

/// Records a part of the shipment. The split is final.
pub async fn insert_part(tx: &mut Tx, shipment: Uuid, nth: u32, part: &Part) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into shipment_part (merchant_id, shipment_id, part, first_carton, first_position, lines, asn_number)
        values ($1, $2, $3, $4, $5, $6, $7)
        "#,
        tx.merchant().0,
        shipment,
        number(nth),
        number(part.first.0),
        number(part.first.1),
        number(part.lines),
        part.asn_number.as_str(),
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The part `nth` of the shipment, counted from 1.
pub async fn part(tx: &mut Tx, shipment: Uuid, nth: u32) -> Result<Part, Failed> {
    let row = sqlx::query!(
        r#"
        select first_carton, first_position, lines, asn_number
        from shipment_part
        where merchant_id = $1 and shipment_id = $2 and part = $3
        "#,
        tx.merchant().0,
        shipment,
        number(nth),
    )
    .fetch_one(tx.connection())
    .await?;
    Ok(Part { asn_number: row.asn_number, first: (count(row.first_carton)?, count(row.first_position)?), lines: count(row.lines)? })
}
