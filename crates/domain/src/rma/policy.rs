//! What a merchant lets come back, and how.

mod offer;

use std::collections::{BTreeMap, BTreeSet};

use chrono::TimeDelta;

pub use self::offer::{NoOffer, Offer};
use super::Method;
use super::sale::Weight;
pub use super::word::TagRule;
use crate::money::Cents;

/// A return without a scan is called off this long after it was created.
pub const EXPIRES_AFTER: TimeDelta = TimeDelta::days(30);
/// The shopper is reminded of a return without a scan this long after it was created.
pub const REMINDED_AFTER: TimeDelta = TimeDelta::days(21);
/// The reason of a shopper who gives none. It is always allowed, because a withdrawal within the EU needs no reason.
pub const NOT_GIVEN: &str = "NOT_GIVEN";

/// The reasons for an exchange of a merchant who says nothing: what does not fit may be had in another size.
const EXCHANGE_REASONS: [&str; 2] = ["TOO_SMALL", "TOO_LARGE"];
const LONGEST_WINDOW_DAYS: u16 = 3_650;
const MOST_REASONS: usize = 100;
const LONGEST_REASON: usize = 255;

/// A merchant's rules for returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// How many days after it was shipped a unit can come back.
    pub window_days: u16,
    /// The reasons that a shopper can choose from.
    pub reasons: Vec<String>,
    /// Those of them for which an exchange is offered.
    pub exchange_reasons: Vec<String>,
    /// The gift cards that can be had instead of the money, where there are any.
    pub gift_card: Option<GiftCardTerms>,
    /// The merchant's word for what it sells, for exchange orders: typically a brand.
    pub concept: Option<String>,
    /// Whether 409 and 422 are the merchant's last word on an exchange order.
    pub refusals_are_final: bool,
    /// The ways back, in the order in which they are shown.
    pub offers: Vec<Offer>,
    /// Whether the warehouse receives for the merchant.
    pub managed_receiving: bool,
    /// What a return by express may weigh.
    pub express_limit: Weight,
    /// What the merchant's own tags mean; it goes before the known tags.
    pub tags: BTreeMap<Tag, TagRule>,
}

/// On what terms gift cards are had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GiftCardTerms {
    /// The SKU that was agreed for them.
    pub sku: String,
    /// What the merchant adds to each.
    pub bonus: Cents,
}

/// What a merchant flags about an order or a line. Case, `-`, `_` and spaces do not matter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tag(String);

/// Something that is wrong with a [`Policy`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// The window is too short or too long.
    #[error("the return window is 1 to 3,650 days")]
    Window,
    /// There are too many reasons.
    #[error("there are at most 100 reasons")]
    TooManyReasons,
    /// A reason is empty, too long, or has spaces around it or control characters in it.
    #[error("a reason is 1 to 255 characters, without control characters or spaces around it: {0:?}")]
    Reason(String),
    /// A reason stands there twice.
    #[error("a reason is listed once: {0:?}")]
    ReasonRepeated(String),
    /// The SKU of gift cards is empty or too long.
    #[error("the SKU of gift cards is 1 to 255 characters")]
    GiftCardSku,
    /// The concept is empty or too long.
    #[error("a concept is 1 to 255 characters")]
    Concept,
    /// A reason for an exchange is none of the reasons.
    #[error("a reason for an exchange is one of the reasons, or NOT_GIVEN: {0:?}")]
    ExchangeReason(String),
    /// A reason for an exchange stands there twice.
    #[error("a reason for an exchange is listed once: {0:?}")]
    ExchangeReasonRepeated(String),
    /// There is no way back.
    #[error("at least one return method is offered")]
    NoOffer,
    /// A way back stands there twice.
    #[error("a return method is offered once: {0}")]
    OfferRepeated(Method),
    /// No return could go by express.
    #[error("express-returns is offered for more than 0 pounds")]
    ExpressLimit,
    /// A tag without a letter or digit.
    #[error("a tag is not empty")]
    Tag,
}

