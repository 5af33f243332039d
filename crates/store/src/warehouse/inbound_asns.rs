//! Inbound ASNs: goods that merchants announce to warehouses.

mod asn;
mod columns;
mod rows;

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::warehouse::inbound::State;
use uuid::Uuid;

pub use self::asn::{Asn, Line, New, Place, StoredAsn};
use self::columns::Columns;
use self::rows::AsnRow;
pub(crate) use self::rows::{LineRow, state};
use crate::{Failed, Store, Tx};

/// Selects ASNs without their lines: the conditions, then the arguments.
macro_rules! asns {
    ($end:tt $(, $argument:expr)* $(,)?) => {
        sqlx::query_as!(
            AsnRow,
            "select asn_id, created_at, updated_at, ship_date, has_returns, state, digest, asn_number, shipment_identifier, "
                + "program_identifier, channel, from_identifier, from_type, to_identifier, to_type, tracking_number, carrier, "
                // Without the offset, the planner may gather the receipts of all ASNs first.
                + "exists (select from receipt where receipt.merchant_id = inbound_asn.merchant_id and receipt.asn_id = inbound_asn.asn_id "
                + "offset 0) "
                + r#"as "receiving!" from inbound_asn "#
                + $end,
            $($argument),*
        )
    };
}

/// The ASNs with these numbers, without their lines.
pub async fn list(tx: &mut Tx, numbers: &[&str]) -> Result<Vec<StoredAsn>, Failed> {
    let merchant = tx.merchant().0;
    let rows = asns!("where merchant_id = $1 and asn_number = any($2)", merchant, numbers as &[&str]).fetch_all(tx.connection()).await?;
    rows.into_iter().map(StoredAsn::try_from).collect()
}

/// The ASNs with these ids, without their lines. Until the transaction ends, nobody can change, cancel or close them, but
/// others may receive units against them.
pub async fn share(tx: &mut Tx, ids: &[Uuid]) -> Result<Vec<StoredAsn>, Failed> {
    let merchant = tx.merchant().0;
    let rows =
        asns!("where merchant_id = $1 and asn_id = any($2) order by asn_id for share", merchant, ids).fetch_all(tx.connection()).await?;
    rows.into_iter().map(StoredAsn::try_from).collect()
}

/// The ASN with this number, without its lines, locked until the transaction ends.
pub async fn lock(tx: &mut Tx, number: &str) -> Result<Option<StoredAsn>, Failed> {
    let merchant = tx.merchant().0;
    // Wait for the lock first. Only a statement that starts afterwards sees what has arrived in the meantime.
    sqlx::query_scalar!("select asn_id from inbound_asn where merchant_id = $1 and asn_number = $2 for update", merchant, number)
        .fetch_optional(tx.connection())
        .await?;
    let row = asns!("where merchant_id = $1 and asn_number = $2", merchant, number).fetch_optional(tx.connection()).await?;
    row.map(StoredAsn::try_from).transpose()
}

