//! The rules for what a brand consists of.

use domain::merchants::brand::{Colour, Wording, is_phone};
use url::Url;

use super::change::{BrandChange, ConfigureBrandError, LogoChange, MOST_LOGO_BYTES, TextChange};
use crate::platform::texts::Languages;

/// The most characters of a link.
const LONGEST_LINK: usize = 500;

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

/// Pages are linked to over TLS only, and nobody's password is.
fn is_link(text: &str) -> bool {
    text.chars().count() <= LONGEST_LINK
        && Url::parse(text)
            .is_ok_and(|url| url.scheme() == "https" && url.has_host() && url.username().is_empty() && url.password().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
