//! The patterns that fields are held to, and how a fault describes them.

/// Three letters.
pub(crate) const CURRENCY: &str = "^[A-Za-z]{3}$";
/// Ten letters and digits.
pub const ASIN: &str = "^[A-Za-z0-9]{10}$";
/// 1 to 255 letters, digits, hyphens and underscores.
pub const ASN_NUMBER: &str = "^[A-Za-z0-9_-]{1,255}$";

/// Something to read, without control characters.
pub(crate) const SUPPORT_NAME: &str = r"^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$";

/// The rule for a text that must match `pattern`.
pub(crate) fn rule(pattern: &str) -> &'static str {
    match pattern {
        ASIN => "must be ten letters and digits",
        ASN_NUMBER => "must be 1 to 255 letters, digits, hyphens and underscores",
        SUPPORT_NAME => "must be a name, without control characters",
        _ => "must be three letters, such as USD",
    }
}
