//! Questions about all merchants: they are asked of every cell, of all of them at once, and the answers are put together here. Where
//! there is one cell, it is asked as if there were no others, and nothing is sorted or compared.

use futures::future::{join_all, try_join_all};
use store::{Failed, Store};

use super::Node;
use super::cell::Cell;

/// Asks each cell, and returns the answers in the order of the cells.
pub async fn each<'a, T, F>(node: &'a Node, ask: impl Fn(&'a Store) -> F) -> Result<Vec<T>, Failed>
where
    F: Future<Output = Result<T, Failed>>,
{
    try_join_all(node.cells().iter().map(|cell| ask(&cell.store))).await
}

/// The answers of the cells, and those that gave none.
pub struct Answers<'a, T> {
    pub found: Vec<(&'a Cell, T)>,
    /// The cells that did not answer.
    pub silent: Vec<&'a Cell>,
}

/// Asks each cell, and returns the answers of those that give one. Fails if none does.
pub async fn answering<'a, T, F>(node: &'a Node, ask: impl Fn(&'a Store) -> F) -> Result<Answers<'a, T>, Failed>
where
    F: Future<Output = Result<T, Failed>>,
{
    let (mut found, mut silent, mut first) = (Vec::new(), Vec::new(), None);
    let asked = join_all(node.cells().iter().map(|cell| ask(&cell.store))).await;
    for (cell, answer) in node.cells().iter().zip(asked) {
        match answer {
            Ok(answer) => found.push((cell, answer)),
            Err(failed) => {
                tracing::debug!(%failed, cell = cell.name(), "a cell does not answer");
                silent.push(cell);
                first.get_or_insert(failed);
            }
        }
    }
    match first {
        Some(failed) if found.is_empty() => Err(failed),
        _ => Ok(Answers { found, silent }),
    }
}

/// The sum of what `count` counts in each cell.
pub async fn sum<'a, F>(node: &'a Node, count: impl Fn(&'a Store) -> F) -> Result<i64, Failed>
where
    F: Future<Output = Result<i64, Failed>>,
{
    Ok(each(node, count).await?.into_iter().sum())
}

/// The rows that `ask` finds in each cell in the order of `key`, which is the order of each cell's rows, and each row once.
pub async fn list<'a, T, K: Ord, F>(node: &'a Node, ask: impl Fn(&'a Store) -> F, key: impl Fn(&T) -> K) -> Result<Vec<T>, Failed>
where
    F: Future<Output = Result<Vec<T>, Failed>>,
{
    Ok(merge(each(node, ask).await?, key))
}

/// The rows of all cells in the order of `key`. Rows with the same key are one row: while a merchant moves, it is in two cells, and its
/// audit stays in both. The first cell that has it counts.
#[must_use]
pub fn merge<T, K: Ord>(of_cells: Vec<Vec<T>>, key: impl Fn(&T) -> K) -> Vec<T> {
    let several = of_cells.len() > 1;
    let mut rows: Vec<T> = of_cells.into_iter().flatten().collect();
    if several {
        rows.sort_by_cached_key(&key);
        rows.dedup_by_key(|row| key(row));
    }
    rows
}

/// The pages of all cells as one, in the order of `key`. A page ends where its cell looked no further; rows that come after the first of
/// these places are left for the next page, because other cells may have rows before them.
#[must_use]
pub fn pages<T, K: Ord>(of_cells: Vec<(Vec<T>, Option<K>)>, key: impl Fn(&T) -> K) -> (Vec<T>, Option<K>) {
    let (rows, ends): (Vec<Vec<T>>, Vec<Option<K>>) = of_cells.into_iter().unzip();
    let end = ends.into_iter().flatten().min();
    let mut rows = merge(rows, &key);
    rows.retain(|row| end.as_ref().is_none_or(|end| key(row) <= *end));
    (rows, end)
}

/// The rows of each cell together with what stands for the cell.
#[must_use]
pub fn placed<C: Clone, T>(cells: impl IntoIterator<Item = C>, of_cells: Vec<Vec<T>>) -> Vec<Vec<(C, T)>> {
    let with = |(cell, rows): (C, Vec<T>)| rows.into_iter().map(|row| (cell.clone(), row)).collect();
    cells.into_iter().zip(of_cells).map(with).collect()
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use super::*;

    #[test]
    fn rows_of_cells_are_one_list_in_the_order_of_their_key() {
        assert_eq!(merge(vec![vec![1, 4, 6], vec![2, 4, 5]], |row| *row), [1, 2, 4, 5, 6]);
        assert_eq!(merge(vec![vec![6, 4, 1], vec![5, 2]], |row| Reverse(*row)), [6, 5, 4, 2, 1]);
    }

    #[test]
    fn the_rows_of_one_cell_stay_as_they_are() {
        assert_eq!(merge(vec![vec![3, 1, 1, 2]], |row| *row), [3, 1, 1, 2]);
    }

    #[test]
    fn a_page_of_all_cells_ends_where_the_first_cell_looked_no_further() {
        // The cell that ends at 3 may have rows before 7; the one that has no end has told all.
        let (rows, end) = pages(vec![(vec![1, 3], Some(3)), (vec![2, 7], Some(8)), (vec![4], None)], |row| *row);
        assert_eq!((rows, end), (vec![1, 2, 3], Some(3)));
        assert_eq!(pages(vec![(vec![1], None), (vec![2], None)], |row| *row), (vec![1, 2], None));
    }

    #[test]
    fn pages_of_cells_lead_through_all_rows_once() {
        // Odd rows are in one cell, even ones in the other, which examines fewer rows for a page.
        let page = |rows: Vec<u32>, after: u32, most: usize| {
            let rows: Vec<u32> = rows.into_iter().filter(|row| *row > after).collect();
            let end = (rows.len() > most).then(|| rows.get(most - 1).copied()).flatten();
            (rows.into_iter().take(most).collect(), end)
        };
        let (mut found, mut after) = (Vec::new(), 0);
        loop {
            let odd = page((1..40).step_by(2).collect(), after, 5);
            let even = page((2..20).step_by(2).collect(), after, 2);
            let (rows, end) = pages(vec![odd, even], |row| *row);
            found.extend(rows);
            match end {
                Some(end) => after = end,
                None => break,
            }
        }
        let all: Vec<u32> = (1..40).filter(|row| row % 2 == 1 || *row < 20).collect();
        assert_eq!(found, all);
    }
}
