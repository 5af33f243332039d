//! A statement that waits for the next one of its connection.
//!
//! It saves a round trip where the next statement can do its work as well: then that takes it over. In every other case it runs
//! first, so statements take effect in the order in which they were given.

use futures::future::BoxFuture;
use sqlx::{Error, PgConnection};

/// A statement that waits.
pub(crate) type Deferred = Box<dyn for<'c> FnOnce(&'c mut PgConnection) -> BoxFuture<'c, Result<(), Error>> + Send + Sync>;
