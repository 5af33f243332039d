//! Valid order messages in all their variety.
//!
//! The fields are declared again here, from the contract and not from the crate, so that a mistake there shows.

use rand::prelude::*;

use super::tree::{Json, one_in};

/// The expected type of a value.
#[derive(Debug)]
pub(crate) enum Kind {
    Text,
    Identifier,
    Status,
    Currency,
    Time,
    Amount,
    Quantity,
    Weight,
    /// Any value.
    Tag,
    /// An object with any content.
    Free,
    Object(&'static [Field]),
    List(&'static Kind, usize, usize),
}

#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    /// An alias.
    pub(crate) alias: Option<&'static str>,
    pub(crate) required: bool,
    pub(crate) kind: Kind,
}

impl Field {
    const fn new(name: &'static str, required: bool, kind: Kind) -> Self {
        Self { name, alias: None, required, kind }
    }

    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.alias == Some(name)
    }
}

const fn must(name: &'static str, kind: Kind) -> Field {
    Field::new(name, true, kind)
}

const fn may(name: &'static str, kind: Kind) -> Field {
    Field::new(name, false, kind)
}

const TAGS: Kind = Kind::List(&Kind::Tag, 0, 1_000);

pub(crate) static MESSAGE: Kind =
    Kind::Object(&[must("returns_portal_order", Kind::Object(&[must("orders", Kind::List(&ORDER, 1, 100))]))]);

pub(crate) static ORDER: Kind = Kind::Object(&[
    must("identifier", Kind::Identifier),
    may("raw_status", Kind::Text),
    must("status", Kind::Status),
    must("total_amount_cents", Kind::Amount),
    may("product_amount_cents", Kind::Amount),
    may("tax_amount_cents", Kind::Amount),
    may("discount_amount_cents", Kind::Amount),
    may("shipping_amount_cents", Kind::Amount),
    may("shipping_tax_amount_cents", Kind::Amount),
    must("currency", Kind::Currency),
    may("tags", TAGS),
    must("created_at", Kind::Time),
    must("updated_at", Kind::Time),
    must("items", Kind::List(&LINE, 1, 1_000)),
    Field { name: "customer", alias: Some("the service"), required: true, kind: CUSTOMER },
    may("shipping_address", ADDRESS),
    may("billing_address", ADDRESS),
    must("transactions", Kind::List(&Kind::Free, 0, 1_000)),
    must("refunds", Kind::List(&REFUND, 0, 1_000)),
    must("discounts", Kind::List(&Kind::Free, 0, 1_000)),
    may("original_order_identifier", Kind::Text),
]);

static LINE: Kind = Kind::Object(&[
    must("identifier", Kind::Identifier),
    must("sku", Kind::Identifier),
    may("upc", Kind::Text),
    must("quantity", Kind::Quantity),
    may("quantity_shipped", Kind::Quantity),
    may("quantity_canceled", Kind::Quantity),
    may("tracking_number", Kind::Text),
    may("shipped_date", Kind::Time),
    may("delivered_date", Kind::Time),
    may("product_identifier", Kind::Text),
    may("variant_identifier", Kind::Text),
    may("title", Kind::Text),
    may("tags", TAGS),
    may("product_amount_cents", Kind::Amount),
    may("tax_amount_cents", Kind::Amount),
    may("discount_amount_cents", Kind::Amount),
    must("unit_price_amount_cents", Kind::Amount),
    may("image_url", Kind::Text),
    may("weight", Kind::Weight),
]);

const CUSTOMER: Kind = Kind::Object(&[
    may("identifier", Kind::Text),
    may("first_name", Kind::Text),
    may("last_name", Kind::Text),
    may("email", Kind::Text),
    may("phone", Kind::Text),
]);

const ADDRESS: Kind = Kind::Object(&[
    may("name", Kind::Text),
    may("street1", Kind::Text),
    may("city", Kind::Text),
    may("state", Kind::Text),
    may("zip_code", Kind::Text),
    may("country_code", Kind::Text),
    may("phone", Kind::Text),
]);

static REFUND: Kind = Kind::Object(&[
    must("identifier", Kind::Identifier),
    must("total_refund_amount_cents", Kind::Amount),
    must("refund_line_items", Kind::List(&REFUND_LINE, 0, 1_000)),
    may("note", Kind::Text),
    must("created_at", Kind::Time),
    may("rma_identifier", Kind::Text),
]);

