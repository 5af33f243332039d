//! What a transaction has still to write of a return.

use domain::id::MerchantId;
use sqlx::{Error, PgConnection};

use super::rma_changes::Change;
use super::rma_starts::Start;

/// A new or changed return that waits for the next statement of its transaction.
pub(crate) enum Write {
    Start(Box<Start>),
    Change(Box<Change>),
}

impl Write {
    /// Writes it on its own.
    pub(crate) async fn run(&self, connection: &mut PgConnection, merchant: MerchantId) -> Result<(), Error> {
        match self {
            Self::Start(start) => start.write(connection, merchant).await,
            Self::Change(change) => change.write(connection, merchant).await,
        }
    }
}
