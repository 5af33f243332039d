//! Messages that are past due: their number, and the list behind it.

use chrono::{DateTime, Utc};
use domain::id::EndpointId;
use store::merchants::accounts::Merchant;
use store::messages::backlog;
use store::messages::late::{self, Examined, GRACE, Late, LateEndpoint, Place};
use store::messages::log::written_at;
use store::{Failed, Store};
use uuid::Uuid;

use super::by::{By, Viewer};
use super::count::{Count, MOST_COUNTED};
use super::error::ConsoleError;
use super::message_row::{Row, Wanted};
use crate::node::each_cell;

/// The deliverers stop counting here.
pub(super) const MOST_OF_DELIVERERS: i64 = 10_000;
/// The messages on a page.
const LISTED: i64 = 25;

/// The late messages of all merchants, and the due time of the oldest.
#[derive(Clone, Copy)]
pub(super) struct Standing {
    pub(super) count: Count,
    pub(super) oldest_due_at: Option<DateTime<Utc>>,
}

impl Default for Standing {
    fn default() -> Self {
        Self { count: Count::of(0), oldest_due_at: None }
    }
}

impl Standing {
    /// Both together.
    pub(super) fn and(self, other: Self) -> Self {
        let oldest_due_at = self.oldest_due_at.into_iter().chain(other.oldest_due_at).min();
        Self { count: self.count.and(other.count), oldest_due_at }
    }
}

/// Counts the late messages of all merchants. If there are many, or many endpoints are owed something, the deliverers know more.
pub(super) async fn standing(by: &By<Viewer>) -> Result<Standing, ConsoleError> {
    let of_cells = each_cell::each(&by.app, |store| standing_in(store, by.now)).await?;
    Ok(of_cells.into_iter().reduce(Standing::and).unwrap_or_default())
}

/// [`standing`] of one cell.
pub(super) async fn standing_in(store: &Store, now: DateTime<Utc>) -> Result<Standing, Failed> {
    let before = now - GRACE;
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

/// Endpoints in the order of their ids, together with the store of the cell that they are in.
type InCells<'a> = Vec<(&'a Store, Vec<LateEndpoint>)>;

/// The endpoints of all merchants that a page examines, and where to continue. Neighbours of one cell stay together.
async fn endpoints(by: &By<Viewer>, from: EndpointId, before: DateTime<Utc>) -> Result<(InCells<'_>, Option<EndpointId>), ConsoleError> {
    let examined = each_cell::each(&by.app, |store| late::endpoints(store, from, before)).await?;
    let stores = by.app.cells().iter().map(|cell| &cell.store);
    let pages = stores.zip(examined).map(|(store, Examined { endpoints, more_after })| {
        let placed: Vec<_> = endpoints.into_iter().map(|endpoint| (store, endpoint)).collect();
        (placed, more_after.map(|endpoint| endpoint.0))
    });
    let (found, more_after) = each_cell::pages(pages.collect(), |(_, endpoint): &(&Store, LateEndpoint)| endpoint.endpoint.0);
    let mut in_cells: InCells<'_> = Vec::new();
    for (store, endpoint) in found {
        match in_cells.last_mut() {
            Some((last, endpoints)) if std::ptr::eq(*last, store) => endpoints.push(endpoint),
            _ => in_cells.push((store, vec![endpoint])),
        }
    }
    Ok((in_cells, more_after.map(EndpointId)))
}

/// The late messages after the place `after` that fit, those that are late longest first, and where to continue.
pub(super) async fn list(by: &By<Viewer>, wanted: &Wanted<'_>, after: Option<Place>) -> Result<(Vec<Row>, Option<Place>), ConsoleError> {
    let before = by.now - GRACE;
    let after = after.unwrap_or((EndpointId(Uuid::nil()), DateTime::UNIX_EPOCH, Uuid::nil()));
    let (mut in_cells, more_after) = match wanted.merchant {
        Some(merchant) => {
            let store = by.app.store(merchant.id);
            let Examined { endpoints, more_after } = late::endpoints_of(store, merchant.id, after.0, before).await?;
            (vec![(store, endpoints)], more_after)
        }
        None => endpoints(by, after.0, before).await?,
    };
    let mut found = Vec::new();
    for (store, endpoints) in &mut in_cells {
        endpoints.retain(|endpoint| is_of(endpoint, wanted.interface));
        let missing = LISTED - i64::try_from(found.len()).unwrap_or(LISTED);
        found.extend(late::list(store, endpoints, before, after, missing).await?);
    }
    let next = if i64::try_from(found.len()).unwrap_or(i64::MAX) >= LISTED {
        found.last().map(Late::place)
    } else {
        // Everything late at the endpoints that were examined is on this page.
        more_after.map(|endpoint| (endpoint, before, Uuid::max()))
    };
    found.sort_by_key(|message| (message.due_at, message.id));
    let row = |message: Late| {
        let at = in_cells.iter().flat_map(|(_, endpoints)| endpoints).find(|endpoint| endpoint.endpoint == message.endpoint)?;
        wanted.fits(&message.subject, written_at(message.id)).then(|| Row::late(by, at, message))
    };
    Ok((found.into_iter().filter_map(row).collect(), next))
}
