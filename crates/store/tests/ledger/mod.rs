//! Holds statements to their indexes, and counts what they cost.

use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, PgConnection};
use store::{PoolLimits, Store};

use crate::explained::{self, ALL, Explained};

/// The most pages that a page of a list, or a few statements of a flow, may touch.
const MOST_PAGES: u64 = 500;
/// The most pages for each of many things that a statement is about.
const MOST_PAGES_EACH: u64 = 40;
/// The most rows that a statement may sort.
const MOST_SORTED: u64 = 1_000;

/// What was measured.
pub struct Ledger {
    explained: Explained,
    pub statements: usize,
    pub most_sorted: u64,
    pub most_pages: u64,
}

impl Ledger {
    /// For a database that is filled, and the store whose statements are held to it.
    pub async fn open(options: &PgConnectOptions, beside: &mut PgConnection) -> (Store, Self) {
        explained::switch_on(beside, options.get_database().unwrap()).await;
        let patience = Duration::from_mins(10);
        // One connection, so that it keeps its plans.
        let limits = PoolLimits { connections: 1, acquire: patience, statement: patience, lock: patience };
        let store = Store::new(options.to_url_lossy().as_str(), limits).unwrap();
        (store, Self { explained: Explained::listen(), statements: 0, most_sorted: 0, most_pages: 0 })
    }

    /// Holds what ran since the last time to its indexes, and answers the pages that it touched.
    pub fn by_indexes(&mut self, what: &str) -> u64 {
        let plans = self.explained.take();
        assert!(!plans.is_empty(), "{what}: nothing was told");
        for plan in &plans {
            let whole = plan.scans().into_iter().find(|scan| scan.starts_with(ALL));
            assert_eq!(whole, None, "{what}: {plan:?}");
            self.most_sorted = self.most_sorted.max(plan.most_sorted());
            assert!(plan.most_sorted() <= MOST_SORTED, "{what}: {plan:?}");
        }
        self.statements += plans.len();
        plans.iter().map(explained::Plan::pages).sum()
    }

    /// Holds what ran since the last time to its indexes and to few pages, and takes down what it has cost.
    pub fn page(&mut self, what: &str) {
        let touched = self.by_indexes(what);
        self.most_pages = self.most_pages.max(touched);
        assert!(touched <= MOST_PAGES, "{what}: {touched} pages");
    }

    /// Holds what ran since the last time to its indexes, and to a few pages for each of `many`.
    pub fn for_each(&mut self, many: u64, what: &str) {
        let touched = self.by_indexes(what);
        assert!(touched <= many * MOST_PAGES_EACH, "{what}: {touched} pages");
    }
}
