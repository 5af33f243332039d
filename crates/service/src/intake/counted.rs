//! Counts of what was taken in, until they are added to those of the day.
//!
//! They are counted here, and not in the transaction of the order, so that no order waits for a row that others count in. A process that
//! is killed loses those of the last seconds.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::NaiveDate;
use domain::id::MerchantId;

/// What is counted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// An order, by what became of it.
    Order(&'static str),
    /// An order message, by whether it was taken.
    Message(&'static str),
    /// A warning, by the field that it is about.
    Warning(String),
}

impl What {
    pub(crate) const TAKEN: Self = Self::Message("taken");
    pub(crate) const REFUSED: Self = Self::Message("refused");
}

/// Counts by day.
pub type Counts = BTreeMap<(NaiveDate, What), i64>;

/// Counts that are not stored yet.
#[derive(Default)]
pub struct Counted(Mutex<HashMap<MerchantId, Counts>>);

impl Counted {
    /// Counts what `merchant` sent.
    pub(crate) fn note(&self, merchant: MerchantId, day: NaiveDate, counted: impl IntoIterator<Item = (What, i64)>) {
        let mut all = self.lock();
        let counts = all.entry(merchant).or_default();
        for (what, count) in counted {
            *counts.entry((day, what)).or_default() += count;
        }
    }

    /// Takes the counts of one merchant. They come back unless they are [`Taken::stored`].
    pub(crate) fn take(&self) -> Option<Taken<'_>> {
        let mut all = self.lock();
        let merchant = *all.keys().next()?;
        let counts = all.remove(&merchant)?;
        Some(Taken { counted: self, merchant, counts })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<MerchantId, Counts>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The counts of one merchant, on their way to the database.
pub struct Taken<'c> {
    counted: &'c Counted,
    pub(crate) merchant: MerchantId,
    pub(crate) counts: Counts,
}

impl Taken<'_> {
    /// They are stored, and not counted again.
    pub(crate) fn stored(mut self) {
        self.counts.clear();
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if self.counts.is_empty() {
            return;
        }
        let mut all = self.counted.lock();
        let counts = all.entry(self.merchant).or_default();
        for (what, count) in std::mem::take(&mut self.counts) {
            *counts.entry(what).or_default() += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn counts_that_were_not_stored_come_back() {
        let counted = Counted::default();
        let (merchant, day) = (MerchantId(Uuid::nil()), NaiveDate::default());
        counted.note(merchant, day, [(What::Order("created"), 2), (What::TAKEN, 1)]);
        drop(counted.take());
        counted.note(merchant, day, [(What::Order("created"), 1)]);
        let taken = counted.take().expect("something was counted");
        assert_eq!(taken.counts, Counts::from([((day, What::Order("created")), 3), ((day, What::TAKEN), 1)]));
        taken.stored();
        assert!(counted.take().is_none());
    }
}