static REFUND_LINE: Kind = Kind::Object(&[
    must("identifier", Kind::Identifier),
    must("quantity", Kind::Quantity),
    must("order_item_identifier", Kind::Identifier),
]);

/// The share of optional fields in a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wealth {
    /// Only required fields, in their shortest form.
    Bare,
    /// Anything in between.
    Mixed,
    /// Every field, every list with two elements, unknown fields everywhere.
    Full,
}

impl Kind {
    /// A valid value.
    pub(crate) fn value(&self, wealth: Wealth, rng: &mut StdRng) -> Json {
        match self {
            Self::Text => Json::Text(text(rng)),
            Self::Identifier => Json::Text(identifier(rng)),
            Self::Status => Json::text(*["Created", "Shipped", "Cancelled", "Canceled"].choose(rng).expect("there are some")),
            Self::Currency => Json::text(*["USD", "eur", "JpY", "XXX"].choose(rng).expect("there are some")),
            Self::Time => Json::Text(time(rng)),
            Self::Amount => Json::Literal(whole(1_000_000_000_000, "1e12", rng)),
            Self::Quantity => Json::Literal(whole(1_000, "10e2", rng)),
            Self::Weight => Json::Literal(weight(rng)),
            Self::Tag => {
                if one_in(rng, 2) {
                    Json::Text(text(rng))
                } else {
                    unknown_value(3, rng)
                }
            }
            Self::Free => object(&[], wealth, rng),
            Self::Object(fields) => object(fields, wealth, rng),
            Self::List(element, least, most) => {
                let length = match wealth {
                    Wealth::Bare => *least,
                    Wealth::Mixed => {
                        let usual = rng.random_range(*least..=3).min(rng.random_range(*least..=3));
                        if one_in(rng, 60) { usual + rng.random_range(0..8) } else { usual }
                    }
                    Wealth::Full => 2,
                };
                Json::Array((0..length.min(*most)).map(|_| element.value(wealth, rng)).collect())
            }
        }
    }
}

fn object(fields: &'static [Field], wealth: Wealth, rng: &mut StdRng) -> Json {
    let mut members = Vec::new();
    for field in fields {
        let alias = field.alias.filter(|_| one_in(rng, 2));
        let name = alias.unwrap_or(field.name).to_owned();
        if field.required || wealth == Wealth::Full || (wealth == Wealth::Mixed && one_in(rng, 2)) {
            members.push((name, field.kind.value(wealth, rng)));
        } else if wealth == Wealth::Mixed && one_in(rng, 4) {
            members.push((name, if one_in(rng, 2) { Json::null() } else { Json::text("") }));
        }
    }
    let unknown = match wealth {
        Wealth::Mixed if one_in(rng, 4) => rng.random_range(1..4),
        Wealth::Bare | Wealth::Mixed => 0,
        Wealth::Full => 3,
    };
    for _ in 0..unknown {
        let name = unknown_name(rng);
        if !fields.iter().any(|field| field.is_called(&name)) && !members.iter().any(|(taken, _)| *taken == name) {
            members.push((name, unknown_value(3, rng)));
        }
    }
    if one_in(rng, 2) {
        members.shuffle(rng);
    }
    Json::Object(members)
}

/// Names unknown to the object, including some that other objects have.
fn unknown_name(rng: &mut StdRng) -> String {
    let names = [
        "extra",
        "x-y",
        "a b",
        "Größe",
        "",
        "identifier ",
        "Identifier",
        "items",
        "orders",
        "customer",
        "the service",
        "a\"b",
        "a\\b",
        "a/b",
        "a~1b",
        "😀",
        "0",
        "[0]",
        "$ref",
        "a.b",
        "\u{7f}",
        "null",
        "名前",
        "$serde_json::private::RawValue",
        "$serde_json::private::Number",
    ];
    (*names.choose(rng).expect("there are some")).to_owned()
}

