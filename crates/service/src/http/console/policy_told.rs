//! A return policy in words, the difference between two, and the command that makes the same change.

use domain::money::Cents;
use domain::returns::rma::policy::{Offer, Policy, RefundCloses};

use super::amount::decimal;
use crate::flow::returns::set_policy::PolicyChange;

/// A setting of a policy. Its value is a list of words, most often of one.
pub(super) struct Setting {
    pub(super) name: &'static str,
    pub(super) items: Vec<String>,
}

/// A setting in which two policies differ.
pub(super) struct Difference {
    pub(super) name: &'static str,
    pub(super) removed: Vec<String>,
    pub(super) added: Vec<String>,
}

/// The settings of a policy, in the order of the form.
pub(super) fn settings(policy: &Policy) -> Vec<Setting> {
    let one = |name, item: String| Setting { name, items: vec![item] };
    let many = |name, items: Vec<String>| Setting { name, items: if items.is_empty() { vec!["none".to_owned()] } else { items } };
    let tags = policy.tags.iter().map(|(tag, rule)| format!("{} = {rule}", tag.as_str()));
    vec![
        one("Window", if policy.window_days == 1 { "1 day".to_owned() } else { format!("{} days", policy.window_days) }),
        many("Ways back", policy.offers.iter().map(offer).collect()),
        one("Weight limit of express-returns", format!("{} lb", policy.express_limit)),
        many("Reasons", policy.reasons.clone()),
        many("Exchange offered for", policy.exchange_reasons.clone()),
        one(
            "Gift card instead of a refund",
            match &policy.gift_card {
                None => "not offered".to_owned(),
                Some(terms) if terms.bonus == Cents::default() => terms.sku.clone(),
                Some(terms) => format!("{}, {} more on each card", terms.sku, decimal(terms.bonus)),
            },
        ),
        one("Concept in exchange orders", policy.concept.clone().unwrap_or_else(|| "none".to_owned())),
        one(
            "Answers 409, 410 and 422 to an exchange order",
            if policy.refusals_are_final { "final: its units are refunded" } else { "tried again" }.to_owned(),
        ),
        one(
            "A return is settled by",
            match policy.refund_closes {
                RefundCloses::All => "refunds of all its units",
                RefundCloses::Any => "its first refund",
            }
            .to_owned(),
        ),
        one("Received by", if policy.managed_receiving { "the warehouse, for the merchant" } else { "the merchant" }.to_owned()),
        many("Tags", tags.collect()),
    ]
}

fn offer(offer: &Offer) -> String {
    let Offer { method, fee, deducted } = offer;
    match (fee.get(), deducted) {
        (0, _) => format!("{method}, free"),
        (_, false) => format!("{method}, {}", decimal(*fee)),
        (_, true) => format!("{method}, {} off the refund", decimal(*fee)),
    }
}

/// The settings in which `after` differs from `before`.
pub(super) fn differences(before: &Policy, after: &Policy) -> Vec<Difference> {
    let both = settings(before).into_iter().zip(settings(after));
    both.filter(|(was, is)| was.items != is.items).map(|(was, is)| difference(was, is)).collect()
}

fn difference(was: Setting, is: Setting) -> Difference {
    let without = |items: &[String], others: &[String]| items.iter().filter(|item| !others.contains(item)).cloned().collect::<Vec<_>>();
    let (removed, added) = (without(&was.items, &is.items), without(&is.items, &was.items));
    if removed.is_empty() && added.is_empty() {
        // The same words in another order.
        return Difference { name: is.name, removed: vec![was.items.join(", ")], added: vec![is.items.join(", ")] };
    }
    Difference { name: is.name, removed, added }
}

