//! Counts of the warnings that merchants were told, until they are added to those of the day.
//!
//! They are counted here, and not in the transaction of the order, so that no order waits for a row that others count in. A process that
//! is killed loses those of the last seconds.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::NaiveDate;
use domain::id::MerchantId;
use wire::fault::Warning;

/// Warnings by day and field.
pub type Counts = BTreeMap<(NaiveDate, String), i64>;

/// Warnings that are not stored yet.
#[derive(Default)]
pub struct Warned(Mutex<HashMap<MerchantId, Counts>>);

impl Warned {
    /// Counts warnings of `merchant`.
    pub(crate) fn note(&self, merchant: MerchantId, day: NaiveDate, warnings: &[Warning]) {
        if warnings.is_empty() {
            return;
        }
        let mut all = self.lock();
        let counts = all.entry(merchant).or_default();
        for warning in warnings {
            *counts.entry((day, warning.kind())).or_default() += 1;
        }
    }

    /// Takes the counts of one merchant. They come back unless they are [`Taken::stored`].
    pub(crate) fn take(&self) -> Option<Taken<'_>> {
        let mut all = self.lock();
        let merchant = *all.keys().next()?;
        let counts = all.remove(&merchant)?;
        Some(Taken { warned: self, merchant, counts })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<MerchantId, Counts>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The counts of one merchant, on their way to the database.
pub struct Taken<'w> {
    warned: &'w Warned,
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
        let mut all = self.warned.lock();
        let counts = all.entry(self.merchant).or_default();
        for (kind, count) in std::mem::take(&mut self.counts) {
            *counts.entry(kind).or_default() += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn counts_that_were_not_stored_come_back() {
        let warned = Warned::default();
        let (merchant, day) = (MerchantId(Uuid::nil()), NaiveDate::default());
        let warning = |at: usize| Warning { field: format!("returns_portal_order.orders[{at}].tax_amount_cents"), message: String::new() };
        warned.note(merchant, day, &[warning(0), warning(7)]);
        warned.note(merchant, day, &[]);
        drop(warned.take());
        warned.note(merchant, day, &[warning(1)]);
        let taken = warned.take().expect("something was counted");
        assert_eq!(taken.counts, Counts::from([((day, "tax_amount_cents".to_owned()), 3)]));
        taken.stored();
        assert!(warned.take().is_none());
    }
}
