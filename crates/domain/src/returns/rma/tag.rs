//! The tags that merchants put on orders and lines, such as "final sale".

use super::word::TagRule;

/// A merchant's tag. Case, `-`, `_` and spaces make no difference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tag(String);

impl Tag {
    /// Normalises the spelling.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect())
    }

    /// The normalised spelling.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The rule for a well-known tag.
    pub(super) fn known_rule(&self) -> Option<TagRule> {
        match self.0.as_str() {
            "finalsale" => Some(TagRule::FinalSale),
            "giftcard" => Some(TagRule::GiftCard),
            "pickupinstore" | "buyonlinepickupinstore" => Some(TagRule::PickupInStore),
            "thirdparty" => Some(TagRule::ThirdParty),
            "gift" => Some(TagRule::Gift),
            _ => None,
        }
    }
}
