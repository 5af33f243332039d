//! The rules for what a brand consists of.

use domain::merchants::brand::{Colour, Wording};
use url::Url;

use super::change::{BrandChange, ConfigureBrandError, LogoChange, MOST_LOGO_BYTES, TextChange};
use crate::platform::texts::Languages;

/// The most characters of a link, and the fewest and most digits of a phone number (the longest of E.164).
const LONGEST_LINK: usize = 500;
const PHONE_DIGITS: std::ops::RangeInclusive<usize> = 3..=15;
const LONGEST_PHONE: usize = 30;

pub(super) fn check(change: &BrandChange) -> Result<(), ConfigureBrandError> {
    let given = |text: Option<&String>| text.filter(|text| !text.is_empty()).cloned();
    if let Some(accent) = given(change.accent.as_ref()).filter(|accent| accent.parse::<Colour>().is_err()) {
        return Err(ConfigureBrandError::Accent(accent));
    }
    for logo in [&change.logo, &change.dark_logo] {
        if matches!(logo, Some(LogoChange::File(file)) if file.len() > MOST_LOGO_BYTES) {
            return Err(ConfigureBrandError::LogoTooLarge);
        }
    }
    if let Some(phone) = given(change.help_phone.as_ref()).filter(|phone| !is_phone(phone)) {
        return Err(ConfigureBrandError::HelpPhone(phone));
    }
    for link in [&change.shop_url, &change.privacy_url, &change.terms_url] {
        if let Some(link) = given(link.as_ref()).filter(|link| !is_link(link)) {
            return Err(ConfigureBrandError::Link(link));
        }
    }
    change.texts.iter().try_for_each(check_text)
}

fn check_text(change: &TextChange) -> Result<(), ConfigureBrandError> {
    let TextChange { language, text, wording } = change;
    if !Languages::default().iter().any(|known| known.code() == language) {
        return Err(ConfigureBrandError::Language(language.clone()));
    }
    if wording.chars().count() > Wording::LONGEST || wording.contains(char::is_control) {
        return Err(ConfigureBrandError::Text { language: language.clone(), text: *text });
    }
    Ok(())
}

fn is_phone(text: &str) -> bool {
    let local = text.strip_prefix('+').unwrap_or(text);
    let digits = local.bytes().filter(u8::is_ascii_digit).count();
    PHONE_DIGITS.contains(&digits)
        && text.len() <= LONGEST_PHONE
        && local.bytes().all(|byte| byte.is_ascii_digit() || b" ()-./".contains(&byte))
}

/// A phone number as it is dialled. The trunk prefix in brackets is for callers in the same country only.
#[must_use]
pub fn dialled(phone: &str) -> String {
    let phone = if phone.starts_with('+') { phone.replacen("(0)", "", 1) } else { phone.to_owned() };
    phone.chars().filter(|letter| letter.is_ascii_digit() || *letter == '+').collect()
}

/// Pages are linked to over TLS only, and nobody's password is.
fn is_link(text: &str) -> bool {
    text.chars().count() <= LONGEST_LINK
        && Url::parse(text)
            .is_ok_and(|url| url.scheme() == "https" && url.has_host() && url.username().is_empty() && url.password().is_none())
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

    #[test]
    fn a_link_is_an_address_over_tls() {
        for link in ["https://shop.example.com", "https://shop.example.com/privacy?lang=de#top"] {
            assert!(is_link(link), "{link}");
        }
        let long = format!("https://example.com/{}", "x".repeat(LONGEST_LINK));
        for link in
            ["http://example.com", "javascript:alert(1)", "//example.com", "/privacy", "https://", "https://me:pw@example.com", &long]
        {
            assert!(!is_link(link), "{link}");
        }
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
