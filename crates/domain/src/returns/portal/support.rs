//! The name of a person at the merchant who acts for a shopper.

use std::fmt;
use std::str::FromStr;

/// The name of a person at the merchant who acts for a shopper, as the audit and the pages show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SupportName(String);

impl SupportName {
    /// The most characters of a name.
    pub const LONGEST: usize = 100;

    /// The name as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The actor in the audit.
    #[must_use]
    pub fn actor(&self) -> String {
        format!("support: {self}")
    }
}

impl fmt::Display for SupportName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text is not a [`SupportName`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a name must have 1 to {} characters, and no control characters", SupportName::LONGEST)]
pub struct NoSupportName;

impl FromStr for SupportName {
    type Err = NoSupportName;

    fn from_str(text: &str) -> Result<Self, NoSupportName> {
        let fits = !text.trim().is_empty() && text.chars().count() <= Self::LONGEST && !text.contains(char::is_control);
        if fits { Ok(Self(text.to_owned())) } else { Err(NoSupportName) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_neither_empty_nor_long_and_stays_on_one_line() {
        for name in ["Kim", "Zoë O’Neill", "李", &"é".repeat(100)] {
            assert_eq!(name.parse::<SupportName>().map(|name| name.to_string()).as_deref(), Ok(name));
        }
        for text in ["", " ", "\u{a0}", "Kim\nshopper", "\u{7f}", &"é".repeat(101)] {
            assert_eq!(text.parse::<SupportName>(), Err(NoSupportName), "{text:?}");
        }
        assert_eq!("Kim".parse::<SupportName>().map(|name| name.actor()).as_deref(), Ok("support: Kim"));
    }
}
