//! Returns as merchants' systems start them and look at them: `/v1/returns`, `/v1/orders/{identifier}/returnable`.

use std::sync::LazyLock;

use domain::rma::Method;
use domain::rma::choice::{Choice, Impossible, Instead, NoExchange, Wanted};
use domain::rma::eligibility::Obstacle;
use domain::rma::policy::{NOT_GIVEN, Policy};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use crate::fault::{Code, Fault, Path};
use crate::json::Str;
use crate::order::{Faults, Refusal};
use crate::schema::{self, Explainer};
use crate::shape::{Flag, Identifier, List, Quantity, Shape, object};

/// How many returns a page has at most.
pub const MOST_RETURNS: u32 = 100;

/// How many it has when nothing is said.
const USUAL_RETURNS: u32 = 50;

/// How many entries a return may be started with.
const MOST_ITEMS: usize = 100;

object! {
    /// A return to start.
    pub struct StartReturnIn<'a> as "StartReturn" at 1 {
        /// The order that the units are of.
        order_identifier: Identifier<'a>,
        /// How they come back.
        return_method: MethodWord,
        /// What comes back.
        items: List<ReturnedIn<'a>, 1, MOST_ITEMS>,
        /// For gift orders: the e-mail address of whoever returns the gift.
        giftee_email: Option<Identifier<'a>>,
    }
}

object! {
    /// Units of one line that come back for one reason.
    pub struct ReturnedIn<'a> as "ReturnedUnits" at 3 {
        /// The line of the order.
        order_line_item_identifier: Identifier<'a>,
        /// How many units; one when nothing is said.
        quantity: Option<Quantity>,
        /// One of the merchant's reasons; `NOT_GIVEN` when nothing is said.
        return_reason: Option<Identifier<'a>>,
        /// The SKU of the variant that the shopper takes instead of the money, one of the line's `exchange_options`.
        exchange_sku: Option<Identifier<'a>>,
        /// Whether the shopper takes a gift card instead of the money.
        gift_card: Option<Flag>,
    }
}

/// How units come back.
#[derive(Clone, Copy)]
pub struct MethodWord(pub Method);

impl<'de> Deserialize<'de> for MethodWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Str(word) = Str::deserialize(deserializer)?;
        word.parse().map(Self).map_err(D::Error::custom)
    }
}

impl Shape for MethodWord {
    fn schema() -> Value {
        json!({ "type": "string", "enum": Method::ALL.iter().map(|method| method.as_str()).collect::<Vec<_>>() })
    }
}

static EXPLAINER: LazyLock<Explainer> = LazyLock::new(Explainer::of::<StartReturnIn<'_>>);

/// Reads a return to start.
pub fn read(body: &[u8]) -> Result<StartReturnIn<'_>, Refusal> {
    let wanted: StartReturnIn<'_> = schema::read(body, &EXPLAINER)?;
    let faults: Vec<Fault> = wanted.items.0.iter().enumerate().filter_map(|(at, item)| item.both(at)).collect();
    if faults.is_empty() { Ok(wanted) } else { Err(Refusal::Faulty(Faults { faults, identifiers: Vec::new() })) }
}

impl StartReturnIn<'_> {
    /// What is wanted, with the defaults for what was left out.
    #[must_use]
    pub fn choice(&self) -> Choice<'_> {
        let items = self.items.0.iter().map(ReturnedIn::wanted).collect();
        Choice { method: self.return_method.0, items, giftee: self.giftee_email.is_some() }
    }
}

impl ReturnedIn<'_> {
    fn wanted(&self) -> Wanted<'_> {
        Wanted {
            line: &self.order_line_item_identifier.0,
            quantity: self.quantity.map_or(1, |quantity| quantity.0),
            reason: self.return_reason.as_ref().map_or(NOT_GIVEN, |reason| &*reason.0),
            instead: match &self.exchange_sku {
                Some(sku) => Instead::Variant(&sku.0),
                None if self.takes_gift_card() => Instead::GiftCard,
                None => Instead::Refund,
            },
        }
    }

    fn takes_gift_card(&self) -> bool {
        self.gift_card.is_some_and(|Flag(card)| card)
    }

    /// That a unit is exchanged for two things.
    fn both(&self, at: usize) -> Option<Fault> {
        let path = || Path::root().field("items").index(at).field("gift_card");
        (self.exchange_sku.is_some() && self.takes_gift_card())
            .then(|| Fault::new(path(), Code::Invalid, "a unit is exchanged for a variant or for a gift card, not for both"))
    }
}

