//! `backhaul policy …`: what merchants' returns may be like.

use anyhow::Context as _;
use clap::{Args, Subcommand, ValueEnum};
use domain::id::Handle;
use domain::money::Cents;
use domain::rma::policy::{GiftCardTerms, Offer, Policy, Tag, TagRule};
use domain::rma::sale::Weight;
use serde::Serialize;
use store::return_policies;

use super::output::{self, Format};
use super::{actor, merchant};
use crate::app::App;
use crate::flow::set_policy::{Change, set_policy};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Show a merchant's policy for returns; the usual one where nothing was set.
    Show {
        /// The merchant's short name.
        merchant: Handle,
    },
    /// Change a merchant's policy: what is not given stays as it is, and so do returns that are under way.
    Set(Set),
}

#[derive(Args)]
pub(super) struct Set {
    /// The merchant's short name.
    merchant: Handle,
    /// How many days after it was shipped a unit can come back.
    #[arg(long)]
    window_days: Option<u16>,
    /// A reason that shoppers can choose. Given once for each; together they replace the list.
    #[arg(long)]
    reason: Vec<String>,
    /// A reason for which shoppers are offered an exchange, one of those that they can choose. Given once for each; together
    /// they replace the list.
    #[arg(long, value_name = "REASON")]
    exchange_reason: Vec<String>,
    /// Offer no exchange, whatever the reason.
    #[arg(long, conflicts_with = "exchange_reason")]
    no_exchange_reason: bool,
    /// A way back with its fee in cents: `mail-back`, `mail-back:499`, or `mail-back:499:deducted` when the fee is taken off the
    /// refund. Given once for each; together they replace the list, in the order in which shoppers see them.
    #[arg(long, value_name = "METHOD[:CENTS[:deducted]]")]
    method: Vec<Offer>,
    /// Whether the warehouse receives for the merchant.
    #[arg(long, value_enum)]
    managed_receiving: Option<Switch>,
    /// What a return by express may weigh, in pounds.
    #[arg(long, value_name = "POUNDS")]
    express_limit: Option<Weight>,
    /// The gift cards that can be had instead of the money: the agreed SKU, and in cents what the merchant adds to each.
    #[arg(long, value_name = "SKU[:BONUS_CENTS]", value_parser = gift_card, conflicts_with = "no_gift_card")]
    gift_card: Option<GiftCardTerms>,
    /// There are no gift cards any more.
    #[arg(long)]
    no_gift_card: bool,
    /// The merchant's word for what it sells, typically a brand, for exchange orders of lines that have none.
    #[arg(long, conflicts_with = "no_concept")]
    concept: Option<String>,
    /// There is no such word any more.
    #[arg(long)]
    no_concept: bool,
    /// Whether 409 and 422 are the merchant's last word on an exchange order, so that its units are refunded at once.
    #[arg(long, value_enum)]
    refusals_are_final: Option<Switch>,
    /// What a tag of orders or lines means: `final_sale`, `gift_card`, `pickup_in_store`, `third_party`, `gift`, or `allowed`.
    #[arg(long, value_name = "TAG=RULE", value_parser = tag_rule)]
    tag: Vec<(Tag, TagRule)>,
    /// Take back what a tag means.
    #[arg(long, value_name = "TAG")]
    no_tag: Vec<String>,
}

impl Switch {
    const fn is_on(self) -> bool {
        match self {
            Self::On => true,
            Self::Off => false,
        }
    }
}

/// The terms of gift cards, as the operator writes them.
fn gift_card(text: &str) -> Result<GiftCardTerms, String> {
    let (sku, bonus) = text.rsplit_once(':').unwrap_or((text, "0"));
    let bonus =
        bonus.parse().ok().and_then(Cents::new).ok_or_else(|| "gift cards are written like GIFT-CARD or GIFT-CARD:500".to_owned())?;
    Ok(GiftCardTerms { sku: sku.to_owned(), bonus })
}

/// On or off.
#[derive(Clone, Copy, ValueEnum)]
enum Switch {
    On,
    Off,
}

/// A tag and its rule, as the operator writes them.
fn tag_rule(text: &str) -> Result<(Tag, TagRule), String> {
    let written = || "a rule for a tag is written like clearance=final_sale".to_owned();
    let (tag, rule) = text.rsplit_once('=').ok_or_else(written)?;
    let rules = || TagRule::ALL.iter().map(|rule| rule.as_str()).collect::<Vec<_>>().join(", ");
    Ok((Tag::new(tag), rule.trim().parse().map_err(|_| format!("a tag means one of {}", rules()))?))
}

