//! A cell: the database, or the schema of a database, that holds everything of many merchants.

use store::{Failed, PoolLimits, Store};

use crate::platform::config::CellAddress;

/// A cell, and the way to it; cheap to clone.
#[derive(Clone)]
pub struct Cell {
    pub address: CellAddress,
    pub store: Store,
}

impl Cell {
    /// The cell at this address. It does not connect to anything yet. Fails with the name of the setting.
    pub fn open(address: CellAddress, limits: PoolLimits) -> Result<Self, (String, Failed)> {
        // The first cell stays as it was when there were no others, so that versions without cells hear its signals.
        let opened =
            if address.is_home() { Store::new(address.url(), limits) } else { Store::of_cell(&address.name, address.url(), limits) };
        match opened {
            Ok(store) => Ok(Self { address, store }),
            Err(failed) if address.is_home() => Err(("database.url".to_owned(), failed)),
            Err(failed) => Err((format!("cells: the url of `{}`", address.name), failed)),
        }
    }

    /// The cell's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.address.name
    }

    /// The cell's name where things of other cells are told from those of the first one, which are not named.
    #[must_use]
    pub fn label(&self) -> Option<&str> {
        (!self.is_home()).then(|| self.name())
    }

    /// The words for its database in messages.
    #[must_use]
    pub fn told(&self) -> String {
        if self.is_home() { "the database".to_owned() } else { format!("the database of the cell `{}`", self.name()) }
    }

    /// True for the first cell, which also holds what belongs to no merchant.
    #[must_use]
    pub fn is_home(&self) -> bool {
        self.address.is_home()
    }
}
