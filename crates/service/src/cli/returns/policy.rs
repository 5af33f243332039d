//! `backhaul policy …`: merchants' return policies.

use anyhow::Context as _;
use clap::{Args, Subcommand, ValueEnum};
use domain::id::Handle;
use domain::money::Cents;
use domain::returns::rma::policy::{GiftCardTerms, Offer, Policy, RefundCloses, Tag, TagRule};
use domain::returns::rma::sale::Weight;
use serde::Serialize;
use store::returns::return_policies;

use crate::app::App;
use crate::cli::context::{OfMerchant, actor};
use crate::cli::output::{self, Format};
use crate::flow::returns::set_policy::{PolicyChange, set_policy};

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// Show a merchant's return policy, or the default policy if none was set.
    Show {
        #[command(flatten)]
        merchant: OfMerchant,
    },
    /// Change a merchant's return policy.
    ///
    /// Options that are left out keep their value. Returns that have already started keep the policy they started with, except that
    /// `--refund-closes` and `--refusals-are-final` apply from the next refund and the next answer on.
    Set(Set),
}

#[derive(Args)]
pub(in crate::cli) struct Set {
    #[command(flatten)]
    merchant: OfMerchant,
    /// The number of days after shipping within which a unit can be returned.
    #[arg(long)]
    window_days: Option<u16>,
    /// A reason that shoppers can choose. Repeat for several; together they replace the list.
    #[arg(long)]
    reason: Vec<String>,
    /// A reason for which shoppers are offered an exchange; it must be one of the reasons they can choose. Repeat for several;
    /// together they replace the list.
    #[arg(long, value_name = "REASON")]
    exchange_reason: Vec<String>,
    /// Offer exchanges for no reason at all.
    #[arg(long, conflicts_with = "exchange_reason")]
    no_exchange_reason: bool,
    /// A return method with its fee in cents: `mail-back`, `mail-back:499`, or `mail-back:499:deducted` if the fee is deducted
    /// from the refund. Repeat for several; together they replace the list, in the order in which shoppers see them.
    #[arg(long, value_name = "METHOD[:CENTS[:deducted]]")]
    method: Vec<Offer>,
    /// Managed receiving: the warehouse receives returns for the merchant.
    #[arg(long, value_enum)]
    managed_receiving: Option<Switch>,
    /// The most that an express return may weigh, in pounds.
    #[arg(long, value_name = "POUNDS")]
    express_limit: Option<Weight>,
    /// Offer gift cards instead of refunds: their SKU, and the bonus in cents that the merchant adds to each.
    #[arg(long, value_name = "SKU[:BONUS_CENTS]", value_parser = gift_card, conflicts_with = "no_gift_card")]
    gift_card: Option<GiftCardTerms>,
    /// Stop offering gift cards.
    #[arg(long)]
    no_gift_card: bool,
    /// The concept (typically a brand) to use in exchange orders for lines that have none.
    #[arg(long, conflicts_with = "no_concept")]
    concept: Option<String>,
    /// Clear the concept.
    #[arg(long)]
    no_concept: bool,
    /// Take 409, 410 and 422 to mean that an exchange order cannot be placed, so that its units are refunded at once.
    #[arg(long, value_enum)]
    refusals_are_final: Option<Switch>,
    /// The refunds that settle a return: `all` waits until every unit is refunded, `any` takes the first refund for all of them.
    #[arg(long, value_name = "ANY|ALL", value_parser = refund_closes)]
    refund_closes: Option<RefundCloses>,
    /// A tag of orders or lines and its rule: `final_sale`, `gift_card`, `pickup_in_store`, `third_party`, `gift` or `allowed`.
    #[arg(long, value_name = "TAG=RULE", value_parser = tag_rule)]
    tag: Vec<(Tag, TagRule)>,
    /// Remove the rule of this tag.
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

/// Parses the value of `--gift-card`.
fn gift_card(text: &str) -> Result<GiftCardTerms, String> {
    let (sku, bonus) = text.rsplit_once(':').unwrap_or((text, "0"));
    let bonus = bonus.parse().ok().and_then(Cents::new).ok_or_else(|| "write gift cards as GIFT-CARD or GIFT-CARD:500".to_owned())?;
    Ok(GiftCardTerms { sku: sku.to_owned(), bonus })
}

/// Parses the value of `--refund-closes`.
fn refund_closes(text: &str) -> Result<RefundCloses, String> {
    text.parse().map_err(|_| "write any or all".to_owned())
}

#[derive(Clone, Copy, ValueEnum)]
enum Switch {
    On,
    Off,
}

/// Parses the value of `--tag`.
fn tag_rule(text: &str) -> Result<(Tag, TagRule), String> {
    let malformed = || "write a tag's rule as clearance=final_sale".to_owned();
    let (tag, rule) = text.rsplit_once('=').ok_or_else(malformed)?;
    let rules = || TagRule::ALL.iter().map(|rule| rule.as_str()).collect::<Vec<_>>().join(", ");
    Ok((Tag::new(tag), rule.trim().parse().map_err(|_| format!("the rule of a tag must be one of {}", rules()))?))
}

impl From<Set> for PolicyChange {
    fn from(set: Set) -> Self {
        Self {
            window_days: set.window_days,
            reasons: Some(set.reason).filter(|reasons| !reasons.is_empty()),
            exchange_reasons: Some(set.exchange_reason).filter(|reasons| !reasons.is_empty() || set.no_exchange_reason),
            offers: Some(set.method).filter(|offers| !offers.is_empty()),
            gift_card: if set.no_gift_card { Some(None) } else { set.gift_card.map(Some) },
            concept: if set.no_concept { Some(None) } else { set.concept.map(Some) },
            refusals_are_final: set.refusals_are_final.map(Switch::is_on),
            refund_closes: set.refund_closes,
            managed_receiving: set.managed_receiving.map(Switch::is_on),
            express_limit: set.express_limit,
            tags: set.tag.into_iter().collect(),
            forgotten_tags: set.no_tag.iter().map(|tag| Tag::new(tag)).collect(),
        }
    }
}

#[derive(Serialize)]
struct PolicyOut {
    merchant: String,
    window_days: u16,
    reasons: Vec<String>,
    exchange_reasons: Vec<String>,
    methods: Vec<MethodOut>,
    managed_receiving: bool,
    gift_card_sku: Option<String>,
    gift_card_bonus_cents: i64,
    concept: Option<String>,
    refusals_are_final: bool,
    refund_closes: &'static str,
    express_limit_pounds: f64,
    tags: Vec<TagOut>,
}

#[derive(Serialize)]
struct MethodOut {
    method: &'static str,
    fee_cents: i64,
    deducted: bool,
}

#[derive(Serialize)]
struct TagOut {
    tag: String,
    rule: &'static str,
}

/// The fields printed above the methods and the tags.
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
    refund_closes: &'static str,
    express_limit_pounds: String,
}