impl From<Set> for Change {
    fn from(set: Set) -> Self {
        Self {
            window_days: set.window_days,
            reasons: Some(set.reason).filter(|reasons| !reasons.is_empty()),
            exchange_reasons: Some(set.exchange_reason).filter(|reasons| !reasons.is_empty() || set.no_exchange_reason),
            offers: Some(set.method).filter(|offers| !offers.is_empty()),
            gift_card: if set.no_gift_card { Some(None) } else { set.gift_card.map(Some) },
            concept: if set.no_concept { Some(None) } else { set.concept.map(Some) },
            refusals_are_final: set.refusals_are_final.map(Switch::is_on),
            managed_receiving: set.managed_receiving.map(Switch::is_on),
            express_limit: set.express_limit,
            tags: set.tag.into_iter().collect(),
            forgotten_tags: set.no_tag.iter().map(|tag| Tag::new(tag)).collect(),
        }
    }
}

#[derive(Serialize)]
struct Shown {
    merchant: String,
    window_days: u16,
    reasons: Vec<String>,
    exchange_reasons: Vec<String>,
    methods: Vec<ShownMethod>,
    managed_receiving: bool,
    gift_card_sku: Option<String>,
    gift_card_bonus_cents: i64,
    concept: Option<String>,
    refusals_are_final: bool,
    express_limit_pounds: f64,
    tags: Vec<ShownTag>,
}

#[derive(Serialize)]
struct ShownMethod {
    method: &'static str,
    fee_cents: i64,
    deducted: bool,
}

#[derive(Serialize)]
struct ShownTag {
    tag: String,
    rule: &'static str,
}

/// What people see above the ways back and the tags.
#[derive(Serialize)]
struct Head {
    merchant: String,
    window_days: u16,
    reasons: String,
    exchange_reasons: String,
    managed_receiving: &'static str,
    gift_card_sku: Option<String>,
    gift_card_bonus_cents: i64,
    concept: Option<String>,
    refusals_are_final: &'static str,
    express_limit_pounds: String,
}

pub(super) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::Show { merchant: handle } => {
            let whose = merchant(app, &handle).await?;
            show(&handle, &return_policies::current(app.store(whose.id), whose.id).await?, format)
        }
        Command::Set(set) => {
            let handle = set.merchant.clone();
            let whose = merchant(app, &handle).await?;
            show(&handle, &set_policy(app, &actor(), whose.id, set.into()).await?, format)
        }
    }
}

fn show(handle: &Handle, policy: &Policy, format: Format) -> anyhow::Result<()> {
    let method = |offer: &Offer| ShownMethod { method: offer.method.as_str(), fee_cents: offer.fee.get(), deducted: offer.deducted };
    let methods: Vec<ShownMethod> = policy.offers.iter().map(method).collect();
    let tag = |(tag, rule): (&Tag, &TagRule)| ShownTag { tag: tag.as_str().to_owned(), rule: rule.as_str() };
    let tags: Vec<ShownTag> = policy.tags.iter().map(tag).collect();
    if format == Format::Json {
        let shown = Shown {
            merchant: handle.to_string(),
            window_days: policy.window_days,
            reasons: policy.reasons.clone(),
            exchange_reasons: policy.exchange_reasons.clone(),
            methods,
            managed_receiving: policy.managed_receiving,
            gift_card_sku: policy.gift_card.as_ref().map(|terms| terms.sku.clone()),
            gift_card_bonus_cents: policy.gift_card.as_ref().map_or(0, |terms| terms.bonus.get()),
            concept: policy.concept.clone(),
            refusals_are_final: policy.refusals_are_final,
            express_limit_pounds: policy.express_limit.to_string().parse().context("a weight is a number")?,
            tags,
        };
        return output::one(format, &shown);
    }
    let head = Head {
        merchant: handle.to_string(),
        window_days: policy.window_days,
        reasons: policy.reasons.join(", "),
        exchange_reasons: policy.exchange_reasons.join(", "),
        managed_receiving: switched(policy.managed_receiving),
        gift_card_sku: policy.gift_card.as_ref().map(|terms| terms.sku.clone()),
        gift_card_bonus_cents: policy.gift_card.as_ref().map_or(0, |terms| terms.bonus.get()),
        concept: policy.concept.clone(),
        refusals_are_final: switched(policy.refusals_are_final),
        express_limit_pounds: policy.express_limit.to_string(),
    };
    output::one(format, &head)?;
    output::line("");
    output::list(format, &methods, "", &["METHOD", "FEE CENTS", "DEDUCTED"], |shown| {
        vec![shown.method.to_owned(), shown.fee_cents.to_string(), if shown.deducted { "yes" } else { "no" }.to_owned()]
    })?;
    output::line("");
    output::list(format, &tags, "No tags of its own; the known ones are in force.", &["TAG", "RULE"], |shown| {
        vec![shown.tag.clone(), shown.rule.to_owned()]
    })
}

const fn switched(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}