/// Why a return cannot be started, as a fault of the request; `policy` is the merchant's.
#[must_use]
pub fn fault(impossible: &Impossible, policy: &Policy) -> Fault {
    let item = |at: usize, name: &str| Path::root().field("items").index(at).field(name);
    let invalid = |path: Path, message: String| Fault::new(path, Code::Invalid, message);
    match impossible {
        Impossible::Reason { item: at } => {
            let known = policy.reasons.iter().map(String::as_str).chain([NOT_GIVEN]).collect::<Vec<_>>().join(", ");
            invalid(item(*at, "return_reason"), format!("must be one of {known}"))
        }
        Impossible::Line { item: at } => invalid(item(*at, "order_line_item_identifier"), "is no line of the order".to_owned()),
        Impossible::Units { item: at, free, held } => invalid(item(*at, "quantity"), too_many(*free, held)),
        Impossible::Exchange { item: at, why } => {
            let name = match why {
                NoExchange::NoGiftCard | NoExchange::Gift => "gift_card",
                NoExchange::Reason(_) => "return_reason",
                NoExchange::OutOfStock(_) => "quantity",
                NoExchange::NotOffered | NoExchange::ExchangedBefore | NoExchange::NoVariants | NoExchange::NotAVariant(_) => {
                    "exchange_sku"
                }
            };
            invalid(item(*at, name), no_exchange(why))
        }
        Impossible::Method { offered } if offered.is_empty() => {
            invalid(Path::root().field("return_method"), "there is no way back for these items".to_owned())
        }
        Impossible::Method { offered } => {
            let ways = offered.iter().map(|method| method.as_str()).collect::<Vec<_>>().join(", ");
            invalid(Path::root().field("return_method"), format!("must be one of {ways}"))
        }
        Impossible::GifteeMissing => {
            Fault::new(Path::root().field("giftee_email"), Code::MissingField, "is required for a gift: who returns it")
        }
        Impossible::NoGift => invalid(Path::root().field("giftee_email"), "is for gifts only, and the order is none".to_owned()),
    }
}

/// Why something else than the money cannot be had.
fn no_exchange(why: &NoExchange) -> String {
    match why {
        NoExchange::NotOffered => "the merchant takes no exchange orders; leave it out for a refund".to_owned(),
        NoExchange::ExchangedBefore => "the order was exchanged before, and is exchanged once only; leave it out for a refund".to_owned(),
        NoExchange::NoVariants => "the line has no variants that it could be exchanged for".to_owned(),
        NoExchange::Reason(reasons) => format!("must be one of {} for an exchange", reasons.join(", ")),
        NoExchange::NotAVariant(skus) if skus.is_empty() => "nothing is offered for an even exchange at the moment".to_owned(),
        NoExchange::NotAVariant(skus) => format!("must be one of {}", skus.join(", ")),
        NoExchange::OutOfStock(0) => "no more units of this variant are in stock".to_owned(),
        NoExchange::OutOfStock(left) => format!("must be at most {left}; no more units of this variant are in stock"),
        NoExchange::NoGiftCard => "the merchant has no gift cards; leave it out for a refund".to_owned(),
        NoExchange::Gift => "what was a gift is refunded to a gift card anyway; leave it out".to_owned(),
    }
}

/// How many units can come back, and why no more.
fn too_many(free: u32, held: &[(Obstacle, u32)]) -> String {
    let why = held.iter().map(|(obstacle, units)| format!("{units} {obstacle}")).collect::<Vec<_>>().join(", ");
    let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
    match free {
        0 => format!("no more units of this line can come back{why}"),
        _ => format!("must be from 1 to {free}; more units of this line cannot come back{why}"),
    }
}

