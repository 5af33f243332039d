//! The directory of cells in memory: the cell of each merchant that was asked for lately.
//!
//! The heartbeat compares how often the directory in the first cell was changed, and when that differs, everything is looked up again.
//! What is remembered may be a second old, then. A merchant that has moved meanwhile is written nowhere in that second: its old cell
//! refuses.

use std::hash::Hash;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use domain::id::{Handle, MerchantId};
use quick_cache::sync::Cache;
use store::node::directory;
use store::{Failed, Store};

use super::cell::Cell;

/// The most merchants, and the most handles, that are remembered, whether somebody has them or not.
const MOST_REMEMBERED: usize = 100_000;

/// The cells of merchants that were asked for lately.
pub struct Directory {
    merchants: Cache<MerchantId, Remembered>,
    handles: Cache<Handle, Remembered>,
    /// The number of times that everything was outdated. A look-up is trusted as long as this stays what it was when it began.
    era: AtomicU64,
    /// The changes of the stored directory, as far as this process knows.
    generation: AtomicI64,
}

#[derive(Clone, Copy)]
struct Remembered {
    /// The number of the cell among those of the process.
    cell: usize,
    era: u64,
}

impl Default for Directory {
    fn default() -> Self {
        let (merchants, handles) = (Cache::new(MOST_REMEMBERED), Cache::new(MOST_REMEMBERED));
        Self { merchants, handles, era: AtomicU64::default(), generation: AtomicI64::new(-1) }
    }
}

impl Directory {
    /// The number of the merchant's cell among `cells`, the first of which has the directory.
    pub(super) async fn find(&self, cells: &[Cell], merchant: MerchantId) -> Result<usize, Failed> {
        let Some(home) = home(cells) else { return Ok(0) };
        let (era, known) = (self.era.load(Ordering::SeqCst), self.merchants.get(&merchant));
        if let Some(cell) = still_true(known, era) {
            return Ok(cell);
        }
        let asked = directory::cell_of(home, merchant).await;
        learn(&self.merchants, merchant, known, era, number_of(cells, asked))
    }

    /// The number of the cell of the merchant with this handle. Merchants without a place live in the first cell, if there are any.
    pub(super) async fn find_by_handle(&self, cells: &[Cell], handle: &Handle) -> Result<usize, Failed> {
        let Some(home) = home(cells) else { return Ok(0) };
        let (era, known) = (self.era.load(Ordering::SeqCst), self.handles.get(handle));
        if let Some(cell) = still_true(known, era) {
            return Ok(cell);
        }
        let asked = directory::find(home, handle).await.map(|found| found.map(|place| place.cell));
        learn(&self.handles, handle.clone(), known, era, number_of(cells, asked))
    }

    /// Forgets where a merchant lives, because it has just turned out to live elsewhere.
    pub(super) fn forget(&self, merchant: MerchantId) {
        self.merchants.remove(&merchant);
    }

    /// Looks whether the directory has changed, and looks everything up again if it has.
    pub async fn renew(&self, home: &Store) -> Result<(), Failed> {
        let generation = directory::generation(home).await?;
        if self.generation.swap(generation, Ordering::SeqCst) != generation {
            self.era.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    }
}

/// The cell that is remembered, unless the directory has changed since.
fn still_true(known: Option<Remembered>, era: u64) -> Option<usize> {
    known.filter(|known| known.era == era).map(|known| known.cell)
}

/// The number of the cell that the directory names; that of the first one if it names none.
fn number_of(cells: &[Cell], asked: Result<Option<String>, Failed>) -> Result<usize, Failed> {
    match asked? {
        Some(name) => cells.iter().position(|cell| cell.name() == name).ok_or(Failed::UnknownCell(name)),
        None => Ok(0),
    }
}

/// Remembers what was looked up. While the first cell is out of reach, what was known before is used, so that the other cells go on
/// working: whoever has moved is refused where it was.
fn learn<K: Eq + Hash>(
    cache: &Cache<K, Remembered>,
    key: K,
    known: Option<Remembered>,
    era: u64,
    found: Result<usize, Failed>,
) -> Result<usize, Failed> {
    match (found, known) {
        (Ok(cell), _) => {
            cache.insert(key, Remembered { cell, era });
            Ok(cell)
        }
        (Err(failed), Some(known)) if failed.is_outage() => Ok(known.cell),
        (Err(failed), _) => Err(failed),
    }
}

/// What one of several cells was asked for and has. While none has it and some do not answer, nobody knows.
pub fn first_found<T>(answers: Vec<Result<Option<T>, Failed>>) -> Result<Option<T>, Failed> {
    let mut nothing = Ok(None);
    for answer in answers {
        match answer {
            Ok(Some(found)) => return Ok(Some(found)),
            Ok(None) => {}
            Err(failed) => nothing = Err(failed),
        }
    }
    nothing
}

/// The cell that has the directory, if there are several.
pub(super) fn home(cells: &[Cell]) -> Option<&Store> {
    cells.first().filter(|_| cells.len() > 1).map(|home| &home.store)
}
