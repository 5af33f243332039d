//! Terms that inbound and outbound ASNs have in common.

use crate::returns::rma::word::words;

/// Maximum length of an ASN number.
pub const LONGEST_NUMBER: usize = 255;

/// Checks an ASN number: letters, digits, hyphens and underscores.
#[must_use]
pub fn is_number(text: &str) -> bool {
    (1..=LONGEST_NUMBER).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

words! {
    /// The condition of a unit, as graded by the warehouse.
    Condition, "condition" {
        N = "N",
        A = "A",
        R = "R",
        B = "B",
        Tt = "TT",
        C = "C",
        X = "X",
    }
}

words! {
    /// The type of thing that a carton or its units belong to.
    ReferenceType, "type of a reference" {
        StockTransferOrder = "StockTransferOrder",
        /// A return authorisation.
        Ra = "RA",
        /// A return.
        Rma = "RMA",
        /// An order shipped to a shopper.
        ForwardOrder = "ForwardOrder",
        ReturnsPortalOrder = "ReturnsPortalOrder",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_plain_and_not_too_long() {
        for good in ["A", "A-1_b", &"a".repeat(255)] {
            assert!(is_number(good), "{good}");
        }
        for bad in ["", "A 1", "A/1", "é", "a\0", &"a".repeat(256)] {
            assert!(!is_number(bad), "{bad:?}");
        }
    }

    #[test]
    fn every_word_is_read_back() {
        for condition in Condition::ALL {
            assert_eq!(condition.as_str().parse(), Ok(*condition));
        }
        for kind in ReferenceType::ALL {
            assert_eq!(kind.as_str().parse(), Ok(*kind));
        }
        assert!("n".parse::<Condition>().is_err() && "rma".parse::<ReferenceType>().is_err());
        assert_eq!(Condition::ALL.iter().map(|condition| condition.as_str()).collect::<Vec<_>>(), ["N", "A", "R", "B", "TT", "C", "X"]);
    }
}
