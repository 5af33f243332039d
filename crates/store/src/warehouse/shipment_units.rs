//! The units and cartons of shipments, and how units are split into messages.

use uuid::Uuid;

use crate::warehouse::shipments::number;
use crate::{Failed, Tx};

mod columns;
mod parts;
mod unit;

use self::columns::Columns;
pub use self::parts::{Lines, Part, insert_part, lines_from, of_lines, part};
use self::unit::CartonRow;
pub use self::unit::{Carton, Unit};

/// The cartons of the shipment with these keys. The shipment must be locked.
pub async fn cartons(tx: &mut Tx, shipment: Uuid, keys: &[Vec<u8>]) -> Result<Vec<Carton>, Failed> {
    let merchant = tx.merchant().0;
    let rows = sqlx::query_as!(
        CartonRow,
        r#"
        select carton, key, identifier, reference_type, reference_identifier, reference_alternate, sorting_template
        from shipment_carton
        where merchant_id = $1 and shipment_id = $2 and key = any($3)
        "#,
        merchant,
        shipment,
        keys,
    )
    .fetch_all(tx.connection())
    .await?;
    rows.into_iter().map(Carton::try_from).collect()
}

/// Inserts cartons of the shipment, or updates the sorting template of known ones. The shipment must be locked.
pub async fn save_cartons(tx: &mut Tx, shipment: Uuid, cartons: &[Carton]) -> Result<(), Failed> {
    let references = || cartons.iter().map(|carton| carton.reference.as_ref());
    sqlx::query!(
        r#"
        insert into shipment_carton (
            merchant_id, shipment_id, carton, key, identifier, reference_type, reference_identifier, reference_alternate,
            sorting_template
        )
        select $1, $2, carton, key, identifier, reference_type, reference_identifier, reference_alternate, sorting_template
        from unnest($3::integer[], $4::bytea[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])
            as wanted (carton, key, identifier, reference_type, reference_identifier, reference_alternate, sorting_template)
        on conflict (merchant_id, shipment_id, carton) do update set sorting_template = excluded.sorting_template
        "#,
        tx.merchant().0,
        shipment,
        &cartons.iter().map(|carton| number(carton.number)).collect::<Vec<_>>()[..],
        &cartons.iter().map(|carton| carton.key.to_vec()).collect::<Vec<_>>()[..],
        &cartons.iter().map(|carton| carton.identifier.clone()).collect::<Vec<_>>() as &[Option<String>],
        &references().map(|to| to.map(|to| to.kind.as_str().to_owned())).collect::<Vec<_>>() as &[Option<String>],
        &references().map(|to| to.map(|to| to.identifier.clone())).collect::<Vec<_>>() as &[Option<String>],
        &references().map(|to| to.and_then(|to| to.alternate.clone())).collect::<Vec<_>>() as &[Option<String>],
        &cartons.iter().map(|carton| carton.sorting_template.clone()).collect::<Vec<_>>() as &[Option<String>],
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// A unit that is in a shipment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holding {
    pub unit: String,
    /// The identifier of its line.
    pub line: String,
    /// The shipment's number.
    pub number: String,
}

/// Those of these units that are in a shipment that is not cancelled.
pub async fn held(tx: &mut Tx, units: &[String]) -> Result<Vec<Holding>, Failed> {
    let merchant = tx.merchant().0;
    let rows = sqlx::query!(
        r#"
        select unit.unit_identifier, unit.line_identifier, shipment.asn_number
        from shipment_unit as unit
        join outbound_shipment as shipment on shipment.merchant_id = unit.merchant_id and shipment.shipment_id = unit.shipment_id
        where unit.merchant_id = $1 and unit.unit_identifier = any($2) and not unit.released
        "#,
        merchant,
        units,
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(rows.into_iter().map(|row| Holding { unit: row.unit_identifier, line: row.line_identifier, number: row.asn_number }).collect())
}

/// Inserts units of the shipment after the `known` ones it already has. The shipment must be locked. Returns the number of
/// units inserted, which is lower than given if another shipment has taken a unit in the meantime.
pub async fn insert(tx: &mut Tx, shipment: Uuid, known: u32, units: &[Unit]) -> Result<u32, Failed> {
    let Columns {
        cartons,
        lines,
        programs,
        plates,
        client_units,
        inbound_asns,
        skus,
        upcs,
        vendors,
        serial_numbers,
        conditions,
        flags,
        first_flags,
        last_flags,
        merchants,
        reference_types,
        references,
        alternates,
    } = Columns::of(units);
    let inserted = sqlx::query_scalar!(
        r#"
        insert into shipment_unit (
            merchant_id, shipment_id, carton, position, released, line_identifier, program_identifier, unit_identifier,
            client_unit_identifier, inbound_received_asn, sku, upc, vendor_identifier, serial_number, condition, merchant,
            eligibility_flags, reference_type, reference_identifier, reference_alternate
        )
        select
            $1, $2, carton, $3 + nth::integer, false, line, program, plate, client_unit, inbound_asn, sku, upc, vendor, serial_number,
            condition, merchant, case when first_flag is not null then ($16::text[])[first_flag:last_flag] end,
            reference_type, reference, alternate
        from unnest(
            $4::integer[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[],
            $13::text[], $14::text[], $15::text[], $17::integer[], $18::integer[], $19::text[], $20::text[], $21::text[]
        ) with ordinality as wanted (
            carton, line, program, plate, client_unit, inbound_asn, sku, upc, vendor, serial_number, condition, merchant, first_flag, last_flag,
            reference_type, reference, alternate, nth
        )
        -- Whoever wants some of the same units takes them in the same order, and waits for us rather than we for each other.
        order by plate
        on conflict (merchant_id, unit_identifier) where not released do nothing
        returning position
        "#,
        tx.merchant().0,
        shipment,
        number(known),
        &cartons[..],
        &lines[..],
        &programs[..],
        &plates[..],
        &client_units as &[Option<String>],
        &inbound_asns as &[Option<String>],
        &skus[..],
        &upcs as &[Option<String>],
        &vendors as &[Option<String>],
        &serial_numbers as &[Option<String>],
        &conditions[..],
        &merchants as &[Option<String>],
        &flags[..],
        &first_flags as &[Option<i32>],
        &last_flags as &[Option<i32>],
        &reference_types as &[Option<String>],
        &references as &[Option<String>],
        &alternates as &[Option<String>],
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(u32::try_from(inserted.len()).unwrap_or(u32::MAX))
}

/// The number of units that one statement releases.
const RELEASED_AT_ONCE: i64 = 5_000;

/// Releases the units of a shipment for use in another one, a bounded number per statement.
pub async fn release(tx: &mut Tx, shipment: Uuid) -> Result<(), Failed> {
    let merchant = tx.merchant().0;
    let (mut carton, mut position) = (0, 0);
    loop {
        let last = sqlx::query!(
            r#"
            with next as (
                select carton, position from shipment_unit
                where merchant_id = $1 and shipment_id = $2 and (carton, position) > ($3, $4)
                order by carton, position
                limit $5
            ), released as (
                update shipment_unit as unit set released = true
                from next
                where unit.merchant_id = $1 and unit.shipment_id = $2 and unit.carton = next.carton and unit.position = next.position
            )
            select carton, position from next order by carton desc, position desc limit 1
            "#,
            merchant,
            shipment,
            carton,
            position,
            RELEASED_AT_ONCE,
        )
        .fetch_optional(tx.connection())
        .await?;
        match last {
            Some(last) => (carton, position) = (last.carton, last.position),
            None => return Ok(()),
        }
    }
}
