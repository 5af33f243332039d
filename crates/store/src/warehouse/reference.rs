//! References, as inbound ASNs and outbound shipments store them.

use domain::warehouse::asn::ReferenceType;

use crate::Failed;

/// The document that units or a carton belong to, such as a return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    pub kind: ReferenceType,
    pub identifier: String,
    /// A second identifier of the same thing.
    pub alternate: Option<String>,
}

impl Reference {
    /// Restores a stored reference, if there is one.
    pub(crate) fn restore(kind: Option<String>, identifier: Option<String>, alternate: Option<String>) -> Result<Option<Self>, Failed> {
        let (Some(kind), Some(identifier)) = (kind, identifier) else { return Ok(None) };
        let kind = kind.parse().map_err(|_| Failed::Internal("a stored reference type is unknown"))?;
        Ok(Some(Self { kind, identifier, alternate }))
    }
}
