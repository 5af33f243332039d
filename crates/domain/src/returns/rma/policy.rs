//! A merchant's return policy.

mod offer;

use std::collections::{BTreeMap, BTreeSet};

use chrono::TimeDelta;

pub use self::offer::{NoOffer, Offer};
use super::sale::Weight;
pub use super::tag::Tag;
use super::word::Method;
pub use super::word::{RefundCloses, TagRule};
use crate::money::Cents;

/// A return without a scan is cancelled this long after it was created.
pub const EXPIRES_AFTER: TimeDelta = TimeDelta::days(30);
/// The cancel reason of a return that expired.
pub const EXPIRED: &str = "expired";
/// The cancel reason of a return that the merchant's system cancelled.
pub const BY_MERCHANT: &str = "canceled_by_merchant";
/// The cancel reason of a return that the shopper cancelled.
pub const BY_SHOPPER: &str = "canceled_by_shopper";
/// The cancel reason of a return that support cancelled for the shopper, by a link of the merchant's.
pub const BY_SUPPORT: &str = "canceled_by_support";
/// The shopper is reminded of a return without a scan this long after it was created.
pub const REMINDED_AFTER: TimeDelta = TimeDelta::days(21);
/// The reason of a shopper who gives none. It is always allowed, because a withdrawal within the EU needs no reason.
pub const NOT_GIVEN: &str = "NOT_GIVEN";

/// The default reasons for an exchange: another size may fit.
const EXCHANGE_REASONS: [&str; 2] = ["TOO_SMALL", "TOO_LARGE"];
const LONGEST_WINDOW_DAYS: u16 = 3_650;
const MOST_REASONS: usize = 100;
const LONGEST_REASON: usize = 255;

/// A merchant's return policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Days after shipping during which a unit can be returned.
    pub window_days: u16,
    pub reasons: Vec<String>,
    /// The reasons for which an exchange is offered.
    pub exchange_reasons: Vec<String>,
    /// Gift cards as an alternative to a refund, if offered.
    pub gift_card: Option<GiftCardTerms>,
    /// Passed on in exchange orders; typically a brand.
    pub concept: Option<String>,
    /// The merchant's answers 409, 410 and 422 to an exchange order mean that it cannot be placed.
    pub refusals_are_final: bool,
    /// The refunds that a return needs before it is settled.
    pub refund_closes: RefundCloses,
    /// The return methods, in display order.
    pub offers: Vec<Offer>,
    /// The warehouse receives returns for the merchant.
    pub managed_receiving: bool,
    /// Maximum weight of an express return.
    pub express_limit: Weight,
    /// The merchant's own tags; they take precedence over the well-known ones.
    pub tags: BTreeMap<Tag, TagRule>,
}

/// The terms of gift cards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GiftCardTerms {
    /// The agreed SKU.
    pub sku: String,
    /// Added by the merchant to each card.
    pub bonus: Cents,
}

/// A flaw of a [`Policy`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    #[error("the return window must be 1 to 3,650 days")]
    Window,
    #[error("a policy can have at most 100 reasons")]
    TooManyReasons,
    #[error("a reason must be 1 to 255 characters, without control characters or surrounding spaces: {0:?}")]
    Reason(String),
    #[error("a reason is listed twice: {0:?}")]
    ReasonRepeated(String),
    #[error("the SKU of gift cards must be 1 to 255 characters")]
    GiftCardSku,
    #[error("a concept must be 1 to 255 characters")]
    Concept,
    #[error("a reason for an exchange must be one of the reasons, or NOT_GIVEN: {0:?}")]
    ExchangeReason(String),
    #[error("a reason for an exchange is listed twice: {0:?}")]
    ExchangeReasonRepeated(String),
    #[error("at least one return method must be offered")]
    NoOffer,
    #[error("a return method is offered twice: {0}")]
    OfferRepeated(Method),
    #[error("the weight limit of express-returns must be above 0 pounds")]
    ExpressLimit,
    #[error("a tag must have at least one letter or digit")]
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
            refund_closes: RefundCloses::All,
            offers: vec![free(Method::MailBack), free(Method::ExpressReturns)],
            managed_receiving: false,
            express_limit: Weight(20_000),
            tags: BTreeMap::new(),
        }
    }
}

impl Policy {
    /// The flaws of the policy.
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
        if self.tags.keys().any(|tag| tag.as_str().is_empty()) {
            flaws.push(Flaw::Tag);
        }
        flaws
    }

    /// True if a shopper may give this reason.
    #[must_use]
    pub fn allows_reason(&self, reason: &str) -> bool {
        reason == NOT_GIVEN || self.reasons.iter().any(|listed| listed == reason)
    }

    /// True if an exchange is offered for this reason.
    #[must_use]
    pub fn exchanges_for(&self, reason: &str) -> bool {
        self.exchange_reasons.iter().any(|listed| listed == reason)
    }

    /// The rule for a tag: the merchant's own first, then the well-known one, if any.
    #[must_use]
    pub fn rule(&self, tag: &Tag) -> Option<TagRule> {
        self.tags.get(tag).copied().or_else(|| tag.known_rule())
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
            refund_closes: RefundCloses::All,
            tags: BTreeMap::from([(Tag::new("-_ "), TagRule::Allowed)]),
        };
        let told: Vec<String> = policy.check().iter().map(ToString::to_string).collect();
        let expected = [
            "the return window must be 1 to 3,650 days",
            "a reason must be 1 to 255 characters, without control characters or surrounding spaces: \"\"",
            "a reason must be 1 to 255 characters, without control characters or surrounding spaces: \" torn\"",
            "a reason is listed twice: \"ok\"",
            "a reason must be 1 to 255 characters, without control characters or surrounding spaces: \"a\\tb\"",
            "the SKU of gift cards must be 1 to 255 characters",
            "a concept must be 1 to 255 characters",
            "a reason for an exchange is listed twice: \"ok\"",
            "a reason for an exchange must be one of the reasons, or NOT_GIVEN: \"TOO_SMALL\"",
            "a return method is offered twice: express-returns",
            "the weight limit of express-returns must be above 0 pounds",
            "a tag must have at least one letter or digit",
        ];
        assert_eq!(told, expected);
        let reasons = |count: u32| (0..count).map(|at| at.to_string()).collect::<Vec<_>>();
        let policy = Policy { window_days: 3_651, reasons: reasons(101), exchange_reasons: vec![], offers: vec![], ..Policy::default() };
        assert_eq!(policy.check(), [Flaw::Window, Flaw::TooManyReasons, Flaw::NoOffer]);
        let most = Policy { window_days: 3_650, reasons: reasons(100), exchange_reasons: vec![], ..Policy::default() };
        assert_eq!(most.check(), []);
    }

    #[test]
    fn a_policy_may_have_a_gift_card_a_concept_and_tags() {
        let with = |text: &str| Policy {
            gift_card: Some(GiftCardTerms { sku: text.to_owned(), bonus: Cents::default() }),
            concept: Some(text.to_owned()),
            tags: BTreeMap::from([(Tag::new("Clear-ance"), TagRule::FinalSale)]),
            ..Policy::default()
        };
        for good in ["x", &"é".repeat(255)] {
            assert_eq!(with(good).check(), [], "{good}");
        }
        for bad in ["", "a\0b", &"x".repeat(256)] {
            assert_eq!(with(bad).check(), [Flaw::GiftCardSku, Flaw::Concept], "{bad:?}");
        }
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
        assert_eq!(Tag::new(" Pick-up_In Store").as_str(), "pickupinstore");
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
