//! Requests to start, view and change returns: `/v1/returns`, `/v1/orders/{identifier}/returnable`.

mod shown;

use std::sync::LazyLock;

use domain::returns::rma::Method;
use domain::returns::rma::choice::{Choice, Impossible, Instead, NoExchange, RequestedItem};
use domain::returns::rma::eligibility::Obstacle;
use domain::returns::rma::policy::{NOT_GIVEN, Policy};
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Value, json};

pub use self::shown::{
    ExchangeOut, GiftCardOut, HeldOut, LabelOut, MethodOut, ReturnItemOut, ReturnListed, ReturnOut, ReturnableLine, ReturnableOut, Returns,
    ReturnsQuery, UnitMoneyOut, explain,
};
use crate::explainer::Explainer;
use crate::fault::{Code, Fault, Path};
use crate::json::Str;
use crate::request::{self, Faults, Refusal};
use crate::shape::{Flag, Identifier, List, Quantity, Shape, object};

/// The most items in one request.
const MOST_ITEMS: usize = 100;

object! {
    /// A return to start.
    pub struct StartReturnIn<'a> as "StartReturn" at 1 {
        /// Order identifier.
        order_identifier: Identifier<'a>,
        /// Return method.
        return_method: MethodWord,
        /// Items to return.
        items: List<ReturnedIn<'a>, 1, MOST_ITEMS>,
        /// For gift orders: e-mail address of the person returning the gift.
        giftee_email: Option<Identifier<'a>>,
        /// Language of the mails to the shopper, such as `de`; English if it is left out or unknown.
        language: Option<Identifier<'a>>,
    }
}

object! {
    /// Units of one order line, returned for one reason.
    pub struct ReturnedIn<'a> as "ReturnedUnits" at 3 {
        /// Order line.
        order_line_item_identifier: Identifier<'a>,
        /// Number of units; defaults to 1.
        quantity: Option<Quantity>,
        /// One of the merchant's return reasons; defaults to `NOT_GIVEN`.
        return_reason: Option<Identifier<'a>>,
        /// SKU of the variant that the shopper takes instead of a refund; one of the line's `exchange_options`.
        exchange_sku: Option<Identifier<'a>>,
        /// True if the shopper takes a gift card instead of a refund.
        gift_card: Option<Flag>,
    }
}

/// The return method.
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

object! {
    /// An exchange to convert into refunds.
    pub struct ConvertExchangeIn<'a> as "ConvertExchange" at 1 {
        /// True if the exchange order does not exist, or is cancelled; needed if it may exist.
        confirm: Option<Flag>,
    }
}

static EXPLAINER: LazyLock<Explainer> = LazyLock::new(Explainer::of::<StartReturnIn<'_>>);
static CONVERSION: LazyLock<Explainer> = LazyLock::new(Explainer::of::<ConvertExchangeIn<'_>>);

/// Reads a request to convert an exchange; true if it is confirmed. The body may be left out.
pub fn read_conversion(body: &[u8]) -> Result<bool, Refusal> {
    if body.is_empty() {
        return Ok(false);
    }
    let wanted: ConvertExchangeIn<'_> = request::read(body, &CONVERSION)?;
    Ok(wanted.confirm.is_some_and(|Flag(confirmed)| confirmed))
}

/// Reads a request to start a return.
pub fn read(body: &[u8]) -> Result<StartReturnIn<'_>, Refusal> {
    let wanted: StartReturnIn<'_> = request::read(body, &EXPLAINER)?;
    let faults: Vec<Fault> = wanted.items.0.iter().enumerate().filter_map(|(at, item)| item.both(at)).collect();
    if faults.is_empty() { Ok(wanted) } else { Err(Refusal::Faulty(Faults { faults, identifiers: Vec::new() })) }
}

impl StartReturnIn<'_> {
    /// The choice, with defaults for omitted fields.
    #[must_use]
    pub fn choice(&self) -> Choice<'_> {
        let items = self.items.0.iter().map(ReturnedIn::wanted).collect();
        Choice { method: self.return_method.0, items, giftee: self.giftee_email.is_some() }
    }
}

