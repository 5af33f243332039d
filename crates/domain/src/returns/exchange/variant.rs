//! The variants that a line can be exchanged for, and when the merchant is asked for them.

use super::standing::Standing;
use crate::money::Cents;
use crate::returns::rma::policy::Policy;
use crate::returns::rma::sale::SoldLine;

/// A variant: the same goods in another size or colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    pub sku: String,
    pub title: Option<String>,
    pub attributes: Vec<Attribute>,
    pub unit_price: Cents,
    pub in_stock: u32,
    pub image_url: Option<String>,
    pub product_url: Option<String>,
}

/// An attribute that distinguishes a variant, such as its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Such as size.
    pub name: String,
    /// Such as 43.
    pub value: String,
}

/// The reasons a merchant is not asked for variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotOffered {
    /// The line has no usable variant identifier.
    NoVariantIdentifier,
    /// No exchange is offered for the shopper's reason.
    ReasonDoesNotTrigger,
    /// The order has already been exchanged; it can be exchanged only once.
    AlreadyExchanged,
    /// The merchant has no endpoint for variants, or none for exchange orders.
    NoEndpoint,
}

impl NotOffered {
    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoVariantIdentifier => "no_variant_identifier",
            Self::ReasonDoesNotTrigger => "reason_does_not_trigger",
            Self::AlreadyExchanged => "already_exchanged",
            Self::NoEndpoint => "no_endpoint",
        }
    }
}

/// The variant identifier to ask the merchant for, when a shopper returns a unit of `line` for `reason`.
pub fn asked_for<'a>(line: &'a SoldLine, reason: &str, policy: &Policy, standing: Standing) -> Result<&'a str, NotOffered> {
    let identifier = line.variant_identifier.as_deref().filter(|identifier| fits_a_path(identifier));
    let identifier = identifier.ok_or(NotOffered::NoVariantIdentifier)?;
    if !policy.exchanges_for(reason) {
        return Err(NotOffered::ReasonDoesNotTrigger);
    }
    match standing {
        Standing::Offered => Ok(identifier),
        Standing::NotOffered => Err(NotOffered::NoEndpoint),
        Standing::ExchangedBefore => Err(NotOffered::AlreadyExchanged),
    }
}

/// True if the text can be a segment of a URL path. `.` and `..` cannot, however they are encoded.
fn fits_a_path(identifier: &str) -> bool {
    !matches!(identifier, "" | "." | "..")
}

impl Variant {
    /// True if it can be chosen now.
    #[must_use]
    pub const fn is_available(&self) -> bool {
        self.in_stock > 0
    }
}

/// The variants shown for a line: those at the same price, because the exchange is even, without the one that the shopper has.
/// Those out of stock are shown too, but cannot be chosen.
#[must_use]
pub fn offered<'v>(variants: &'v [Variant], line: &SoldLine) -> Vec<&'v Variant> {
    variants.iter().filter(|variant| variant.unit_price == line.unit_price && variant.sku != line.sku).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::returns::rma::sale::tests::line;

    fn cents(amount: i64) -> Cents {
        Cents::new(amount).unwrap()
    }

    fn variant(sku: &str, price: i64, in_stock: u32) -> Variant {
        let unit_price = cents(price);
        Variant { sku: sku.to_owned(), title: None, attributes: vec![], unit_price, in_stock, image_url: None, product_url: None }
    }

    #[test]
    fn what_costs_something_else_or_is_what_the_shopper_has_is_not_offered() {
        let variants = [variant("41", 5_000, 3), variant("42", 5_000, 0), variant("43", 5_001, 9), variant("44", 5_000, 1)];
        let line = SoldLine { sku: "44".to_owned(), unit_price: cents(5_000), ..line() };
        let shown: Vec<_> = offered(&variants, &line).into_iter().map(|variant| (variant.sku.as_str(), variant.is_available())).collect();
        assert_eq!(shown, [("41", true), ("42", false)]);
    }

    #[test]
    fn a_merchant_is_asked_for_a_line_that_has_variants_and_a_reason_for_an_exchange() {
        let policy = Policy::default();
        let with = |identifier: Option<&str>| SoldLine { variant_identifier: identifier.map(str::to_owned), ..line() };
        assert_eq!(asked_for(&with(Some("V-1")), "TOO_SMALL", &policy, Standing::Offered), Ok("V-1"));
        for (identifier, reason, standing, why) in [
            (None, "TOO_SMALL", Standing::Offered, NotOffered::NoVariantIdentifier),
            (Some(""), "TOO_SMALL", Standing::Offered, NotOffered::NoVariantIdentifier),
            (Some("."), "TOO_SMALL", Standing::Offered, NotOffered::NoVariantIdentifier),
            (Some(".."), "TOO_SMALL", Standing::Offered, NotOffered::NoVariantIdentifier),
            (Some("V-1"), "CHANGED_MIND", Standing::Offered, NotOffered::ReasonDoesNotTrigger),
            (Some("V-1"), "NOT_GIVEN", Standing::Offered, NotOffered::ReasonDoesNotTrigger),
            (Some("V-1"), "no reason of theirs", Standing::Offered, NotOffered::ReasonDoesNotTrigger),
            (Some("V-1"), "TOO_LARGE", Standing::ExchangedBefore, NotOffered::AlreadyExchanged),
            (Some("V-1"), "TOO_LARGE", Standing::NotOffered, NotOffered::NoEndpoint),
        ] {
            assert_eq!(asked_for(&with(identifier), reason, &policy, standing), Err(why), "{identifier:?} {reason}");
        }
    }

    #[test]
    fn a_reason_not_to_ask_has_its_name() {
        let reasons =
            [NotOffered::NoVariantIdentifier, NotOffered::ReasonDoesNotTrigger, NotOffered::AlreadyExchanged, NotOffered::NoEndpoint];
        let names = ["no_variant_identifier", "reason_does_not_trigger", "already_exchanged", "no_endpoint"];
        assert_eq!(reasons.map(NotOffered::as_str), names);
    }

    proptest! {
        #[test]
        fn exactly_the_other_even_ones_are_offered(
            (price, own) in (0..4_i64, 0..20_usize),
            known in prop::collection::vec((0..4_i64, 0..3_u32), 0..20),
        ) {
            let variants: Vec<Variant> = known.iter().enumerate().map(|(at, (price, stock))| variant(&at.to_string(), *price, *stock)).collect();
            let line = SoldLine { sku: own.to_string(), unit_price: cents(price), ..line() };
            let offered = offered(&variants, &line);
            prop_assert!(offered.iter().all(|variant| variant.sku != line.sku && variant.unit_price.get() == price));
            let even = known.iter().enumerate().filter(|(at, (each, _))| *each == price && *at != own).count();
            prop_assert_eq!(offered.len(), even);
        }
    }
}
