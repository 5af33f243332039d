//! The access that a credential gives.

use std::fmt;
use std::str::FromStr;

/// A kind of access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// All routes but those for warehouses and carriers.
    Orders,
    Warehouse,
    Carrier,
}

/// The text is not a [`Scope`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a scope must be one of `orders`, `warehouse`, `carrier`")]
pub struct NoScope;

impl Scope {
    /// Every scope, in written order.
    pub const ALL: [Self; 3] = [Self::Orders, Self::Warehouse, Self::Carrier];

    /// The name on the wire and in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Orders => "orders",
            Self::Warehouse => "warehouse",
            Self::Carrier => "carrier",
        }
    }

    const fn bit(self) -> u8 {
        match self {
            Self::Orders => 1,
            Self::Warehouse => 2,
            Self::Carrier => 4,
        }
    }
}

impl FromStr for Scope {
    type Err = NoScope;

    fn from_str(text: &str) -> Result<Self, NoScope> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text).ok_or(NoScope)
    }
}

/// A set of scopes, written with spaces in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scopes(u8);

impl Scopes {
    /// Every scope.
    #[must_use]
    pub fn all() -> Self {
        Scope::ALL.into_iter().collect()
    }

    /// True if the set contains `scope`.
    #[must_use]
    pub const fn allow(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// True if the set contains no scope.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The scopes, in written order.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.allow(*scope))
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |set, scope| set | scope.bit()))
    }
}

impl FromStr for Scopes {
    type Err = NoScope;

    fn from_str(text: &str) -> Result<Self, NoScope> {
        text.split_ascii_whitespace().map(Scope::from_str).collect()
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, scope) in self.iter().enumerate() {
            if n > 0 {
                f.write_str(" ")?;
            }
            f.write_str(scope.as_str())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_written_and_read_back() {
        assert_eq!(Scopes::all().to_string(), "orders warehouse carrier");
        assert_eq!("carrier orders".parse::<Scopes>().map(|s| s.to_string()), Ok("orders carrier".to_owned()));
        assert_eq!("orders admin".parse::<Scopes>(), Err(NoScope));
        assert_eq!("orders orders".parse::<Scopes>().map(|s| s.to_string()), Ok("orders".to_owned()), "a scope twice is the scope once");
    }

    #[test]
    fn a_scope_opens_itself_alone() {
        for scope in Scope::ALL {
            let narrow: Scopes = [scope].into_iter().collect();
            assert!(Scope::ALL.into_iter().all(|other| narrow.allow(other) == (other == scope)));
        }
    }
}