impl Default for Policy {
    fn default() -> Self {
        let reasons = ["TOO_SMALL", "TOO_LARGE", "CHANGED_MIND", "NOT_AS_DESCRIBED", "DAMAGED", "WRONG_ITEM"];
        let free = |method| Offer { method, fee: Cents::default(), deducted: false };
        Self {
            window_days: 30,
            reasons: reasons.map(ToOwned::to_owned).to_vec(),
            exchange_reasons: EXCHANGE_REASONS.map(ToOwned::to_owned).to_vec(),
            gift_card: None,
            concept: None,
            refusals_are_final: false,
            offers: vec![free(Method::MailBack), free(Method::ExpressReturns)],
            managed_receiving: false,
            express_limit: Weight(20_000),
            tags: BTreeMap::new(),
        }
    }
}

impl Policy {
    /// Everything that is wrong with it.
    #[must_use]
    pub fn check(&self) -> Vec<Flaw> {
        let mut flaws = Vec::new();
        if !(1..=LONGEST_WINDOW_DAYS).contains(&self.window_days) {
            flaws.push(Flaw::Window);
        }
        if self.reasons.len() > MOST_REASONS {
            flaws.push(Flaw::TooManyReasons);
        }
        let mut seen = BTreeSet::new();
        for reason in &self.reasons {
            let length_fits = (1..=LONGEST_REASON).contains(&reason.chars().count());
            if !length_fits || reason.trim() != reason || reason.chars().any(char::is_control) {
                flaws.push(Flaw::Reason(reason.clone()));
            }
            if !seen.insert(reason) {
                flaws.push(Flaw::ReasonRepeated(reason.clone()));
            }
        }
        let fits = |text: &str| (1..=LONGEST_REASON).contains(&text.chars().count()) && !text.contains('\0');
        if self.gift_card.as_ref().is_some_and(|terms| !fits(&terms.sku)) {
            flaws.push(Flaw::GiftCardSku);
        }
        if self.concept.as_ref().is_some_and(|concept| !fits(concept)) {
            flaws.push(Flaw::Concept);
        }
        let mut seen = BTreeSet::new();
        for reason in &self.exchange_reasons {
            if !self.allows_reason(reason) {
                flaws.push(Flaw::ExchangeReason(reason.clone()));
            }
            if !seen.insert(reason) {
                flaws.push(Flaw::ExchangeReasonRepeated(reason.clone()));
            }
        }
        if self.offers.is_empty() {
            flaws.push(Flaw::NoOffer);
        }
        let mut offered = BTreeSet::new();
        flaws.extend(self.offers.iter().filter(|offer| !offered.insert(offer.method)).map(|offer| Flaw::OfferRepeated(offer.method)));
        if offered.contains(&Method::ExpressReturns) && self.express_limit == Weight(0) {
            flaws.push(Flaw::ExpressLimit);
        }
        if self.tags.keys().any(|tag| tag.0.is_empty()) {
            flaws.push(Flaw::Tag);
        }
        flaws
    }

    /// Whether a shopper may give this reason.
    #[must_use]
    pub fn allows_reason(&self, reason: &str) -> bool {
        reason == NOT_GIVEN || self.reasons.iter().any(|listed| listed == reason)
    }

    /// Whether an exchange is offered to a shopper who gives this reason.
    #[must_use]
    pub fn exchanges_for(&self, reason: &str) -> bool {
        self.exchange_reasons.iter().any(|listed| listed == reason)
    }

    /// What a tag means: the merchant's word first, then the known tags. Any other means nothing.
    #[must_use]
    pub fn rule(&self, tag: &Tag) -> Option<TagRule> {
        self.tags.get(tag).copied().or_else(|| tag.known())
    }
}