pub(in crate::cli) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::Show { merchant } => {
            let id = merchant.find(app).await?.id;
            show(&merchant.handle, &return_policies::current(app.store(id), id).await?, format)
        }
        Command::Set(set) => {
            let handle = set.merchant.handle.clone();
            let id = set.merchant.find(app).await?.id;
            show(&handle, &set_policy(app, &actor(), id, set.into()).await?, format)
        }
    }
}

fn show(handle: &Handle, policy: &Policy, format: Format) -> anyhow::Result<()> {
    let method = |offer: &Offer| MethodOut { method: offer.method.as_str(), fee_cents: offer.fee.get(), deducted: offer.deducted };
    let methods: Vec<MethodOut> = policy.offers.iter().map(method).collect();
    let tag = |(tag, rule): (&Tag, &TagRule)| TagOut { tag: tag.as_str().to_owned(), rule: rule.as_str() };
    let tags: Vec<TagOut> = policy.tags.iter().map(tag).collect();
    if format == Format::Json {
        let shown = PolicyOut {
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
            refund_closes: policy.refund_closes.as_str(),
            express_limit_pounds: policy.express_limit.to_string().parse().context("the express limit is not a number")?,
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
        refund_closes: policy.refund_closes.as_str(),
        express_limit_pounds: policy.express_limit.to_string(),
    };
    output::one(format, &head)?;
    output::line("");
    output::list(format, &methods, "", &["METHOD", "FEE CENTS", "DEDUCTED"], |shown| {
        vec![shown.method.to_owned(), shown.fee_cents.to_string(), if shown.deducted { "yes" } else { "no" }.to_owned()]
    })?;
    output::line("");
    output::list(format, &tags, "The merchant has no tag rules of its own; the default rules apply.", &["TAG", "RULE"], |shown| {
        vec![shown.tag.clone(), shown.rule.to_owned()]
    })
}

const fn switched(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}
