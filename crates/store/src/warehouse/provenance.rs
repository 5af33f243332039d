//! The facts about units that their receipts hold, for shipments out of the warehouse.

use domain::warehouse::asn::ReferenceType;

use crate::warehouse::reference::Reference;
use crate::{Failed, Tx};

/// The facts about a unit that its receipt holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// The license plate.
    pub unit: String,
    /// The inbound ASN that it was received against.
    pub asn_number: Option<String>,
    /// The program that it was received into.
    pub program: Option<String>,
    /// The merchant's identifier for the unit.
    pub client_unit: Option<String>,
    /// Eligibility flags of the inbound ASN.
    pub flags: Option<Vec<String>>,
    /// The document that it belongs to.
    pub reference: Option<Reference>,
}

/// The facts that the receipts of these units hold; units that were not received are left out.
pub async fn list(tx: &mut Tx, units: &[&str]) -> Result<Vec<Provenance>, Failed> {
    let rows = sqlx::query!(
        r#"
        select
            receipt.unit_identifier, receipt.client_unit_identifier, inbound_asn.asn_number as "asn_number?",
            coalesce(asn_line.program_identifier, inbound_asn.program_identifier) as program,
            asn_line.eligibility_flags as "flags?", asn_line.reference_type as "reference_type?",
            asn_line.reference_identifier as "reference_identifier?", asn_line.alternate_identifier as "alternate_identifier?",
            rma.identifier as "rma?"
        from receipt
        left join inbound_asn on inbound_asn.merchant_id = $1 and inbound_asn.asn_id = receipt.asn_id
        left join asn_line on asn_line.merchant_id = $1 and asn_line.asn_id = receipt.asn_id
            and asn_line.line_identifier = receipt.line_identifier
        left join rma on rma.merchant_id = $1 and rma.rma_id = receipt.rma_id
        where receipt.merchant_id = $1 and receipt.unit_identifier = any($2)
        "#,
        tx.merchant().0,
        units as &[&str],
    )
    .fetch_all(tx.connection())
    .await?;
    let provenance = rows.into_iter().map(|row| {
        Ok(Provenance {
            reference: match row.rma {
                Some(identifier) => Some(Reference { kind: ReferenceType::Rma, identifier, alternate: None }),
                None => Reference::restore(row.reference_type, row.reference_identifier, row.alternate_identifier)?,
            },
            unit: row.unit_identifier,
            asn_number: row.asn_number,
            program: row.program,
            client_unit: row.client_unit_identifier,
            flags: row.flags.filter(|flags| !flags.is_empty()),
        })
    });
    provenance.collect()
}