impl Tag {
    /// The tag, however it is spelled.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect())
    }

    /// The one spelling of all.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn known(&self) -> Option<TagRule> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_of_a_merchant_who_says_nothing_is_sound() {
        let policy = Policy::default();
        assert_eq!(policy.check(), []);
        assert_eq!((policy.window_days, policy.express_limit), (30, Weight(20_000)));
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        let offer = Offer { method: Method::ExpressReturns, fee: Cents::default(), deducted: false };
        let policy = Policy {
            window_days: 0,
            reasons: ["ok", "", " torn", "ok", "a\tb"].map(ToOwned::to_owned).to_vec(),
            exchange_reasons: ["ok", "ok", "TOO_SMALL"].map(ToOwned::to_owned).to_vec(),
            offers: vec![offer, offer],
            managed_receiving: true,
            express_limit: Weight(0),
            gift_card: Some(GiftCardTerms { sku: String::new(), bonus: Cents::default() }),
            concept: Some(String::new()),
            refusals_are_final: false,
            tags: BTreeMap::from([(Tag::new("-_ "), TagRule::Allowed)]),
        };
        let told: Vec<String> = policy.check().iter().map(ToString::to_string).collect();
        let expected = [
            "the return window is 1 to 3,650 days",
            "a reason is 1 to 255 characters, without control characters or spaces around it: \"\"",
            "a reason is 1 to 255 characters, without control characters or spaces around it: \" torn\"",
            "a reason is listed once: \"ok\"",
            "a reason is 1 to 255 characters, without control characters or spaces around it: \"a\\tb\"",
            "the SKU of gift cards is 1 to 255 characters",
            "a concept is 1 to 255 characters",
            "a reason for an exchange is listed once: \"ok\"",
            "a reason for an exchange is one of the reasons, or NOT_GIVEN: \"TOO_SMALL\"",
            "a return method is offered once: express-returns",
            "express-returns is offered for more than 0 pounds",
            "a tag is not empty",
        ];
        assert_eq!(told, expected);
        let reasons = (0..101).map(|at| at.to_string()).collect();
        let policy = Policy { window_days: 3_651, reasons, exchange_reasons: vec![], offers: vec![], ..Policy::default() };
        assert_eq!(policy.check(), [Flaw::Window, Flaw::TooManyReasons, Flaw::NoOffer]);
    }

    #[test]
    fn a_reason_is_one_of_the_list_or_not_given() {
        let policy = Policy { reasons: vec!["TORN".to_owned()], ..Policy::default() };
        assert!(policy.allows_reason("TORN") && policy.allows_reason("NOT_GIVEN"));
        assert!(!policy.allows_reason("torn") && !policy.allows_reason(""));
        assert!(Policy { reasons: vec![], ..policy }.allows_reason(NOT_GIVEN));
    }

    #[test]
    fn an_exchange_is_offered_for_what_does_not_fit_unless_the_merchant_says_otherwise() {
        let policy = Policy::default();
        assert!(policy.exchanges_for("TOO_SMALL") && policy.exchanges_for("TOO_LARGE"));
        assert!(!policy.exchanges_for("CHANGED_MIND") && !policy.exchanges_for(NOT_GIVEN) && !policy.exchanges_for("too_small"));
        let policy = Policy { exchange_reasons: vec![NOT_GIVEN.to_owned()], ..policy };
        assert_eq!(policy.check(), []);
        assert!(policy.exchanges_for(NOT_GIVEN) && !policy.exchanges_for("TOO_SMALL"));
    }

    #[test]
    fn the_spelling_of_a_tag_does_not_matter() {
        let policy = Policy::default();
        for (spelled, rule) in [
            ("final sale", TagRule::FinalSale),
            ("FINAL_SALE", TagRule::FinalSale),
            ("Final-Sale", TagRule::FinalSale),
            ("finalSale", TagRule::FinalSale),
            ("gift-card", TagRule::GiftCard),
            ("Pickup In Store", TagRule::PickupInStore),
            ("buy online pickup in store", TagRule::PickupInStore),
            ("third_party", TagRule::ThirdParty),
            ("Gift", TagRule::Gift),
        ] {
            assert_eq!(policy.rule(&Tag::new(spelled)), Some(rule), "{spelled}");
        }
        assert_eq!(policy.rule(&Tag::new("sale")), None);
    }

    #[test]
    fn the_merchants_word_on_a_tag_goes_before_ours() {
        let tags = BTreeMap::from([(Tag::new("final-sale"), TagRule::Allowed), (Tag::new("clearance"), TagRule::FinalSale)]);
        let policy = Policy { tags, ..Policy::default() };
        assert_eq!(policy.rule(&Tag::new("Final Sale")), Some(TagRule::Allowed));
        assert_eq!(policy.rule(&Tag::new("CLEARANCE")), Some(TagRule::FinalSale));
        assert_eq!(policy.rule(&Tag::new("gift card")), Some(TagRule::GiftCard));
    }
}
