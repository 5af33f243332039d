//! Inbound ASNs: receives the announced goods, with the usual discrepancies, and closes the ASNs.

mod plan;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use self::plan::Asn;
use super::service::{Service, Trouble, names};
use super::tally::Tally;

const ASNS: &str = "/v1/inbound_asns";
/// The most units scanned in one call.
const AT_ONCE: usize = 500;

/// Receives everything announced, at the warehouse with the internal id `at`.
pub(super) async fn work(service: &Service, at: &str) -> Result<Tally, Trouble> {
    let mut tally = Tally::default();
    let expected = |asn: &Value| matches!(asn.get("state").and_then(Value::as_str), Some("open" | "receiving"));
    for number in names(service, ASNS, "", "asn_number", expected).await? {
        let path = format!("{ASNS}/{}", utf8_percent_encode(&number, NON_ALPHANUMERIC));
        let Some(asn) = Asn::read(&service.get(&path).await?) else { continue };
        for units in asn.arrivals(at).chunks(AT_ONCE) {
            let taken = service.post("/v1/receipts", &json!({ "units": units })).await?;
            let taken = taken.get("units").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let became = |result: &str| taken.iter().filter(|unit| unit.get("result").is_some_and(|word| word == result)).count();
            tally.received += u32::try_from(became("received")).unwrap_or(u32::MAX);
            tally.exceptions += u32::try_from(became("exception")).unwrap_or(u32::MAX);
        }
        service.post(&format!("{path}/close"), &json!({})).await?;
        tally.asns_closed += 1;
    }
    Ok(tally)
}