impl ReturnedIn<'_> {
    fn wanted(&self) -> RequestedItem<'_> {
        RequestedItem {
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

    /// The fault of an item that asks for both a variant and a gift card.
    fn both(&self, at: usize) -> Option<Fault> {
        let path = || Path::root().field("items").index(at).field("gift_card");
        (self.exchange_sku.is_some() && self.takes_gift_card())
            .then(|| Fault::new(path(), Code::Invalid, "must not be true together with exchange_sku; choose a variant or a gift card"))
    }
}

/// The fault of a request for a return that cannot be started; `policy` is the merchant's.
#[must_use]
pub fn fault(impossible: &Impossible, policy: &Policy) -> Fault {
    let item = |at: usize, name: &str| Path::root().field("items").index(at).field(name);
    let invalid = |path: Path, message: String| Fault::new(path, Code::Invalid, message);
    match impossible {
        Impossible::Reason { item: at } => {
            let known = policy.reasons.iter().map(String::as_str).chain([NOT_GIVEN]).collect::<Vec<_>>().join(", ");
            invalid(item(*at, "return_reason"), format!("must be one of {known}"))
        }
        Impossible::Line { item: at } => invalid(item(*at, "order_line_item_identifier"), "is not a line of the order".to_owned()),
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
            invalid(Path::root().field("return_method"), "is not available: no return method is offered for these items".to_owned())
        }
        Impossible::Method { offered } => {
            let ways = offered.iter().map(|method| method.as_str()).collect::<Vec<_>>().join(", ");
            invalid(Path::root().field("return_method"), format!("must be one of {ways}"))
        }
        Impossible::GifteeMissing => Fault::new(
            Path::root().field("giftee_email"),
            Code::MissingField,
            "is required for a gift order: the e-mail address of the person returning the gift",
        ),
        Impossible::NoGift => {
            invalid(Path::root().field("giftee_email"), "is allowed only for gift orders, and this order is not a gift".to_owned())
        }
    }
}

/// The reason an exchange is not possible, in words.
fn no_exchange(why: &NoExchange) -> String {
    match why {
        NoExchange::NotOffered => "is not available: the merchant takes no exchange orders. Leave it out to get a refund".to_owned(),
        NoExchange::ExchangedBefore => {
            "is not available: the order has already been exchanged, and an order can be exchanged only once. Leave it out to get a refund"
                .to_owned()
        }
        NoExchange::NoVariants => "is not available: the line has no variants to exchange it for".to_owned(),
        NoExchange::Reason(reasons) => format!("must be one of {} for an exchange", reasons.join(", ")),
        NoExchange::NotAVariant(skus) if skus.is_empty() => {
            "is not available: no variants are currently offered for an even exchange".to_owned()
        }
        NoExchange::NotAVariant(skus) => format!("must be one of {}", skus.join(", ")),
        NoExchange::OutOfStock(0) => "no more units of this variant are in stock".to_owned(),
        NoExchange::OutOfStock(left) => format!("must be at most {left}; no more units of this variant are in stock"),
        NoExchange::NoGiftCard => "is not available: the merchant has no gift cards. Leave it out to get a refund".to_owned(),
        NoExchange::Gift => "is not needed: a gift is always refunded to a gift card. Leave it out".to_owned(),
    }
}

/// The number of units that can be returned, and what holds the others back.
fn too_many(free: u32, held: &[(Obstacle, u32)]) -> String {
    let why = held.iter().map(|(obstacle, units)| format!("{units} {obstacle}")).collect::<Vec<_>>().join(", ");
    let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
    match free {
        0 => format!("no more units of this line can be returned{why}"),
        _ => format!("must be from 1 to {free}; no more units of this line can be returned{why}"),
    }
}
