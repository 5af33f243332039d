//! The settings of the database.

use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use store::{PoolLimits, PoolSizes};

/// The PostgreSQL connection.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Database {
    /// A secret because it may contain a password.
    url: SecretString,
    /// The connections of this process, divided among its pools.
    #[serde(deserialize_with = "sizes")]
    pub connections: PoolSizes,
    acquire_timeout_ms: u64,
    statement_timeout_ms: u64,
    lock_timeout_ms: u64,
    /// A connection to another machine may be unencrypted, or encrypted without verifying the server.
    pub allow_insecure: bool,
    pub durability: Durability,
}

/// Who answers for the storage below the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// The server's settings, which are checked.
    Checked,
    /// The provider, whose storage needs neither `fsync` nor `full_page_writes`.
    Provider,
}

fn sizes<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<PoolSizes, D::Error> {
    let connections = u32::deserialize(deserializer)?;
    PoolSizes::divide(connections).ok_or_else(|| {
        serde::de::Error::custom(format!(
            "database.connections is {connections}, but a process needs at least {} connections for its pools",
            PoolSizes::FEWEST
        ))
    })
}

impl Database {
    /// The database's URL.
    #[must_use]
    pub fn url(&self) -> &str {
        self.url.expose_secret()
    }

    /// Replaces the database's URL.
    pub fn set_url(&mut self, url: &str) {
        self.url = url.into();
    }

    /// The limits of the connection pools, without the console's.
    #[must_use]
    pub fn limits(&self) -> PoolLimits {
        PoolLimits {
            sizes: self.connections,
            acquire: Duration::from_millis(self.acquire_timeout_ms),
            statement: self.statement_timeout(),
            lock: Duration::from_millis(self.lock_timeout_ms),
            console: 0,
        }
    }

    /// The longest time in which a caller who waits for the database has an answer.
    #[must_use]
    pub fn answer_timeout(&self) -> Duration {
        self.statement_timeout() + store::MARGIN
    }

    /// The longest run time of a statement.
    #[must_use]
    pub fn statement_timeout(&self) -> Duration {
        Duration::from_millis(self.statement_timeout_ms)
    }
}
