//! The things that units are scanned for.

/// The prefix of a return's key. No ASN number contains a space.
const RETURN: &str = "rma ";
/// The prefix of an unknown parcel's key.
const PARCEL: &str = "tracking ";

/// The ASN or the return that a unit is scanned for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target<'a> {
    /// The number of an ASN.
    Asn(&'a str),
    /// The identifier of a return.
    Return(&'a str),
    /// The tracking number on a parcel, as long as its return is not known.
    Parcel(&'a str),
}

impl<'a> Target<'a> {
    /// The text that it is stored as.
    #[must_use]
    pub fn key(self) -> String {
        match self {
            Self::Asn(number) => number.to_owned(),
            Self::Return(identifier) => format!("{RETURN}{identifier}"),
            Self::Parcel(number) => format!("{PARCEL}{number}"),
        }
    }

    /// Reads a stored text.
    #[must_use]
    pub fn of_key(key: &'a str) -> Self {
        match (key.strip_prefix(RETURN), key.strip_prefix(PARCEL)) {
            (Some(identifier), _) => Self::Return(identifier),
            (None, Some(number)) => Self::Parcel(number),
            (None, None) => Self::Asn(key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_unit_was_scanned_for_is_read_back() {
        for target in [Target::Asn("A-1"), Target::Asn("rma"), Target::Return("R-2222-2222"), Target::Parcel("1Z 999")] {
            assert_eq!(Target::of_key(&target.key()), target);
        }
    }
}
