//! Rows of all cells in the order of merchants' handles.

use std::collections::HashMap;

use store::Failed;
use store::merchants::accounts;

use crate::node::{Node, each_cell};

/// The rows of all cells in the order of their handles. Databases order texts by their own rules, so the first cell is asked for the
/// order; where there is one cell, its rows have it.
pub(crate) async fn by_handle<T>(node: &Node, of_cells: Vec<Vec<T>>, handle: impl Fn(&T) -> &str) -> Result<Vec<T>, Failed> {
    if of_cells.len() < 2 {
        return Ok(of_cells.into_iter().flatten().collect());
    }
    let handles: Vec<String> = of_cells.iter().flatten().map(|row| handle(row).to_owned()).collect();
    let places: HashMap<String, usize> = accounts::in_order(node.home(), &handles).await?.into_iter().zip(0..).collect();
    Ok(each_cell::merge(of_cells, |row| places.get(handle(row)).copied()))
}
