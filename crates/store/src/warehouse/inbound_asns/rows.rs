//! Rows of ASNs and their lines, and their conversion.

use chrono::{DateTime, Utc};
use domain::warehouse::inbound::State;
use uuid::Uuid;

use super::asn::{Asn, Line, Place, StoredAsn};
use crate::Failed;
use crate::warehouse::reference::Reference;

fn unknown<E>(_: E) -> Failed {
    Failed::Internal("a stored value of an ASN is unknown")
}

pub(super) struct AsnRow {
    pub(super) asn_id: Uuid,
    pub(super) created_at: DateTime<Utc>,
    pub(super) updated_at: DateTime<Utc>,
    pub(super) ship_date: Option<DateTime<Utc>>,
    pub(super) has_returns: bool,
    pub(super) state: String,
    pub(super) digest: Vec<u8>,
    pub(super) asn_number: String,
    pub(super) shipment_identifier: String,
    pub(super) program_identifier: Option<String>,
    pub(super) channel: Option<String>,
    pub(super) from_identifier: String,
    pub(super) from_type: String,
    pub(super) to_identifier: String,
    pub(super) to_type: String,
    pub(super) tracking_number: Option<String>,
    pub(super) carrier: Option<String>,
    pub(super) receiving: bool,
}

/// The state of an ASN: the stored word, except that an open ASN is receiving once anything has arrived.
pub(crate) fn state(word: &str, receiving: bool) -> Result<State, Failed> {
    let state = word.parse().map_err(unknown)?;
    Ok(if receiving && state == State::Open { State::Receiving } else { state })
}

impl TryFrom<AsnRow> for StoredAsn {
    type Error = Failed;

    fn try_from(row: AsnRow) -> Result<Self, Failed> {
        Ok(Self {
            id: row.asn_id,
            state: state(&row.state, row.receiving)?,
            created_at: row.created_at,
            updated_at: row.updated_at,
            digest: row.digest,
            has_returns: row.has_returns,
            asn: Asn {
                number: row.asn_number,
                shipment: row.shipment_identifier,
                program: row.program_identifier,
                channel: row.channel,
                from: Place { identifier: row.from_identifier, kind: row.from_type },
                to: Place { identifier: row.to_identifier, kind: row.to_type },
                tracking_number: row.tracking_number,
                carrier: row.carrier,
                ship_date: row.ship_date,
                lines: Vec::new(),
            },
        })
    }
}

pub(crate) struct LineRow {
    pub(crate) asn_id: Uuid,
    pub(crate) position: i32,
    pub(crate) carton: i32,
    pub(crate) quantity: i32,
    pub(crate) received: i32,
    pub(crate) line_identifier: String,
    pub(crate) carton_identifier: Option<String>,
    pub(crate) reference_type: Option<String>,
    pub(crate) reference_identifier: Option<String>,
    pub(crate) alternate_identifier: Option<String>,
    pub(crate) reference_line_identifier: Option<String>,
    pub(crate) unit_identifier: Option<String>,
    pub(crate) client_unit_identifier: Option<String>,
    pub(crate) sku: Option<String>,
    pub(crate) upc: Option<String>,
    pub(crate) program_identifier: Option<String>,
    pub(crate) serial_number: Option<String>,
    pub(crate) vendor_identifier: Option<String>,
    pub(crate) condition: Option<String>,
    pub(crate) eligibility_flags: Option<Vec<String>>,
    pub(crate) merchant: Option<String>,
    pub(crate) concept: Option<String>,
    pub(crate) asin: Option<String>,
    pub(crate) return_reason: Option<String>,
}

impl TryFrom<LineRow> for Line {
    type Error = Failed;

    fn try_from(row: LineRow) -> Result<Self, Failed> {
        let reference = Reference::restore(row.reference_type, row.reference_identifier, row.alternate_identifier)?;
        Ok(Self {
            identifier: row.line_identifier,
            carton: usize::try_from(row.carton).unwrap_or_default(),
            carton_identifier: row.carton_identifier,
            reference,
            reference_line: row.reference_line_identifier,
            unit: row.unit_identifier,
            client_unit: row.client_unit_identifier,
            sku: row.sku,
            upc: row.upc,
            quantity: u32::try_from(row.quantity).unwrap_or_default(),
            received: u32::try_from(row.received).unwrap_or_default(),
            program: row.program_identifier,
            serial_number: row.serial_number,
            vendor: row.vendor_identifier,
            condition: row.condition.map(|word| word.parse().map_err(unknown)).transpose()?,
            flags: row.eligibility_flags.unwrap_or_default(),
            merchant: row.merchant,
            concept: row.concept,
            asin: row.asin,
            return_reason: row.return_reason,
        })
    }
}
