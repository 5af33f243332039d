//! Returns as merchants' systems start them and look at them: `/v1/returns`, `/v1/orders/{identifier}/returnable`.

mod shown;

use std::sync::LazyLock;

use domain::rma::Method;
use domain::rma::choice::{Choice, Impossible, Instead, NoExchange, Wanted};
use domain::rma::eligibility::Obstacle;
use domain::rma::policy::{NOT_GIVEN, Policy};
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Value, json};

pub use self::shown::{
    ExchangeOut, GiftCardOut, HeldOut, MOST_RETURNS, MethodOut, ReturnItemOut, ReturnListed, ReturnOut, ReturnableLine, ReturnableOut,
    Returns, ReturnsQuery, UnitMoneyOut, explain,
};
use crate::fault::{Code, Fault, Path};
use crate::json::Str;
use crate::order::{Faults, Refusal};
use crate::schema::{self, Explainer};
use crate::shape::{Flag, Identifier, List, Quantity, Shape, object};

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
