//! The identifier of a return, made to be read out over the phone.

use std::fmt;
use std::str::FromStr;

/// `R-XXXX-XXXX`. It is random, so it cannot be guessed from another one. The store makes sure that it is unique among a
/// merchant's returns.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identifier(String);

/// The text is not a valid [`Identifier`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a return identifier must look like R-7KQ4-XM92")]
pub struct NoIdentifier;

/// At most one of each group of characters that look alike (0 O D, 1 I L, 2 Z, 5 S, 6 G, 8 B, U V) or sound alike (8 A, K J, M N,
/// C Z, F S, T D, P B V E). No `R`, which is the prefix, and no vowels, so that no words appear.
const ALPHABET: [char; 19] = ['2', '3', '4', '5', '6', '7', '8', '9', 'C', 'F', 'H', 'K', 'M', 'P', 'Q', 'T', 'W', 'X', 'Y'];
const LENGTH: usize = 8;

impl Identifier {
    /// Makes an identifier from 64 random bits.
    #[must_use]
    pub fn from_random(mut bits: u64) -> Self {
        let mut letter = || {
            let at = usize::try_from(bits % 19).ok()?;
            bits /= 19;
            ALPHABET.get(at).copied()
        };
        let letters: Vec<char> = (0..LENGTH).filter_map(|_| letter()).collect();
        Self::of(&letters)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn of(letters: &[char]) -> Self {
        let (first, second) = letters.split_at(letters.len() / 2);
        Self(format!("R-{}-{}", first.iter().collect::<String>(), second.iter().collect::<String>()))
    }
}

impl FromStr for Identifier {
    type Err = NoIdentifier;

    /// Ignores case, spaces and dashes; the leading `R` is optional.
    fn from_str(text: &str) -> Result<Self, NoIdentifier> {
        let dashes = ['-', '\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2212}', '_'];
        let said = text.chars().filter(|c| !c.is_whitespace() && !dashes.contains(c)).map(|c| c.to_ascii_uppercase());
        // A longer text is invalid anyway; its end can be ignored.
        let mut letters: Vec<char> = said.take(LENGTH + 2).collect();
        if letters.len() == LENGTH + 1 && letters.first() == Some(&'R') {
            letters.remove(0);
        }
        let spelled_right = letters.len() == LENGTH && letters.iter().all(|letter| ALPHABET.contains(letter));
        if spelled_right { Ok(Self::of(&letters)) } else { Err(NoIdentifier) }
    }
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_in_a_name_looks_or_sounds_like_another() {
        for confusable in ["0OD", "1IL", "2Z", "5S", "6G", "8B", "UV", "A8", "JK", "MN", "CZ", "FS", "TD", "PBVE"] {
            let kept = confusable.chars().filter(|letter| ALPHABET.contains(letter)).count();
            assert!(kept <= 1, "{confusable}");
        }
        assert!(!ALPHABET.contains(&'R'), "else a name without its last letter would be another name");
        assert_eq!(HashSet::from(ALPHABET).len(), ALPHABET.len());
    }

    #[test]
    fn a_name_is_read_however_it_is_typed() {
        let name: Identifier = "R-7KQ4-XM92".parse().expect("a name");
        assert_eq!(name.as_str(), "R-7KQ4-XM92");
        for typed in ["r-7kq4-xm92", "R7KQ4XM92", " r 7kq4 xm92 ", "7kq4-xm92", "R\u{2013}7KQ4\u{2014}XM92", "7KQ4XM92"] {
            assert_eq!(typed.parse(), Ok(name.clone()), "{typed}");
        }
        for wrong in
            ["", "R", "7KQ4-XM9", "R-7KQ4-XM9", "RRRR-RRRR", "R-7KQ4-XM922", "X-7KQ4-XM92", "R-7KQ4-XM90", "R-7KQ4-XMÖ2", "R-R-7KQ4-XM92"]
        {
            assert_eq!(wrong.parse::<Identifier>(), Err(NoIdentifier), "{wrong}");
        }
    }

    #[test]
    fn names_that_were_made_one_after_the_other_are_all_different() {
        let names: HashSet<Identifier> = (0..10_000).map(Identifier::from_random).collect();
        assert_eq!(names.len(), 10_000);
    }

    proptest! {
        #[test]
        fn a_name_that_was_made_is_read_back(bits: u64) {
            let name = Identifier::from_random(bits);
            prop_assert_eq!(name.as_str().len(), 11);
            prop_assert_eq!(name.to_string().to_lowercase().parse(), Ok(name));
        }

        #[test]
        fn every_name_is_as_likely_as_any_other(bits: u64) {
            let name = Identifier::from_random(bits).to_string().replace("R-", "").replace('-', "");
            let digit = |letter: char| ALPHABET.iter().zip(0_u64..).find(|(known, _)| **known == letter).map(|(_, digit)| digit);
            let number = name.chars().filter_map(digit).rev().fold(0, |number, digit| number * 19 + digit);
            prop_assert_eq!(number, bits % 19_u64.pow(8), "a name is a number, and each number has one");
        }

        #[test]
        fn no_text_is_too_odd_to_be_refused(text in "\\PC{0,40}") {
            if let Ok(name) = text.parse::<Identifier>() {
                prop_assert_eq!(name.to_string().parse(), Ok(name));
            }
        }
    }
}
