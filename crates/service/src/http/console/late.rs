//! Messages that are past due: their number, and the list behind it.

use chrono::{DateTime, Utc};
use domain::id::EndpointId;
use store::merchants::accounts::Merchant;
use store::messages::backlog;
use store::messages::late::{self, Examined, GRACE, Late, LateEndpoint, Place};
use store::messages::log::written_at;
use uuid::Uuid;

use super::by::{By, Viewer};
use super::count::{Count, MOST_COUNTED};
use super::error::ConsoleError;
use super::message_row::{Row, Wanted};

/// The deliverers stop counting here.
pub(super) const MOST_OF_DELIVERERS: i64 = 10_000;
/// The messages on a page.
const LISTED: i64 = 25;

/// The late messages of all merchants, and the due time of the oldest.
pub(super) struct Standing {
    pub(super) count: Count,
    pub(super) oldest_due_at: Option<DateTime<Utc>>,
}

/// Counts the late messages of all merchants. If there are many, or many endpoints are owed something, the deliverers know more.
pub(super) async fn standing(by: &By<Viewer>) -> Result<Standing, ConsoleError> {
    let (store, before) = (by.app.cell(), by.now - GRACE);
    let Examined { endpoints, more_after } = late::endpoints(store, EndpointId(Uuid::nil()), before).await?;
    let count = late::count(store, &endpoints, before, MOST_COUNTED).await?;
    let oldest_due_at = endpoints.iter().map(|endpoint| endpoint.oldest_due_at).min();
    if count < MOST_COUNTED && more_after.is_none() {
        return Ok(Standing { count: Count::of(count), oldest_due_at });
    }
    let told = backlog::figures(store).await?;
    let count = if told.past_due > count {
        Count { count: told.past_due, bound: MOST_OF_DELIVERERS }
    } else {
        Count { count, bound: count.max(1) }
    };
    let oldest_due_at = oldest_due_at.into_iter().chain(told.oldest_due_at.filter(|due| *due <= before)).min();
    Ok(Standing { count, oldest_due_at })
}

/// Counts the late messages of a merchant, of an interface if one is named.
async fn count_of(by: &By<Viewer>, merchant: &Merchant, interface: &str) -> Result<Count, ConsoleError> {
    let (store, before) = (by.app.store(merchant.id), by.now - GRACE);
    let Examined { endpoints, .. } = late::endpoints_of(store, merchant.id, EndpointId(Uuid::nil()), before).await?;
    let endpoints: Vec<LateEndpoint> = endpoints.into_iter().filter(|endpoint| is_of(endpoint, interface)).collect();
    Ok(Count::of(late::count(store, &endpoints, before, MOST_COUNTED).await?))
}

/// The number of late messages that fit the filters, unless too many would have to be read to know it.
pub(super) async fn count(by: &By<Viewer>, wanted: &Wanted<'_>) -> Result<Option<Count>, ConsoleError> {
    if wanted.is_narrowed() {
        return Ok(None);
    }
    Ok(match wanted.merchant {
        Some(merchant) => Some(count_of(by, merchant, wanted.interface).await?),
        None if wanted.interface.is_empty() => Some(standing(by).await?.count),
        None => None,
    })
}

fn is_of(endpoint: &LateEndpoint, interface: &str) -> bool {
    interface.is_empty() || endpoint.interface == interface
}

/// The late messages after the place `after` that fit, those that are late longest first, and where to continue.
pub(super) async fn list(by: &By<Viewer>, wanted: &Wanted<'_>, after: Option<Place>) -> Result<(Vec<Row>, Option<Place>), ConsoleError> {
    let before = by.now - GRACE;
    let after = after.unwrap_or((EndpointId(Uuid::nil()), DateTime::UNIX_EPOCH, Uuid::nil()));
    let (store, Examined { endpoints, more_after }) = match wanted.merchant {
        Some(merchant) => {
            let store = by.app.store(merchant.id);
            (store, late::endpoints_of(store, merchant.id, after.0, before).await?)
        }
        None => (by.app.cell(), late::endpoints(by.app.cell(), after.0, before).await?),
    };
    let endpoints: Vec<LateEndpoint> = endpoints.into_iter().filter(|endpoint| is_of(endpoint, wanted.interface)).collect();
    let mut found = late::list(store, &endpoints, before, after, LISTED).await?;
    let next = if i64::try_from(found.len()).unwrap_or(i64::MAX) >= LISTED {
        found.last().map(Late::place)
    } else {
        // Everything late at the endpoints that were examined is on this page.
        more_after.map(|endpoint| (endpoint, before, Uuid::max()))
    };
    found.sort_by_key(|message| (message.due_at, message.id));
    let row = |message: Late| {
        let at = endpoints.iter().find(|endpoint| endpoint.endpoint == message.endpoint)?;
        wanted.fits(&message.subject, written_at(message.id)).then(|| Row::late(by, at, message))
    };
    Ok((found.into_iter().filter_map(row).collect(), next))
}
