//! Checks that statements use their indexes, and measures their cost.

use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, PgConnection};
use store::{PoolLimits, PoolSizes, Store};

use crate::explained::{self, ALL, Explained};

/// The maximum number of pages for a page of a list, or for a few statements of a flow.
const MOST_PAGES: u64 = 500;
/// The maximum number of pages per item, for statements about many items.
const MOST_PAGES_EACH: u64 = 40;
/// The maximum number of rows that a statement may sort.
const MOST_SORTED: u64 = 1_000;

/// The measurements.
pub struct Ledger {
    explained: Explained,
    pub statements: usize,
    pub most_sorted: u64,
    pub most_pages: u64,
}

impl Ledger {
    /// Opens the store on a database that has been filled.
    pub async fn open(options: &PgConnectOptions, beside: &mut PgConnection) -> (Store, Self) {
        explained::switch_on(beside, options.get_database().unwrap()).await;
        let patience = Duration::from_mins(10);
        // One connection, so that it keeps its plans.
        let limits = PoolLimits {
            sizes: PoolSizes { flows: 1, engine: 10, readers: 4, feed: 4, apart: 4, tokens: 1 },
            acquire: patience,
            statement: patience,
            lock: patience,
            console: 0,
        };
        let store = Store::new(options.to_url_lossy().as_str(), limits).unwrap();
        (store, Self { explained: Explained::listen(), statements: 0, most_sorted: 0, most_pages: 0 })
    }

    /// Checks that everything since the last call used indexes. Returns the number of pages touched.
    pub fn by_indexes(&mut self, what: &str) -> u64 {
        let plans = self.explained.take();
        assert!(!plans.is_empty(), "{what}: no plan was reported");
        for plan in &plans {
            let whole = plan.scans().into_iter().find(|scan| scan.starts_with(ALL));
            assert_eq!(whole, None, "{what}: {plan:?}");
            self.most_sorted = self.most_sorted.max(plan.most_sorted());
            assert!(plan.most_sorted() <= MOST_SORTED, "{what}: {plan:?}");
        }
        self.statements += plans.len();
        plans.iter().map(explained::Plan::pages).sum()
    }

    /// Checks that everything since the last call used indexes and few pages, and records the cost.
    pub fn page(&mut self, what: &str) {
        let touched = self.by_indexes(what);
        self.most_pages = self.most_pages.max(touched);
        assert!(touched <= MOST_PAGES, "{what}: {touched} pages");
    }

    /// Checks that everything since the last call used indexes, and few pages for each of `many` items.
    pub fn for_each(&mut self, many: u64, what: &str) {
        let touched = self.by_indexes(what);
        assert!(touched <= many * MOST_PAGES_EACH, "{what}: {touched} pages");
    }
}