/// Any value that can be read in only one way.
pub(crate) fn unknown_value(depth: u32, rng: &mut StdRng) -> Json {
    match rng.random_range(0..if depth == 0 { 4 } else { 6 }) {
        0 => Json::literal(["null", "true", "false"].choose(rng).expect("there are some")),
        1 => {
            let numbers = [
                "0",
                "-1",
                "1.5",
                "-0",
                "1e308",
                "-2.5E-7",
                "18446744073709551615",
                "-9223372036854775808",
                "99999999999999999999999",
                "1e-999",
            ];
            Json::literal(numbers.choose(rng).expect("there are some"))
        }
        2 | 3 => Json::Text(text(rng)),
        4 => Json::Array((0..rng.random_range(0..4)).map(|_| unknown_value(depth - 1, rng)).collect()),
        _ => {
            let mut members: Vec<(String, Json)> = Vec::new();
            for _ in 0..rng.random_range(0..4) {
                let name = unknown_name(rng);
                if !members.iter().any(|(taken, _)| *taken == name) {
                    members.push((name, unknown_value(depth - 1, rng)));
                }
            }
            Json::Object(members)
        }
    }
}

fn text(rng: &mut StdRng) -> String {
    let texts = [
        "",
        " ",
        "plain",
        "R-7KQ2-M4XD",
        "O'Brien \"Bob\"",
        "C:\\temp\\n",
        "line\nbreak\ttab",
        "\u{1}\u{1f}\u{7f}",
        "Straße 5 – Köln",
        "東京都",
        "😀👩‍👩‍👧",
        "\u{feff}",
        "\u{2028}",
        "\u{ffff}\u{10ffff}",
        "https://example.com/a/b?c=d&e",
        "2026-01-31",
        "12",
        "null",
        "{\"a\":[1]}",
        "\\u0000",
        "a/b~c",
    ];
    let text = texts.choose(rng).expect("there are some");
    if one_in(rng, 50) { text.repeat(rng.random_range(0..40)) } else { (*text).to_owned() }
}

fn identifier(rng: &mut StdRng) -> String {
    match rng.random_range(0..12) {
        0 => "x".repeat(255),
        1 => "😀".repeat(255),
        2 => " ".to_owned(),
        3 => Some(text(rng)).filter(|text| (1..=255).contains(&text.chars().count())).unwrap_or_else(|| "é".to_owned()),
        _ => format!("A-{}", rng.random_range(0..1_000_000)),
    }
}

/// A timestamp in any accepted form.
fn time(rng: &mut StdRng) -> String {
    let date = format!("{:04}-{:02}-{:02}", rng.random_range(0..10_000), rng.random_range(1..13), rng.random_range(1..29));
    if one_in(rng, 8) {
        return date;
    }
    let between = ["T", "t", " "].choose(rng).expect("there are some");
    let minute = format!("{:02}:{:02}", rng.random_range(0..24), rng.random_range(0..60));
    let second = if one_in(rng, 4) { String::new() } else { format!(":{:02}", rng.random_range(0..60)) };
    let fraction = ["", "", "", ".5", ",25", ".123", ".123456", ".9999999", ".000000001", ".0123456789012345678901234567890"];
    let offset = ["Z", "Z", "z", "", "+00:00", "-00:00", "+01:00", "-0730", "+14", "+23:59", "-23:59"];
    let (fraction, offset) = (fraction.choose(rng).expect("there are some"), offset.choose(rng).expect("there are some"));
    let basic = one_in(rng, 4);
    let form = |text: &str| if basic { text.replace(['-', ':'], "") } else { text.to_owned() };
    format!("{}{between}{}{}{fraction}{offset}", form(&date), form(&minute), form(&second))
}

/// A whole number from 0 to `most`, as JSON lets it be spelled; `round` is another spelling of `most`.
fn whole(most: u64, round: &str, rng: &mut StdRng) -> String {
    match rng.random_range(0..10) {
        0 => most.to_string(),
        1 => round.to_owned(),
        2 => format!("{most}.0"),
        3 => (*["0", "-0", "0.0", "-0.0", "0e9", "0E-5", "1e-999"].choose(rng).expect("there are some")).to_owned(),
        4 => (*["12.0", "1.2e1", "120e-1", "1.2E+1", "12.00"].choose(rng).expect("there are some")).to_owned(),
        5 => rng.random_range(0..=most).to_string(),
        _ => rng.random_range(0..=most.min(50_000)).to_string(),
    }
}

fn weight(rng: &mut StdRng) -> String {
    let weights = ["0", "-0", "-0.0", "1", "0.5", "12.75", "1e-7", "1.7976931348623157e308", "18446744073709551616", "3E2", "1e-999"];
    (*weights.choose(rng).expect("there are some")).to_owned()
}