/// Which returns are wanted.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ReturnsQuery {
    /// Of this order.
    #[param(required = false)]
    pub order_identifier: Option<String>,
    /// With this tracking number.
    #[param(required = false)]
    pub tracking_number: Option<String>,
    /// In this status: `CREATED`, `PARTIAL_REFUND`, `REFUNDED` or `CANCELED`.
    #[param(required = false)]
    pub status: Option<String>,
    /// Started at this time or later (ISO 8601).
    #[param(required = false)]
    pub from: Option<String>,
    /// Started before this time (ISO 8601).
    #[param(required = false)]
    pub to: Option<String>,
    /// Go on: the `next_before` of the page before.
    #[param(required = false)]
    pub before: Option<String>,
    /// How many at most.
    #[serde(default = "usual_returns")]
    #[param(required = false, minimum = 1, maximum = 100, default = 50)]
    pub limit: u32,
}

fn usual_returns() -> u32 {
    USUAL_RETURNS
}

/// A page of returns.
#[derive(Serialize, ToSchema)]
pub struct Returns {
    /// Newest first.
    pub returns: Vec<ReturnListed>,
    /// Whether there may be more.
    pub has_more: bool,
    /// Ask with this as `before` to go on; null when there are no more.
    pub next_before: Option<String>,
}

/// A return in a list.
#[derive(Serialize, ToSchema)]
pub struct ReturnListed {
    /// The return.
    pub rma_identifier: String,
    /// Its order.
    pub order_identifier: String,
    /// Where it stands.
    pub status: &'static str,
    /// How it comes back.
    pub return_method: &'static str,
    /// How many units it has.
    pub units: i64,
    /// How far its exchange has come: `pending` or `placed`; null when nothing is exchanged.
    pub exchange: Option<&'static str>,
    /// When it was started.
    pub created_at: String,
    /// When it last changed.
    pub updated_at: String,
}

/// A return with everything that is known of it.
#[derive(Serialize, Deserialize, ToSchema)]
pub struct ReturnOut {
    /// Generated by the service; read over the phone.
    pub rma_identifier: String,
    /// Its order.
    pub order_identifier: String,
    /// Where it stands: `CREATED`, `PARTIAL_REFUND`, `REFUNDED` or `CANCELED`.
    pub status: String,
    /// Why it was cancelled.
    pub cancel_reason: Option<String>,
    /// How it comes back.
    pub return_method: String,
    /// Return shipping cost.
    pub return_shipping_cost_cents: i64,
    /// Whether it is refunded to a gift card.
    pub gift_refund_only: bool,
    /// How often it has changed; `X-Service-Sequence` of its last message.
    pub sequence: i64,
    /// When it was started.
    pub created_at: String,
    /// When it last changed.
    pub updated_at: String,
    /// When it is cancelled unless a carrier takes the parcel; null once that has happened.
    pub expires_at: Option<String>,
    /// Whether it can still be cancelled.
    pub can_cancel: bool,
    /// What the shopper has instead of the money; null when nothing was to be exchanged.
    pub exchange: Option<ExchangeOut>,
    /// Its units.
    pub items: Vec<ReturnItemOut>,
}

/// What a shopper has instead of the money.
#[derive(Serialize, Deserialize, ToSchema)]
pub struct ExchangeOut {
    /// `pending` while the merchant is owed the order, `placed` once it has placed it, `converted` when the units are refunded
    /// after all.
    pub state: String,
    /// The message with the order, as in `/v1/messages`.
    pub message_id: String,
    /// The merchant's identifier of the order, once it is placed.
    pub exchange_order_identifier: Option<String>,
    /// What a gift card is worth without its bonus, where there is one.
    pub gift_card_amount_cents: Option<i64>,
    /// What the merchant adds to it.
    pub bonus_credit_amount_cents: Option<i64>,
    /// What the merchant answered as the order's total.
    pub total_amount_cents: Option<i64>,
    /// What it answered as the price of the goods.
    pub product_amount_cents: Option<i64>,
    /// What it answered as the tax.
    pub tax_amount_cents: Option<i64>,
}

/// A unit of a return.
#[derive(Serialize, Deserialize, ToSchema)]
pub struct ReturnItemOut {
    /// The line of the order.
    pub order_line_item_identifier: String,
    /// Which of the line's units, from 1 on.
    pub unit: u32,
    /// SKU.
    pub sku: String,
    /// The product's title.
    pub title: Option<String>,
    /// The shopper's reason.
    pub return_reason: String,
    /// `REFUND`, `EVEN_EXCHANGE` or `UNEVEN_EXCHANGE`.
    pub refund_type: String,
    /// The carrier's number.
    pub tracking_number: Option<String>,
    /// Where the parcel is.
    pub package_tracking_status: Option<String>,
    /// With the managed receiving service.
    pub receiving_status: Option<String>,
    /// The SKU of the variant that the shopper takes instead of the money.
    pub exchange_sku: Option<String>,
    /// The exchange order, once it is placed.
    pub exchange_order_identifier: Option<String>,
    /// The refund that covers it, once there is one.
    pub refund_identifier: Option<String>,
    /// How its amount is made.
    pub money: UnitMoneyOut,
}

