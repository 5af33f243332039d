//! The requests of operators to each other, with the names of the merchants that they are about, who live in any cell.

use chrono::{DateTime, Utc};
use store::Failed;
use store::merchants::accounts::{self, Named};
use store::merchants::operator_requests::{self, Listed, Which};
use uuid::Uuid;

use crate::node::{Node, each_cell};

/// The newest requests, or the request `id`.
pub(crate) async fn list(
    node: &Node,
    which: Option<Which>,
    id: Option<Uuid>,
    most: i64,
    now: DateTime<Utc>,
) -> Result<Vec<Listed>, Failed> {
    let mut listed = operator_requests::list(node.home(), which, id, most, now).await?;
    if node.cells().len() < 2 {
        return Ok(listed);
    }
    let unnamed = |listed: &Listed| listed.request.merchant.filter(|_| listed.merchant.is_none());
    let merchants: Vec<Uuid> = listed.iter().filter_map(unnamed).map(|merchant| merchant.0).collect();
    let names = each_cell::each(node, |store| accounts::names(store, &merchants)).await?.concat();
    for request in &mut listed {
        let Some(merchant) = unnamed(request) else { continue };
        request.merchant = names.iter().find(|named| named.id == merchant).map(|Named { handle, name, .. }| (handle.clone(), name.clone()));
    }
    Ok(listed)
}