/// Inserts ASNs. Returns the ids of those whose numbers were not taken.
pub async fn insert(tx: &mut Tx, new: &[New<'_>], now: DateTime<Utc>) -> Result<Vec<Uuid>, Failed> {
    let of = |text: fn(&Asn) -> Option<&str>| new.iter().map(|new| text(new.asn)).collect::<Vec<_>>();
    let sure = |text: fn(&Asn) -> &str| new.iter().map(|new| text(new.asn)).collect::<Vec<_>>();
    let inserted = sqlx::query_scalar!(
        r#"
        insert into inbound_asn (
            merchant_id, asn_id, created_at, updated_at, ship_date, announced, line_count, has_returns, state, digest, asn_number,
            shipment_identifier, program_identifier, channel, from_identifier, from_type, to_identifier, to_type, tracking_number, carrier
        )
        select
            $1, id, $2, $2, ship_date, announced, lines, has_returns, 'open', digest, number,
            shipment, program, channel, from_identifier, from_type, to_identifier, to_type, tracking_number, carrier
        from unnest(
            $3::uuid[], $4::timestamptz[], $5::bigint[], $6::integer[], $7::boolean[], $8::bytea[], $9::text[],
            $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[]
        ) as announced (
            id, ship_date, announced, lines, has_returns, digest, number,
            shipment, program, channel, from_identifier, from_type, to_identifier, to_type, tracking_number, carrier
        )
        on conflict (merchant_id, asn_number) do nothing
        returning asn_id
        "#,
        tx.merchant().0,
        now,
        &new.iter().map(|new| new.id).collect::<Vec<_>>(),
        &new.iter().map(|new| new.asn.ship_date).collect::<Vec<_>>() as &[Option<DateTime<Utc>>],
        &new.iter().map(|new| new.asn.announced()).collect::<Vec<_>>(),
        &new.iter().map(|new| i32::try_from(new.asn.lines.len()).unwrap_or(i32::MAX)).collect::<Vec<_>>(),
        &new.iter().map(|new| new.asn.has_returns()).collect::<Vec<_>>(),
        &new.iter().map(|new| new.digest.to_vec()).collect::<Vec<_>>(),
        &sure(|asn| &asn.number) as &[&str],
        &sure(|asn| &asn.shipment) as &[&str],
        &of(|asn| asn.program.as_deref()) as &[Option<&str>],
        &of(|asn| asn.channel.as_deref()) as &[Option<&str>],
        &sure(|asn| &asn.from.identifier) as &[&str],
        &sure(|asn| &asn.from.kind) as &[&str],
        &sure(|asn| &asn.to.identifier) as &[&str],
        &sure(|asn| &asn.to.kind) as &[&str],
        &of(|asn| asn.tracking_number.as_deref()) as &[Option<&str>],
        &of(|asn| asn.carrier.as_deref()) as &[Option<&str>],
    )
    .fetch_all(tx.connection())
    .await?;
    for new in new.iter().filter(|new| inserted.contains(&new.id)) {
        insert_lines(tx, new.id, &new.asn.lines).await?;
    }
    Ok(inserted)
}

/// Replaces the content of an ASN. It must be locked, and nothing of it may have arrived.
pub async fn replace(tx: &mut Tx, new: &New<'_>, now: DateTime<Utc>) -> Result<(), Failed> {
    let asn = new.asn;
    sqlx::query!(
        r#"
        with gone as (delete from asn_line where merchant_id = $1 and asn_id = $2)
        update inbound_asn
        set updated_at = $3, ship_date = $4, announced = $5, line_count = $6, has_returns = $7, digest = $8, shipment_identifier = $9,
            program_identifier = $10, channel = $11, from_identifier = $12, from_type = $13, to_identifier = $14, to_type = $15,
            tracking_number = $16, carrier = $17
        where merchant_id = $1 and asn_id = $2
        "#,
        tx.merchant().0,
        new.id,
        now,
        asn.ship_date,
        asn.announced(),
        i32::try_from(asn.lines.len()).unwrap_or(i32::MAX),
        asn.has_returns(),
        &new.digest,
        asn.shipment,
        asn.program,
        asn.channel,
        asn.from.identifier,
        asn.from.kind,
        asn.to.identifier,
        asn.to.kind,
        asn.tracking_number,
        asn.carrier,
    )
    .execute(tx.connection())
    .await?;
    insert_lines(tx, new.id, &asn.lines).await
}

async fn insert_lines(tx: &mut Tx, id: Uuid, lines: &[Line]) -> Result<(), Failed> {
    let columns = Columns::of(lines);
    sqlx::query!(
        r#"
        insert into asn_line (
            merchant_id, asn_id, position, carton, quantity, line_identifier, carton_identifier, reference_type, reference_identifier,
            alternate_identifier, reference_line_identifier, unit_identifier, client_unit_identifier, sku, upc, program_identifier,
            serial_number, vendor_identifier, condition, eligibility_flags, merchant, concept, asin, return_reason
        )
        select
            $1, $2, (nth - 1)::integer, carton, quantity, line, carton_identifier, reference_type, reference,
            alternate, reference_line, unit, client_unit, sku, upc, program,
            serial_number, vendor, condition, string_to_array(flags, chr(31)), merchant, concept, asin, return_reason
        from unnest(
            $3::integer[], $4::integer[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[],
            $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[],
            $21::text[], $22::text[], $23::text[]
        ) with ordinality as announced (
            carton, quantity, line, carton_identifier, reference_type, reference, alternate, reference_line, unit,
            client_unit, sku, upc, program, serial_number, vendor, condition, flags, merchant,
            concept, asin, return_reason, nth
        )
        "#,
        tx.merchant().0,
        id,
        &columns.cartons,
        &columns.quantities,
        &columns.identifiers as &[&str],
        &columns.carton_identifiers as &[Option<&str>],
        &columns.reference_types as &[Option<&str>],
        &columns.references as &[Option<&str>],
        &columns.alternates as &[Option<&str>],
        &columns.reference_lines as &[Option<&str>],
        &columns.units as &[Option<&str>],
        &columns.client_units as &[Option<&str>],
        &columns.skus as &[Option<&str>],
        &columns.upcs as &[Option<&str>],
        &columns.programs as &[Option<&str>],
        &columns.serial_numbers as &[Option<&str>],
        &columns.vendors as &[Option<&str>],
        &columns.conditions as &[Option<&str>],
        &columns.flags as &[Option<String>],
        &columns.merchants as &[Option<&str>],
        &columns.concepts as &[Option<&str>],
        &columns.asins as &[Option<&str>],
        &columns.return_reasons as &[Option<&str>],
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Records that an ASN is closed or cancelled. It must be locked.
pub async fn save_state(tx: &mut Tx, id: Uuid, state: State, now: DateTime<Utc>) -> Result<(), Failed> {
    let merchant = tx.merchant().0;
    sqlx::query!(
        "update inbound_asn set state = $3, updated_at = $4 where merchant_id = $1 and asn_id = $2",
        merchant,
        id,
        state.as_str(),
        now
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The ASN `number` of `merchant`, without its lines.
pub async fn find_head(store: &Store, merchant: MerchantId, number: &str) -> Result<Option<StoredAsn>, Failed> {
    let row = asns!("where merchant_id = $1 and asn_number = $2", merchant.0, number).fetch_optional(&store.pool).await?;
    row.map(StoredAsn::try_from).transpose()
}

/// The ASN `number` of `merchant`, with its lines.
pub async fn find(store: &Store, merchant: MerchantId, number: &str) -> Result<Option<StoredAsn>, Failed> {
    let Some(mut kept) = find_head(store, merchant, number).await? else { return Ok(None) };
    let lines = sqlx::query_as!(
        LineRow,
        r#"
        select
            asn_id, position, carton, quantity, received, line_identifier, carton_identifier, reference_type, reference_identifier,
            alternate_identifier, reference_line_identifier, unit_identifier, client_unit_identifier, sku, upc, program_identifier,
            serial_number, vendor_identifier, condition, eligibility_flags, merchant, concept, asin, return_reason
        from asn_line
        where merchant_id = $1 and asn_id = $2
        order by position
        "#,
        merchant.0,
        kept.id,
    )
    .fetch_all(&store.pool)
    .await?;
    kept.asn.lines = lines.into_iter().map(Line::try_from).collect::<Result<_, _>>()?;
    Ok(Some(kept))
}
