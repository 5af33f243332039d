//! Typed identifiers, so that one cannot be mistaken for another.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

/// A merchant: the owner of the data. It comes from authentication and nowhere else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MerchantId(pub Uuid);

impl fmt::Display for MerchantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An endpoint of a merchant's systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndpointId(pub Uuid);

impl fmt::Display for EndpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The short name of a merchant in URLs and commands: `acme`, `north-star-2`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Handle(String);

/// The text is not a valid [`Handle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a handle must be 2 to 40 lower-case letters, digits or hyphens, and start and end with a letter or digit")]
pub struct NoHandle;

impl Handle {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Handle {
    type Err = NoHandle;

    fn from_str(text: &str) -> Result<Self, NoHandle> {
        let spelled_right = text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        let framed_right = !text.starts_with('-') && !text.ends_with('-');
        if (2..=40).contains(&text.len()) && spelled_right && framed_right { Ok(Self(text.to_owned())) } else { Err(NoHandle) }
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_written_as_its_uuid() {
        let text = "01930000-0000-7000-8000-000000000001";
        let id: Uuid = text.parse().expect("a UUID");
        assert_eq!((MerchantId(id).to_string().as_str(), EndpointId(id).to_string().as_str()), (text, text));
    }

    #[test]
    fn a_handle_is_short_and_plain() {
        for good in ["ab", "acme", "north-star-2", &"a".repeat(40)] {
            let handle: Handle = good.parse().expect("a handle");
            assert_eq!((handle.to_string().as_str(), handle.as_str()), (good, good));
        }
        for bad in ["", "a", "Acme", "-acme", "acme-", "ac me", "é-shop", &"a".repeat(41)] {
            assert_eq!(bad.parse::<Handle>(), Err(NoHandle), "{bad:?}");
        }
    }
}
