//! The failure queue over all merchants, for the console and the command line.

use std::collections::HashSet;

use store::Failed;
use store::messages::failure_groups::{self, Filter, Group, GroupKey, Page};

use crate::node::{Node, each_cell};

/// The groups after `after`, by merchant, endpoint and reason. A page has as many as each cell has on one.
pub(crate) async fn groups(node: &Node, filter: &Filter, after: Option<&GroupKey>) -> Result<Page, Failed> {
    let mut of_cells = each_cell::each(node, |store| failure_groups::list(store, filter, after)).await?;
    if let [_] = of_cells.as_slice()
        && let Some(page) = of_cells.pop()
    {
        return Ok(page);
    }
    // Reasons have the order of the database; the groups of an endpoint are in one cell.
    let endpoint = |key: &GroupKey| (key.merchant, key.endpoint);
    let next = of_cells.iter().filter_map(|page| page.next.clone()).min_by_key(endpoint);
    let mut groups: Vec<Group> = of_cells.into_iter().flat_map(|page| page.groups).collect();
    groups.retain(|group| next.as_ref().is_none_or(|next| endpoint(&group.key) <= endpoint(next)));
    groups.sort_by_key(|group| endpoint(&group.key));
    // A merchant that is being moved is in two cells.
    let mut known = HashSet::new();
    groups.retain(|Group { key, .. }| known.insert((key.merchant, key.endpoint, key.reason.clone())));
    Ok(Page { groups, next })
}
