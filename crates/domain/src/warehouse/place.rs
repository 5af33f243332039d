//! A merchant's warehouses and vendors.

use std::fmt;
use std::str::FromStr;

/// Maximum length of a warehouse id.
const LONGEST_ID: usize = 64;

/// Maximum length of a name, an identifier or a field of an address, in characters.
pub const LONGEST_WORD: usize = 255;

/// The internal id of a warehouse, such as `WH-1`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WarehouseId(String);

/// The text is not a valid [`WarehouseId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a warehouse id must be 1 to 64 letters, digits, hyphens or underscores")]
pub struct NoWarehouseId;

impl WarehouseId {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for WarehouseId {
    type Err = NoWarehouseId;

    fn from_str(text: &str) -> Result<Self, NoWarehouseId> {
        let spelled_right = text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if (1..=LONGEST_ID).contains(&text.len()) && spelled_right { Ok(Self(text.to_owned())) } else { Err(NoWarehouseId) }
    }
}

impl fmt::Display for WarehouseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The number of a vendor, from 1 for each merchant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VendorId(pub i64);

impl fmt::Display for VendorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The address of a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// The recipient.
    pub name: String,
    pub company: Option<String>,
    /// With the house number.
    pub street: String,
    pub street2: Option<String>,
    pub city: String,
    pub state: String,
    pub zip: String,
}

/// A warehouse of a merchant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warehouse {
    pub id: WarehouseId,
    pub name: String,
    /// The merchant's own identifier, if there is one.
    pub external_identifier: Option<String>,
    /// The merchant's identifier in stock transfers.
    pub stock_transfer_identifier: Option<String>,
    pub address: Address,
}

impl Warehouse {
    /// The identifier of the warehouse in messages, as a sending location.
    #[must_use]
    pub fn identifier(&self) -> &str {
        self.external_identifier.as_deref().unwrap_or(self.id.as_str())
    }
}

/// A vendor of a merchant, to whom goods are returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vendor {
    pub id: VendorId,
    pub name: String,
    pub address: Address,
}

/// A text of a place that is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} must be 1 to 255 characters, without NUL characters")]
pub struct NoWord(pub &'static str);

fn word(name: &'static str, text: &str) -> Result<(), NoWord> {
    let fits = (1..=LONGEST_WORD).contains(&text.chars().count()) && !text.contains('\0') && !text.trim().is_empty();
    if fits { Ok(()) } else { Err(NoWord(name)) }
}

impl Address {
    /// Checks that every text can be stored and sent.
    pub fn check(&self) -> Result<(), NoWord> {
        word("the name of an address", &self.name)?;
        word("a street", &self.street)?;
        word("a city", &self.city)?;
        word("a state", &self.state)?;
        word("a postal code", &self.zip)?;
        self.company.iter().try_for_each(|company| word("a company", company))?;
        self.street2.iter().try_for_each(|street| word("a second line of a street", street))
    }
}

impl Warehouse {
    /// Checks that every text can be stored and sent.
    pub fn check(&self) -> Result<(), NoWord> {
        word("a warehouse's name", &self.name)?;
        self.external_identifier.iter().try_for_each(|identifier| word("an external identifier", identifier))?;
        self.stock_transfer_identifier.iter().try_for_each(|identifier| word("a stock transfer identifier", identifier))?;
        self.address.check()
    }
}

impl Vendor {
    /// Checks that every text can be stored and sent.
    pub fn check(&self) -> Result<(), NoWord> {
        word("a vendor's name", &self.name)?;
        self.address.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address() -> Address {
        let word = |text: &str| text.to_owned();
        Address {
            name: word("Dock 4"),
            street: word("7 Dock Rd"),
            city: word("Reno"),
            state: word("NV"),
            zip: word("89501"),
            ..Address::default()
        }
    }

    #[test]
    fn an_id_of_a_warehouse_is_short_and_plain() {
        for good in ["1", "WH-1", "reno_2", &"w".repeat(LONGEST_ID)] {
            assert_eq!(good.parse::<WarehouseId>().map(|id| id.to_string()), Ok(good.to_owned()));
        }
        for bad in ["", "WH 1", "WH/1", "é", "a\0", &"w".repeat(LONGEST_ID + 1)] {
            assert_eq!(bad.parse::<WarehouseId>(), Err(NoWarehouseId), "{bad:?}");
        }
    }

    #[test]
    fn a_warehouse_is_called_what_the_merchants_systems_call_it() {
        let plain = Warehouse {
            id: WarehouseId("WH-1".to_owned()),
            name: "Reno".to_owned(),
            external_identifier: None,
            stock_transfer_identifier: None,
            address: address(),
        };
        assert_eq!((plain.identifier(), plain.check()), ("WH-1", Ok(())));
        let known = Warehouse { external_identifier: Some("0042".to_owned()), ..plain.clone() };
        assert_eq!((known.identifier(), known.check()), ("0042", Ok(())));
        let blank = Warehouse { external_identifier: Some(" ".to_owned()), ..plain.clone() };
        assert_eq!(blank.check(), Err(NoWord("an external identifier")));
        let blank = Warehouse { stock_transfer_identifier: Some(String::new()), ..plain.clone() };
        assert_eq!(blank.check(), Err(NoWord("a stock transfer identifier")));
        assert_eq!(Warehouse { name: String::new(), ..plain.clone() }.check(), Err(NoWord("a warehouse's name")));
        assert_eq!(Warehouse { address: Address::default(), ..plain }.check(), Err(NoWord("the name of an address")));
    }

    #[test]
    fn a_vendor_is_called_by_its_number_and_every_word_of_it_is_checked() {
        let vendor = Vendor { id: VendorId(17), name: "Bolt Co".to_owned(), address: address() };
        assert_eq!((vendor.id.to_string().as_str(), vendor.check()), ("17", Ok(())));
        assert_eq!(Vendor { name: String::new(), ..vendor.clone() }.check(), Err(NoWord("a vendor's name")));
        assert_eq!(Vendor { address: Address::default(), ..vendor }.check(), Err(NoWord("the name of an address")));
    }

    #[test]
    fn every_word_of_an_address_is_there_and_can_be_kept() {
        assert_eq!(address().check(), Ok(()));
        let full = Address { company: Some("Acme".to_owned()), street2: Some("Hall B".to_owned()), ..address() };
        assert_eq!(full.check(), Ok(()));
        for wrong in ["", "  ", "a\0b", &"x".repeat(LONGEST_WORD + 1)] {
            let wrong = || wrong.to_owned();
            assert_eq!(Address { zip: wrong(), ..address() }.check(), Err(NoWord("a postal code")));
            assert_eq!(Address { company: Some(wrong()), ..address() }.check(), Err(NoWord("a company")));
        }
        assert_eq!(Address { zip: "x".repeat(LONGEST_WORD), ..address() }.check(), Ok(()));
    }
}