/// The command that makes the same change.
pub(super) fn command(handle: &str, change: &PolicyChange) -> String {
    let mut options: Vec<(&str, Option<String>)> = Vec::new();
    let switch = |on: bool| Some(if on { "on" } else { "off" }.to_owned());
    options.extend(change.window_days.map(|days| ("window-days", Some(days.to_string()))));
    for offer in change.offers.iter().flatten() {
        options.push(("method", Some(offer.to_string())));
    }
    options.extend(change.express_limit.map(|limit| ("express-limit", Some(limit.to_string()))));
    for reason in change.reasons.iter().flatten() {
        options.push(("reason", Some(reason.clone())));
    }
    match change.exchange_reasons.as_deref() {
        Some([]) => options.push(("no-exchange-reason", None)),
        listed => options.extend(listed.unwrap_or_default().iter().map(|reason| ("exchange-reason", Some(reason.clone())))),
    }
    options.extend(change.gift_card.as_ref().map(|terms| match terms {
        Some(terms) => ("gift-card", Some(format!("{}:{}", terms.sku, terms.bonus.get()))),
        None => ("no-gift-card", None),
    }));
    options.extend(change.concept.as_ref().map(|concept| match concept {
        Some(concept) => ("concept", Some(concept.clone())),
        None => ("no-concept", None),
    }));
    options.extend(change.refusals_are_final.map(|on| ("refusals-are-final", switch(on))));
    options.extend(change.refund_closes.map(|closes| ("refund-closes", Some(closes.to_string()))));
    options.extend(change.managed_receiving.map(|on| ("managed-receiving", switch(on))));
    options.extend(change.tags.iter().map(|(tag, rule)| ("tag", Some(format!("{}={rule}", tag.as_str())))));
    options.extend(change.forgotten_tags.iter().map(|tag| ("no-tag", Some(tag.as_str().to_owned()))));
    let told = options.into_iter().map(|(name, value)| match value {
        Some(value) => format!(" --{name} {}", quoted(&value)),
        None => format!(" --{name}"),
    });
    format!("backhaul policy set --merchant {handle}{}", told.collect::<String>())
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:=,@/".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use domain::returns::rma::policy::{GiftCardTerms, Tag, TagRule};

    use super::*;

    fn told(before: &Policy, after: &Policy) -> Vec<(&'static str, String, String)> {
        let told = |difference: Difference| (difference.name, difference.removed.join(" | "), difference.added.join(" | "));
        differences(before, after).into_iter().map(told).collect()
    }

    #[test]
    fn a_difference_names_what_comes_and_goes() {
        let before = Policy::default();
        assert_eq!(told(&before, &before), []);
        let mut after = Policy { window_days: 45, ..before.clone() };
        after.reasons.retain(|reason| reason != "DAMAGED");
        after.reasons.push("TORN".to_owned());
        after.offers.reverse();
        let text = |text: &str| text.to_owned();
        assert_eq!(
            told(&before, &after),
            [
                ("Window", text("30 days"), text("45 days")),
                ("Ways back", text("mail-back, free, express-returns, free"), text("express-returns, free, mail-back, free")),
                ("Reasons", text("DAMAGED"), text("TORN")),
            ]
        );
    }

    #[test]
    fn the_command_has_what_changed_as_a_shell_reads_it() {
        let before = Policy { concept: Some("Old".to_owned()), ..Policy::default() };
        let after = Policy {
            reasons: vec!["It's torn".to_owned()],
            exchange_reasons: vec![],
            gift_card: Some(GiftCardTerms { sku: "CARD".to_owned(), bonus: Cents::new(500).unwrap_or_default() }),
            concept: None,
            managed_receiving: true,
            tags: [(Tag::new("Clearance"), TagRule::FinalSale)].into(),
            ..before.clone()
        };
        assert_eq!(
            command("acme", &PolicyChange::between(&before, &after)),
            r"backhaul policy set --merchant acme --reason 'It'\''s torn' --no-exchange-reason --gift-card CARD:500 --no-concept --managed-receiving on --tag clearance=final_sale"
        );
    }
}