/// How the amount of a unit is made: product − discount + tax = estimated; estimated − fee = shopper's.
#[derive(Serialize, Deserialize, ToSchema)]
pub struct UnitMoneyOut {
    /// Its share of the line's goods.
    pub product_cents: i64,
    /// Its share of the line's discount.
    pub discount_cents: i64,
    /// Its share of the line's tax.
    pub tax_cents: i64,
    /// What can be refunded for it at most.
    pub estimated_refund_amount_cents: i64,
    /// Its share of a return fee that is deducted.
    pub fee_cents: i64,
    /// What the service is paid.
    pub service_refund_amount_cents: i64,
    /// What the shopper gets.
    pub shopper_refund_amount_cents: i64,
}

/// What of an order can come back.
#[derive(Serialize, ToSchema)]
pub struct ReturnableOut {
    /// The order.
    pub order_identifier: String,
    /// Whether it is a gift: whoever returns it gives an e-mail address.
    pub gift: bool,
    /// The reasons that can be given, beside `NOT_GIVEN`.
    pub reasons: Vec<String>,
    /// The reasons for which an even exchange is offered; empty when nothing can be exchanged, or it was before.
    pub exchange_reasons: Vec<String>,
    /// The gift card that can be had instead of the money; null when there is none.
    pub gift_card: Option<GiftCardOut>,
    /// The ways back that there are for the whole of what can come back.
    pub return_methods: Vec<MethodOut>,
    /// Every line of the order.
    pub items: Vec<ReturnableLine>,
}

/// A gift card that can be had instead of the money.
#[derive(Serialize, ToSchema)]
pub struct GiftCardOut {
    /// What the merchant adds to it.
    pub bonus_credit_amount_cents: i64,
}

/// A way back.
#[derive(Serialize, ToSchema)]
pub struct MethodOut {
    /// `mail-back`, `express-returns` or `customer-keep`.
    pub return_method: &'static str,
    /// What it costs.
    pub return_shipping_cost_cents: i64,
    /// Whether that is taken off the refund.
    pub deducted: bool,
}

/// What of a line can come back.
#[derive(Serialize, ToSchema)]
pub struct ReturnableLine {
    /// The line.
    pub order_line_item_identifier: String,
    /// SKU.
    pub sku: String,
    /// The product's title.
    pub title: Option<String>,
    /// How many units were ordered.
    pub quantity: u32,
    /// How many of them can come back.
    pub returnable: u32,
    /// Until when, if there is a time.
    pub returnable_until: Option<String>,
    /// Whether there may be variants for an even exchange: ask `exchange_options`.
    pub exchangeable: bool,
    /// Why the others cannot.
    pub held: Vec<HeldOut>,
}

/// Units that cannot come back.
#[derive(Serialize, ToSchema)]
pub struct HeldOut {
    /// How many.
    pub quantity: u32,
    /// Why: a word such as `window_over`.
    pub reason: &'static str,
    /// Why, in a sentence.
    pub message: &'static str,
}

/// Why units cannot come back, in a sentence.
#[must_use]
pub const fn explain(obstacle: Obstacle) -> &'static str {
    match obstacle {
        Obstacle::OrderCancelled => "The order was cancelled.",
        Obstacle::Cancelled => "The unit was cancelled before it shipped.",
        Obstacle::NotShipped => "The unit has not shipped yet.",
        Obstacle::Refunded => "The unit is refunded already.",
        Obstacle::InReturn => "The unit is in another return already.",
        Obstacle::FinalSale => "The item is final sale.",
        Obstacle::GiftCard => "Gift cards cannot be returned.",
        Obstacle::PickupInStore => "The item was picked up in a store and is returned there.",
        Obstacle::ThirdParty => "The item was sold by a third party.",
        Obstacle::WindowOver => "The return window is over.",
    }
}
