//! Normal forms of shoppers' e-mail addresses and postal codes.
//!
//! Only keyed fingerprints of them are searched, so different spellings must be normalised before they are fingerprinted.

/// Trims the address and converts it to lower case.
#[must_use]
pub fn normal_email(email: &str) -> String {
    email.trim().to_lowercase()
}

/// Keeps letters and digits, in upper case; for a United States ZIP+4, the first five digits.
#[must_use]
pub fn normal_zip(zip_code: &str, country_code: Option<&str>) -> String {
    let mut zip: String = zip_code.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_uppercase).collect();
    let american = country_code.is_none_or(|country| matches!(country.trim().to_ascii_uppercase().as_str(), "US" | "USA"));
    if american && zip.len() == 9 && zip.bytes().all(|b| b.is_ascii_digit()) {
        zip.truncate(5);
    }
    zip
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_address_are_one() {
        assert_eq!(normal_email("  Pat.Doe@Example.COM "), "pat.doe@example.com");
        assert_eq!(normal_zip("sw1a 1aa", Some("GB")), "SW1A1AA");
        assert_eq!(normal_zip("10001-1234", Some("us")), "10001");
        assert_eq!(normal_zip("10001 1234", None), "10001");
        assert_eq!(normal_zip("100011234", Some("DE")), "100011234");
        assert_eq!(normal_zip("10001", Some("USA")), "10001");
        assert_eq!(normal_zip("1000112345", Some("USA")), "1000112345", "only a ZIP+4 is cut");
        assert_eq!(normal_zip("ABCDE1234", None), "ABCDE1234", "only digits make a ZIP+4");
    }
}
