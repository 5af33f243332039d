//! Shoppers in the portal: what they have shown, who acts for them, and the spellings of an order's number.

mod support;

use std::str::FromStr;

pub use self::support::{NoSupportName, SupportName};

/// The proof that an order is a shopper's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The order's e-mail address.
    Email,
    /// The order's postal code.
    Zip,
    /// A link that was sent to the order's e-mail address.
    Link,
    /// A link in a mail about one return. Mails are passed on, so it shows that return alone.
    ReturnLink,
    /// A link that the merchant made: the shopper is logged in to the shop, or support acts for them.
    Merchant,
}

impl Proof {
    const ALL: [Self; 5] = [Self::Email, Self::Zip, Self::Link, Self::ReturnLink, Self::Merchant];

    /// The stored word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Zip => "zip",
            Self::Link => "link",
            Self::ReturnLink => "return_link",
            Self::Merchant => "merchant",
        }
    }

    /// A label has the shopper's address on it. An e-mail address, or a mail about a return, does not show that it is theirs.
    #[must_use]
    pub const fn allows_address(self) -> bool {
        match self {
            Self::Email | Self::ReturnLink => false,
            Self::Zip | Self::Link | Self::Merchant => true,
        }
    }

    /// True if it shows that the whole order is theirs, and not one return alone.
    #[must_use]
    pub const fn allows_order(self) -> bool {
        match self {
            Self::ReturnLink => false,
            Self::Email | Self::Zip | Self::Link | Self::Merchant => true,
        }
    }
}

/// The text is not a [`Proof`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a proof")]
pub struct NoProof;

impl FromStr for Proof {
    type Err = NoProof;

    fn from_str(word: &str) -> Result<Self, NoProof> {
        Self::ALL.into_iter().find(|proof| proof.as_str() == word).ok_or(NoProof)
    }
}

/// The longest number that is looked up.
const LONGEST_NUMBER: usize = 255;

/// The identifiers that a shopper may mean by an order's number, the likeliest first: without spaces and `#`, in either case, with
/// the shop's `prefix` if they left it out, and with a `#` as some shops have it. Empty if it cannot be a number at all.
#[must_use]
pub fn spellings(typed: &str, prefix: Option<&str>) -> Vec<String> {
    let bare: String = typed.chars().filter(|letter| !letter.is_whitespace() && *letter != '#').collect();
    if bare.is_empty() || bare.chars().count() > LONGEST_NUMBER || bare.contains('\0') {
        return Vec::new();
    }
    let mut spellings: Vec<String> = Vec::new();
    let trimmed = typed.trim().to_owned();
    let cases = [bare.clone(), bare.to_uppercase(), bare.to_lowercase()];
    let marked = cases.clone().map(|number| format!("#{number}"));
    let prefixed = prefix.into_iter().flat_map(|prefix| cases.clone().map(|number| format!("{prefix}{number}")));
    let prefixed: Vec<String> = prefixed.collect();
    for spelling in [trimmed].into_iter().chain(cases).chain(prefixed).chain(marked) {
        if !spellings.contains(&spelling) {
            spellings.push(spelling);
        }
    }
    spellings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_found_in_any_case_with_or_without_spaces_and_hash() {
        for typed in ["DS-10482", "ds-10482", " #ds-10482 ", "DS- 10482", "# DS-10482"] {
            assert!(spellings(typed, None).contains(&"DS-10482".to_owned()), "{typed}");
            assert!(spellings(typed, None).contains(&"#DS-10482".to_owned()), "{typed}");
        }
        assert!(spellings("Order 7", None).contains(&"Order 7".to_owned()), "an identifier with a space is found as it is");
        assert!(spellings("abc", None).contains(&"abc".to_owned()));
        assert!(spellings(" 10482", Some("DS-")).contains(&"DS-10482".to_owned()), "the prefix may be left out");
        assert!(spellings("ds-10482", Some("DS-")).contains(&"DS-10482".to_owned()), "and it may be there");
    }

    #[test]
    fn what_cannot_be_a_number_has_no_spelling() {
        for typed in ["", "  ", "#", "a\0b"] {
            assert_eq!(spellings(typed, None), Vec::<String>::new(), "{typed:?}");
        }
        assert!(spellings(&"9".repeat(256), None).is_empty());
        assert!(!spellings(&"9".repeat(255), None).is_empty());
    }

    #[test]
    fn every_proof_is_read_as_it_is_stored() {
        for proof in Proof::ALL {
            assert_eq!(proof.as_str().parse(), Ok(proof));
        }
        assert_eq!("phone".parse::<Proof>(), Err(NoProof));
        assert!(!Proof::Email.allows_address() && Proof::Zip.allows_address() && Proof::Link.allows_address());
        assert!(!Proof::ReturnLink.allows_address() && !Proof::ReturnLink.allows_order() && Proof::Email.allows_order());
        assert!(Proof::Merchant.allows_address() && Proof::Merchant.allows_order());
    }
}
