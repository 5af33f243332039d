//! Faults to inject into valid messages, each with the report that must follow.

use rand::prelude::*;

use super::message::{Field, Kind, MESSAGE, Wealth};
use super::tree::{Json, Pointer, Step, field, path};

/// The expected report of a fault: its path and its code.
pub(crate) type Told = (String, &'static str);

const MISSING: &str = "missing_field";
const TYPE: &str = "invalid_type";
const INVALID: &str = "invalid";

/// A fault to inject into a message.
#[derive(Clone, Debug)]
pub(crate) struct Seed {
    pub(crate) at: Pointer,
    act: Act,
    pub(crate) told: Told,
}

#[derive(Clone, Debug)]
enum Act {
    /// Removes the field.
    Remove,
    /// Replaces the value.
    Replace(Json),
    /// Adds the field.
    Add(Json),
    /// Repeats the field with the same value.
    Repeat,
    /// Repeats the field before its place, with another value.
    Precede(Json),
    /// Repeats the field under its alias.
    Also(&'static str),
    /// Repeats an element until the list has this many.
    Lengthen(Json, usize),
}

impl Seed {
    pub(crate) fn apply(&self, message: &mut Json) {
        if let Act::Replace(value) = &self.act {
            *message.at(&self.at) = value.clone();
            return;
        }
        if let Act::Lengthen(element, length) = &self.act {
            let Json::Array(elements) = message.at(&self.at) else { panic!("{self:?} is about no list") };
            elements.resize(*length, element.clone());
            return;
        }
        let Some((Step::Field(wanted), parent)) = self.at.split_last() else { panic!("{self:?} is about no field") };
        let Json::Object(fields) = message.at(parent) else { panic!("{self:?} is in no object") };
        let stands = fields.iter().rposition(|(name, _)| name == wanted);
        let copy = |fields: &[(String, Json)]| fields[stands.expect("the field is there")].1.clone();
        match &self.act {
            Act::Remove => _ = fields.remove(stands.expect("the field is there")),
            Act::Add(value) => fields.push((wanted.clone(), value.clone())),
            Act::Repeat => fields.push((wanted.clone(), copy(fields))),
            Act::Precede(value) => fields.insert(0, (wanted.clone(), value.clone())),
            Act::Also(name) => fields.push(((*name).to_owned(), copy(fields))),
            Act::Replace(_) | Act::Lengthen(..) => unreachable!("done above"),
        }
    }

    /// True if one of the two changes a value that contains the other.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.at.starts_with(&other.at) || other.at.starts_with(&self.at)
    }
}

/// A value of a message and its expected type.
pub(crate) struct Spot {
    pub(crate) at: Pointer,
    pub(crate) expected: Expected,
}

#[derive(Clone, Copy)]
pub(crate) enum Expected {
    Field(&'static Field),
    Element(&'static Kind),
    Message,
    Unknown,
}

impl Expected {
    fn kind(self) -> Option<&'static Kind> {
        match self {
            Self::Field(field) => Some(&field.kind),
            Self::Element(kind) => Some(kind),
            Self::Message => Some(&MESSAGE),
            Self::Unknown => None,
        }
    }

    fn may_be_null(self) -> bool {
        matches!(self, Self::Field(Field { required: false, .. }) | Self::Unknown)
    }
}

/// Every value of `message`, inner values before outer ones.
pub(crate) fn spots(message: &Json) -> Vec<Spot> {
    let mut found = Vec::new();
    walk(message, &mut Vec::new(), Expected::Message, &mut |at, expected| found.push(Spot { at: at.clone(), expected }));
    found
}

/// The number of values in `message`.
pub(crate) fn count(message: &Json) -> usize {
    let mut count = 0;
    walk(message, &mut Vec::new(), Expected::Message, &mut |_, _| count += 1);
    count
}

/// The value of `message` that [`spots`] has at position `number`.
pub(crate) fn spot(message: &Json, number: usize) -> Spot {
    let (mut found, mut count) = (None, 0);
    walk(message, &mut Vec::new(), Expected::Message, &mut |at, expected| {
        if count == number {
            found = Some(Spot { at: at.clone(), expected });
        }
        count += 1;
    });
    found.expect("there are so many values")
}

fn walk(value: &Json, at: &mut Pointer, expected: Expected, visit: &mut impl FnMut(&Pointer, Expected)) {
    match value {
        Json::Object(members) => {
            let fields: &[Field] = if let Some(Kind::Object(fields)) = expected.kind() { fields } else { &[] };
            for (name, value) in members {
                let known = fields.iter().find(|field| field.is_called(name));
                at.push(Step::Field(name.clone()));
                walk(value, at, known.map_or(Expected::Unknown, Expected::Field), visit);
                at.pop();
            }
        }
        Json::Array(elements) => {
            let known = if let Some(Kind::List(element, ..)) = expected.kind() { Expected::Element(element) } else { Expected::Unknown };
            for (index, element) in elements.iter().enumerate() {
                at.push(Step::Index(index));
                walk(element, at, known, visit);
                at.pop();
            }
        }
        Json::Literal(_) | Json::Text(_) => {}
    }
    visit(at, expected);
}

/// Every fault that can be injected at `spot`.
pub(crate) fn seeds(message: &mut Json, spot: &Spot, rng: &mut StdRng) -> Vec<Seed> {
    let at = &spot.at;
    let value = message.at(at);
    let mut found = Vec::new();
    let mut seed = |at: &[Step], act: Act, place: &[Step], code: &'static str| {
        found.push(Seed { at: at.to_vec(), act, told: (path(place), code) });
    };

    if let Some(Step::Field(name)) = at.last() {
        seed(at, Act::Repeat, at, INVALID);
        seed(at, Act::Precede(Json::null()), at, INVALID);
        seed(at, Act::Precede(Json::object([("a", Json::Array(vec![Json::literal("-1.5")]))])), at, INVALID);
        if let Expected::Field(known) = spot.expected {
            let parent = &at[..at.len() - 1];
            if known.required {
                seed(at, Act::Remove, &field(parent, known.name), MISSING);
            }
            if let Some(alias) = known.alias {
                let other = if name == alias { known.name } else { alias };
                seed(at, Act::Also(other), &field(parent, known.name), INVALID);
            }
        }
    }
    if let Json::Object(members) = value {
        for (name, odd, place) in odd_members() {
            if !members.iter().any(|(taken, _)| taken == name) {
                let here = field(at, name);
                let place: Pointer = here.iter().cloned().chain(place).collect();
                seed(&here, Act::Add(odd), &place, INVALID);
            }
        }
    }
    // An empty text may stand in for an absent value of any type.
    let textual = spot
        .expected
        .kind()
        .is_none_or(|kind| matches!(kind, Kind::Text | Kind::Identifier | Kind::Status | Kind::Currency | Kind::Time | Kind::Tag));
    if matches!(value, Json::Text(_)) && textual {
        for text in ["\0", "a\0", "\0b", "2026-01-31\0", "Shipped\0", "USD\0"] {
            seed(at, Act::Replace(Json::text(text)), at, INVALID);
        }
    }
    if let Some(kind) = spot.expected.kind() {
        // In an optional field, an empty text counts as absent.
        let wrong = |value: &Json| !(spot.expected.may_be_null() && matches!(value, Json::Text(text) if text.is_empty()));
        for wrong in wrong_types(kind).into_iter().filter(wrong) {
            seed(at, Act::Replace(wrong), at, TYPE);
        }
        if !spot.expected.may_be_null() && !matches!(kind, Kind::Tag) {
            seed(at, Act::Replace(Json::null()), at, TYPE);
        }
        for wrong in wrong_values(kind).into_iter().filter(wrong) {
            seed(at, Act::Replace(wrong), at, INVALID);
        }
        if let (Kind::List(element, least, most), Json::Array(_)) = (kind, value) {
            if *least > 0 {
                seed(at, Act::Replace(Json::Array(Vec::new())), at, INVALID);
            }
            seed(at, Act::Lengthen(element.value(Wealth::Bare, rng), most + 1), at, INVALID);
        }
    }
    found
}

/// Faulty unknown fields: name, value, and the place of the fault within the value.
fn odd_members() -> [(&'static str, Json, Pointer); 7] {
    let nul = || Json::text("a\0b");
    let in_field = |name: &str| Step::Field(name.to_owned());
    let twice = Json::object([("a", Json::literal("1")), ("b", Json::null()), ("a", Json::literal("1"))]);
    [
        ("odd", nul(), vec![]),
        ("odd one", Json::Array(vec![Json::literal("1"), nul()]), vec![Step::Index(1)]),
        (
            "odd-deep",
            Json::object([("a", Json::Array(vec![Json::object([("b c", nul())])]))]),
            vec![in_field("a"), Step::Index(0), in_field("b c")],
        ),
        ("a\0b", Json::literal("1"), vec![]),
        ("odd_name", Json::object([("\0", Json::null())]), vec![in_field("\0")]),
        ("odd_twice", twice.clone(), vec![in_field("a")]),
        ("odd_twice_deep", Json::Array(vec![Json::object([("", twice)])]), vec![Step::Index(0), in_field(""), in_field("a")]),
    ]
}

/// Values of a JSON type other than `kind`, except null.
fn wrong_types(kind: &Kind) -> Vec<Json> {
    let mut wrong = vec![Json::literal("true"), Json::literal("false")];
    let texts = [Json::text(""), Json::text("12"), Json::text("null")];
    let numbers = ["0", "12", "-1", "1.5", "1e300", "99999999999999999999"].map(Json::literal);
    let arrays = [Json::Array(vec![]), Json::Array(vec![Json::object([])])];
    let objects = [Json::object([]), Json::object([("identifier", Json::text("x"))])];
    match kind {
        Kind::Text | Kind::Identifier | Kind::Status | Kind::Currency | Kind::Time => {
            wrong.extend(numbers.into_iter().chain(arrays).chain(objects));
        }
        Kind::Amount | Kind::Quantity => {
            wrong.extend(texts.into_iter().chain(arrays).chain(objects));
            wrong.extend(["0.5", "12.000001", "1e-7", "-0.5", "1000000000000.5"].map(Json::literal));
        }
        Kind::Weight => wrong.extend(texts.into_iter().chain(arrays).chain(objects)),
        Kind::Tag => return Vec::new(),
        Kind::Free | Kind::Object(_) => wrong.extend(texts.into_iter().chain(numbers).chain(arrays)),
        Kind::List(..) => wrong.extend(texts.into_iter().chain(numbers).chain(objects)),
    }
    wrong
}

/// Values of the right JSON type that `kind` does not allow.
fn wrong_values(kind: &Kind) -> Vec<Json> {
    let below_zero = ["-1", "-1.0", "-1e0", "-9223372036854775808", "-9223372036854775809", "-1e300"];
    let far_above = ["9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616", "1e300"];
    let texts = |texts: &[&str]| texts.iter().copied().map(Json::text).collect();
    let numbers = |numbers: &[&str]| below_zero.iter().chain(&far_above).chain(numbers).map(|number| Json::literal(number)).collect();
    match kind {
        Kind::Identifier => texts(&["", &"x".repeat(256), &"é".repeat(256), &"😀".repeat(1_000)]),
        Kind::Status => texts(&["", "created", "SHIPPED", "Shipped ", "Refunded", "Cancelled\n"]),
        Kind::Currency => texts(&["", "US", "USDX", "U5D", "USD\n", "\nUSD", " US", "ÄÖÜ", "€", "💶", "ＵＳＤ", "U\u{301}S"]),
        Kind::Time => texts(&[
            "",
            "now",
            "2026",
            "2026-13-01",
            "2026-02-29",
            "2026-01-31T",
            "2026-01-31T24:00:00Z",
            "2026-01-31T12:60Z",
            "2026-01-31T12:00:60Z",
            "2026-01-31T12",
            "2026-01-31T12:00:00+24:00",
            "2026-01-31T12:00:00 Z",
            "2026-01-31Z",
            " 2026-01-31",
            "2026-01-31\n",
            "+2026-01-31",
            "202601-31",
            "20260229",
            "1769860800",
        ]),
        Kind::Amount => numbers(&["1000000000001", "1000000000001.0", "1.1e12"]),
        Kind::Quantity => numbers(&["1001", "1001.0", "1e4", "1000000000000", "4294967296", "4294967297"]),
        Kind::Weight => below_zero.iter().chain(&["-0.1", "-1e-300"]).map(|number| Json::literal(number)).collect(),
        Kind::Text | Kind::Tag | Kind::Free | Kind::Object(_) | Kind::List(..) => Vec::new(),
    }
}
