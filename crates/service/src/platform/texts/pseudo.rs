//! A made-up language for tests: English with accents, about 40 % longer. What stays plain English on a page has no text of its own,
//! and what is cut off or overflows would be so in a long language.

use std::borrow::Cow;

/// Its code. Region XB is for private use.
pub(super) const CODE: &str = "en-XB";

/// Doubles the most frequent letters and accents them. Markup stays as it is.
pub(super) fn lengthen(text: &str) -> Cow<'_, str> {
    let mut long = String::with_capacity(text.len() * 2);
    let mut in_markup = false;
    for letter in text.chars() {
        match letter {
            '<' => in_markup = true,
            '>' => in_markup = false,
            _ => {}
        }
        match accented(letter) {
            Some(accented) if !in_markup => long.extend([accented, accented]),
            _ => long.push(letter),
        }
    }
    long.into()
}

const fn accented(letter: char) -> Option<char> {
    Some(match letter {
        'a' => 'á',
        'e' => 'é',
        'i' => 'í',
        'o' => 'ö',
        'u' => 'ü',
        'n' => 'ñ',
        's' => 'š',
        'A' => 'Á',
        'E' => 'É',
        'I' => 'Í',
        'O' => 'Ö',
        'U' => 'Ü',
        'N' => 'Ñ',
        'S' => 'Š',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_gets_longer_and_markup_stays() {
        assert_eq!(lengthen("<b>No printer</b>, S&O"), "<b>ÑÑöö prííññtéér</b>, ŠŠ&ÖÖ");
    }
}
