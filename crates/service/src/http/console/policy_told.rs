//! A return policy in words, and the command that makes the same change.

use domain::money::{Cents, decimal};
use domain::returns::rma::policy::{Offer, Policy, RefundCloses};

use super::command_line::{CommandOption, command_line};
use super::difference::{Difference, Setting, compare};
use crate::flow::returns::set_policy::PolicyChange;

/// The settings of a policy, in the order of the form.
pub(super) fn settings(policy: &Policy) -> Vec<Setting> {
    let tags = policy.tags.iter().map(|(tag, rule)| format!("{} = {rule}", tag.as_str()));
    vec![
        Setting::one("Window", if policy.window_days == 1 { "1 day".to_owned() } else { format!("{} days", policy.window_days) }),
        Setting::many("Ways back", policy.offers.iter().map(offer).collect()),
        Setting::one("Weight limit of express-returns", format!("{} lb", policy.express_limit)),
        Setting::many("Reasons", policy.reasons.clone()),
        Setting::many("Exchange offered for", policy.exchange_reasons.clone()),
        Setting::one(
            "Gift card instead of a refund",
            match &policy.gift_card {
                None => "not offered".to_owned(),
                Some(terms) if terms.bonus == Cents::default() => terms.sku.clone(),
                Some(terms) => format!("{}, {} more on each card", terms.sku, decimal(terms.bonus.get())),
            },
        ),
        Setting::one("Concept in exchange orders", policy.concept.clone().unwrap_or_else(|| "none".to_owned())),
        Setting::one(
            "Answers 409, 410 and 422 to an exchange order",
            if policy.refusals_are_final { "final: its units are refunded" } else { "tried again" },
        ),
        Setting::one(
            "A return is settled by",
            match policy.refund_closes {
                RefundCloses::All => "refunds of all its units",
                RefundCloses::Any => "its first refund",
            },
        ),
        Setting::one("Received by", if policy.managed_receiving { "the warehouse, for the merchant" } else { "the merchant" }),
        Setting::many("Tags", tags.collect()),
    ]
}

fn offer(offer: &Offer) -> String {
    let Offer { method, fee, deducted } = offer;
    match (fee.get(), deducted) {
        (0, _) => format!("{method}, free"),
        (_, false) => format!("{method}, {}", decimal(fee.get())),
        (_, true) => format!("{method}, {} off the refund", decimal(fee.get())),
    }
}

/// The settings in which `after` differs from `before`.
pub(super) fn differences(before: &Policy, after: &Policy) -> Vec<Difference> {
    compare(settings(before), settings(after))
}

/// The command that makes the same change.
pub(super) fn command(handle: &str, change: &PolicyChange) -> String {
    let mut options: Vec<CommandOption> = Vec::new();
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
    command_line(&format!("backhaul policy set --merchant {handle}"), &options)
}

#[cfg(test)]
mod tests {
    use domain::returns::rma::policy::{GiftCardTerms, Tag, TagRule};

    use super::*;

    fn told(before: &Policy, after: &Policy) -> Vec<(String, String, String)> {
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
        let told = told(&before, &after);
        let told: Vec<_> = told.iter().map(|(name, removed, added)| (name.as_str(), removed.as_str(), added.as_str())).collect();
        assert_eq!(
            told,
            [
                ("Window", "30 days", "45 days"),
                ("Ways back", "mail-back, free, express-returns, free", "express-returns, free, mail-back, free"),
                ("Reasons", "DAMAGED", "TORN"),
            ]
        );
    }

    #[test]
    fn the_command_has_what_changed() {
        let before = Policy { concept: Some("Old".to_owned()), ..Policy::default() };
        let after = Policy {
            reasons: vec!["TORN".to_owned()],
            exchange_reasons: vec![],
            gift_card: Some(GiftCardTerms { sku: "CARD".to_owned(), bonus: Cents::new(500).unwrap_or_default() }),
            concept: None,
            managed_receiving: true,
            tags: [(Tag::new("Clearance"), TagRule::FinalSale)].into(),
            ..before.clone()
        };
        assert_eq!(
            command("acme", &PolicyChange::between(&before, &after)),
            "backhaul policy set --merchant acme --reason TORN --no-exchange-reason --gift-card CARD:500 --no-concept --managed-receiving on --tag clearance=final_sale"
        );
    }
}
