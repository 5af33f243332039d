//! The form of a return policy: every setting as it is typed, and the policy that was typed.

use domain::money::decimal;
use std::collections::BTreeMap;

use domain::returns::rma::Method;
use domain::returns::rma::policy::{GiftCardTerms, Offer, Policy, RefundCloses, Tag, TagRule};

use super::amount::parse_decimal;
use super::form::{Filled, Typed};
use super::merchants::capitalised;

/// A return method as the form shows it.
pub(super) struct MethodFields {
    pub(super) name: &'static str,
    pub(super) is_offered: bool,
    pub(super) place: String,
    pub(super) fee: String,
    pub(super) is_deducted: bool,
}

/// The fields of the return methods.
pub(super) fn methods(filled: &Filled) -> Vec<MethodFields> {
    let fields = |method: &Method| MethodFields {
        name: method.as_str(),
        is_offered: filled.is_ticked(&format!("offer-{method}")),
        place: filled.text(&format!("place-{method}")).to_owned(),
        fee: filled.text(&format!("fee-{method}")).to_owned(),
        is_deducted: filled.is_ticked(&format!("deducted-{method}")),
    };
    Method::ALL.iter().map(fields).collect()
}

const YES: &str = "yes";

/// A policy as it is typed.
pub(super) fn present(policy: &Policy) -> Typed {
    let tags: Vec<String> = policy.tags.iter().map(|(tag, rule)| format!("{} = {rule}", tag.as_str())).collect();
    let mut typed: Typed = [
        ("window_days", policy.window_days.to_string()),
        ("express_limit", policy.express_limit.to_string()),
        ("reasons", policy.reasons.join("\n")),
        ("exchange_reasons", policy.exchange_reasons.join("\n")),
        ("gift_card_sku", policy.gift_card.as_ref().map(|terms| terms.sku.clone()).unwrap_or_default()),
        ("gift_card_bonus", policy.gift_card.as_ref().map(|terms| decimal(terms.bonus.get())).unwrap_or_default()),
        ("concept", policy.concept.clone().unwrap_or_default()),
        ("refund_closes", policy.refund_closes.to_string()),
        ("tags", tags.join("\n")),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect();
    for (name, is_on) in [("refusals_are_final", policy.refusals_are_final), ("managed_receiving", policy.managed_receiving)] {
        if is_on {
            typed.insert(name.to_owned(), YES.to_owned());
        }
    }
    for (place, offer) in policy.offers.iter().enumerate() {
        let method = offer.method;
        typed.insert(format!("offer-{method}"), YES.to_owned());
        typed.insert(format!("place-{method}"), (place + 1).to_string());
        typed.insert(format!("fee-{method}"), decimal(offer.fee.get()));
        if offer.deducted {
            typed.insert(format!("deducted-{method}"), YES.to_owned());
        }
    }
    typed
}

/// The policy that was typed, or what is wrong with it, by sentences.
pub(super) fn read(typed: &Typed) -> Result<Policy, Vec<String>> {
    let mut faults = Vec::new();
    let text = |name: &str| typed.get(name).map_or("", |text| text.trim());
    let policy = Policy {
        window_days: kept(text("window_days").parse().map_err(|_| "The return window must be 1 to 3,650 days.".to_owned()), &mut faults),
        offers: kept(offers(typed), &mut faults),
        express_limit: text("express_limit").parse().unwrap_or_else(|error: domain::returns::rma::sale::NoWeight| {
            faults.push(format!("{}.", capitalised(&error.to_string())));
            Policy::default().express_limit
        }),
        reasons: lines(text("reasons")),
        exchange_reasons: lines(text("exchange_reasons")),
        gift_card: kept(gift_card(text("gift_card_sku"), text("gift_card_bonus")), &mut faults),
        concept: Some(text("concept").to_owned()).filter(|concept| !concept.is_empty()),
        refusals_are_final: typed.contains_key("refusals_are_final"),
        refund_closes: text("refund_closes").parse().unwrap_or(RefundCloses::All),
        managed_receiving: typed.contains_key("managed_receiving"),
        tags: kept(tags(text("tags")), &mut faults),
    };
    if faults.is_empty() {
        faults = policy.check().iter().map(|flaw| format!("{}.", capitalised(&flaw.to_string()))).collect();
    }
    if faults.is_empty() { Ok(policy) } else { Err(faults) }
}

/// The value, or its default and a fault more.
fn kept<T: Default>(read: Result<T, String>, faults: &mut Vec<String>) -> T {
    read.unwrap_or_else(|fault| {
        faults.push(fault);
        T::default()
    })
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(ToOwned::to_owned).collect()
}

/// The methods that are ticked, by their places.
fn offers(typed: &Typed) -> Result<Vec<Offer>, String> {
    let text = |what: &str, method: &Method| typed.get(&format!("{what}-{method}")).map_or("", |text| text.trim());
    let mut offers = Vec::new();
    for method in Method::ALL.iter().filter(|method| typed.contains_key(&format!("offer-{method}"))) {
        let fee = Some(text("fee", method)).filter(|fee| !fee.is_empty()).unwrap_or("0");
        let fee = parse_decimal(fee).ok_or_else(|| format!("The fee of {method} must be an amount such as 4.99."))?;
        // A method without a place comes after those that have one.
        let place: u32 = text("place", method).parse().unwrap_or(u32::MAX);
        offers.push((place, Offer { method: *method, fee, deducted: typed.contains_key(&format!("deducted-{method}")) }));
    }
    offers.sort_by_key(|(place, _)| *place);
    Ok(offers.into_iter().map(|(_, offer)| offer).collect())
}

fn gift_card(sku: &str, bonus: &str) -> Result<Option<GiftCardTerms>, String> {
    if sku.is_empty() {
        return Ok(None);
    }
    let bonus =
        parse_decimal(if bonus.is_empty() { "0" } else { bonus }).ok_or("The bonus on gift cards must be an amount such as 5.00.")?;
    Ok(Some(GiftCardTerms { sku: sku.to_owned(), bonus }))
}

fn tags(text: &str) -> Result<BTreeMap<Tag, TagRule>, String> {
    let rule = |line: String| {
        let (tag, rule) = line.rsplit_once('=')?;
        Some((Tag::new(tag), rule.trim().parse().ok()?))
    };
    let rules = || TagRule::ALL.iter().map(|rule| rule.as_str()).collect::<Vec<_>>().join(", ");
    let read = |line: String| {
        rule(line.clone()).ok_or_else(|| format!("The tag “{line}” cannot be read. Write clearance = final_sale; rules are {}.", rules()))
    };
    lines(text).into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use domain::money::Cents;
    use domain::returns::rma::sale::Weight;

    use super::*;

    #[test]
    fn a_policy_is_read_as_it_is_shown() {
        let offer = |method, fee, deducted| Offer { method, fee: Cents::new(fee).unwrap_or_default(), deducted };
        let policy = Policy {
            window_days: 45,
            offers: vec![offer(Method::CustomerKeep, 0, false), offer(Method::MailBack, 499, true)],
            express_limit: Weight(12_500),
            gift_card: Some(GiftCardTerms { sku: "CARD".to_owned(), bonus: Cents::new(500).unwrap_or_default() }),
            concept: Some("Example Brand".to_owned()),
            refusals_are_final: true,
            refund_closes: RefundCloses::Any,
            managed_receiving: true,
            tags: [(Tag::new("clearance"), TagRule::FinalSale), (Tag::new("outlet"), TagRule::Allowed)].into(),
            ..Policy::default()
        };
        for policy in [policy, Policy::default()] {
            assert_eq!(read(&present(&policy)), Ok(policy));
        }
    }

    #[test]
    fn everything_that_cannot_be_read_is_told_at_once() {
        let mut typed = present(&Policy::default());
        for (name, value) in [("window_days", "many"), ("fee-mail-back", "much"), ("express_limit", "x"), ("tags", "sale")] {
            typed.insert(name.to_owned(), value.to_owned());
        }
        let faults = read(&typed).unwrap_err();
        assert_eq!(faults.len(), 4, "{faults:?}");
        typed = present(&Policy::default());
        typed.insert("window_days".to_owned(), "0".to_owned());
        assert_eq!(read(&typed), Err(vec!["The return window must be 1 to 3,650 days.".to_owned()]));
    }
}
