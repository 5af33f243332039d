//! The phone number that shoppers can turn to.

use std::ops::RangeInclusive;

/// The fewest and most digits of a phone number (the longest of E.164).
const DIGITS: RangeInclusive<usize> = 3..=15;
/// The most characters, with the marks between the digits.
const LONGEST: usize = 30;

/// True for a phone number as people write it.
#[must_use]
pub fn is_phone(text: &str) -> bool {
    let local = text.strip_prefix('+').unwrap_or(text);
    let digits = local.bytes().filter(u8::is_ascii_digit).count();
    DIGITS.contains(&digits) && text.len() <= LONGEST && local.bytes().all(|byte| byte.is_ascii_digit() || b" ()-./".contains(&byte))
}

/// A phone number as it is dialled. The trunk prefix in brackets is for callers in the same country only.
#[must_use]
pub fn dialled(phone: &str) -> String {
    let phone = if phone.starts_with('+') { phone.replacen("(0)", "", 1) } else { phone.to_owned() };
    phone.chars().filter(|letter| letter.is_ascii_digit() || *letter == '+').collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_phone_number_is_digits_and_the_usual_marks() {
        for phone in ["+353 1 555 0100", "112", "(01) 555-0100", "+49 (0)30 555.01/00"] {
            assert!(is_phone(phone), "{phone}");
        }
        for phone in ["12", "call us", "1 555 0100+", "++1 555", "+1 555 0100 0100 0100 0", "555\u{a0}0100", "<b>112</b>"] {
            assert!(!is_phone(phone), "{phone}");
        }
        assert_eq!(["+353 1 555 0100", "+49 (0)30 555", "(01) 555"].map(dialled), ["+35315550100", "+4930555", "01555"]);
    }

    proptest! {
        #[test]
        fn a_number_that_is_dialled_is_digits(phone in "\\+?[0-9 ()./-]{1,29}") {
            prop_assume!(is_phone(&phone));
            let dialled = dialled(&phone);
            prop_assert!(dialled.strip_prefix('+').unwrap_or(&dialled).bytes().all(|byte| byte.is_ascii_digit()), "{dialled}");
        }
    }
}
