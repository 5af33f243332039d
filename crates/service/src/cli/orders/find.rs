//! `backhaul orders find`: anything by its identifier, over all merchants.

use anyhow::bail;
use serde::Serialize;
use store::merchants::search::Hit;
use store::messages::log::written_at;
use uuid::Uuid;
use wire::time;

use crate::app::App;
use crate::cli::output::{self, Format};
use crate::show::merchants::search::{self, Found, Kind};

/// Something that was found.
#[derive(Serialize)]
pub(in crate::cli) struct FoundOut {
    /// The kind of thing: an order, a return, an ASN, a unit or a message.
    kind: &'static str,
    /// The merchant's handle.
    merchant: String,
    identifier: String,
    status: Option<String>,
    /// The order of a return, or the return or ASN for which a unit was received.
    belongs_to: Option<String>,
    at: String,
}

impl FoundOut {
    fn new(kind: Kind, hit: Hit) -> Self {
        let kind = match (kind, hit.other.as_deref()) {
            (Kind::Returns, _) => "return",
            (Kind::Orders, _) => "order",
            (Kind::Asns, Some("outbound")) => "outbound_asn",
            (Kind::Asns, _) => "inbound_asn",
            (Kind::Units, _) => "unit",
        };
        let belongs_to = hit.other.filter(|_| ["return", "unit"].contains(&kind));
        Self { kind, merchant: hit.handle, identifier: hit.identifier, status: Some(hit.status), belongs_to, at: time::write(hit.at) }
    }

    /// A row for each hit.
    pub(in crate::cli) fn all(found: Found) -> Vec<Self> {
        found.into_iter().flat_map(|(kind, hits)| hits.into_iter().map(move |hit| Self::new(kind, hit))).collect()
    }
}

/// Prints what was found.
pub(in crate::cli) fn show(rows: &[FoundOut], empty: &str, format: Format) -> anyhow::Result<()> {
    output::list(format, rows, empty, &["KIND", "MERCHANT", "IDENTIFIER", "STATUS", "BELONGS TO", "AT"], |row| {
        let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        let (status, belongs_to) = (or_dash(&row.status), or_dash(&row.belongs_to));
        vec![row.kind.to_owned(), row.merchant.clone(), row.identifier.clone(), status, belongs_to, row.at.clone()]
    })
}

/// Finds what has this identifier.
pub(super) async fn run(app: &App, text: &str, format: Format) -> anyhow::Result<()> {
    let word = text.trim();
    if word.contains('@') {
        bail!("this is an e-mail address; `backhaul shopper find` finds the orders and returns of a shopper");
    }
    if !search::is_identifier(word) {
        bail!("this is no identifier; give the number of an order, return, parcel, ASN or unit, or the id of a message");
    }
    let mut rows = FoundOut::all(search::by_identifier(app, word).await?);
    if let Ok(message) = word.parse::<Uuid>()
        && let Some(merchant) = search::merchant_of_message(app, message).await?
    {
        let (identifier, at) = (message.to_string(), time::write(written_at(message)));
        rows.push(FoundOut { kind: "message", merchant, identifier, status: None, belongs_to: None, at });
    }
    show(&rows, "Nothing of any merchant has this number.", format)
}
