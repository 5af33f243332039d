//! The place of a test's data: a cell of the cluster that `scripts/citus` has started, or a database without one.

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, PgConnection};
use store::{PoolLimits, Store};

use super::cluster::Cell;
use super::database;

pub enum Place {
    Cell(Cell),
    Database(Box<PgConnectOptions>),
}

impl Place {
    /// Creates a migrated database named after `of`.
    pub async fn create(of: &str) -> Self {
        match Cell::create(of).await {
            Some(cell) => Self::Cell(cell),
            None => Self::Database(Box::new(database::create(of).await)),
        }
    }

    pub fn store(&self, limits: PoolLimits) -> Store {
        match self {
            Self::Cell(cell) => cell.store_with(limits),
            Self::Database(options) => Store::new(options.to_url_lossy().as_str(), limits).unwrap(),
        }
    }

    /// A connection beside the store's.
    pub async fn connect(&self) -> PgConnection {
        match self {
            Self::Cell(cell) => cell.connect_to_holder().await,
            Self::Database(options) => options.connect().await.unwrap(),
        }
    }
}
