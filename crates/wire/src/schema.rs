//! The published JSON Schema of inbound messages, and the slow path that explains through it.

use std::iter;
use std::sync::LazyLock;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{Draft, ValidationError, Validator};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::asn::ASN_NUMBER;
use crate::carrier::CarrierEventIn;
use crate::drop_ship::{self, CancelIn, CancelItemsIn, DropShipOrdersIn, RejectIn, ShipIn};
use crate::fault::{Code, Fault, MOST_TOLD, Path};
use crate::inbound::{ASIN, InboundAsnsIn};
use crate::json::{self, Malformed};
use crate::order::{Faults, LineIn, MOST_ORDERS, OrderIn, OrderMessage, RefundIn, RefundLineIn, Refusal, order_path};
use crate::outbound_shipment::{CartonIn, CreateShipmentIn, DetailIn, ShipDateIn, UnitsIn};
use crate::receiving::ReceiptsIn;
use crate::returns::StartReturnIn;
use crate::shape::{Identifier, Shape};

/// The schemas of inbound messages by name, as they stand under `components.schemas` of the OpenAPI document.
#[must_use]
pub fn components() -> Map<String, Value> {
    let mut components = Map::new();
    OrderMessage::define(&mut components);
    StartReturnIn::define(&mut components);
    CarrierEventIn::define(&mut components);
    DropShipOrdersIn::define(&mut components);
    components.insert("DropShipOrderOrOrders".to_owned(), drop_ship::either());
    ShipIn::define(&mut components);
    CancelIn::define(&mut components);
    RejectIn::define(&mut components);
    CancelItemsIn::define(&mut components);
    CreateShipmentIn::define(&mut components);
    UnitsIn::define(&mut components);
    ShipDateIn::define(&mut components);
    InboundAsnsIn::define(&mut components);
    ReceiptsIn::define(&mut components);
    components
}

static ENVELOPE: LazyLock<Explainer> = LazyLock::new(|| Explainer::new(&OrderMessage::reference(), &["Order"], []));

static ORDER: LazyLock<Explainer> = LazyLock::new(|| {
    let refund_line = Explainer::new(&RefundLineIn::reference(), &[], []);
    let refund = Explainer::new(&RefundIn::reference(), &["RefundLine"], [("refund_line_items", refund_line)]);
    let line = Explainer::new(&LineIn::reference(), &[], []);
    Explainer::new(&OrderIn::reference(), &["OrderLine", "Refund"], [("items", line), ("refunds", refund)])
});

/// Units of a shipment, of which a message may hold more than are told of.
pub(crate) static SHIPMENT_UNITS: LazyLock<Explainer> = LazyLock::new(|| {
    let unit = Explainer::new(&DetailIn::reference(), &[], []);
    let carton = Explainer::new(&CartonIn::reference(), &["ShipmentUnit"], [("details", unit)]);
    Explainer::new(&UnitsIn::reference(), &["ShipmentCarton"], [("cartons", carton)])
});

/// Explains one object through its schema, and the elements of its longest lists one by one: the validator gathers all
/// errors of what it is given, and a message can have a million of them where a thousand are told.
pub(crate) struct Explainer {
    validator: Validator,
    lists: Vec<(&'static str, Explainer)>,
}

impl Explainer {
    /// For the schema of a message that stands alone and has no long lists.
    pub(crate) fn of<T: Shape>() -> Self {
        Self::new(&T::reference(), &[], [])
    }

    /// For the schema `reference`, without a look into the components `left_out`, which are the elements of `lists`.
    pub(crate) fn new<const N: usize>(reference: &Value, left_out: &[&str], lists: [(&'static str, Self); N]) -> Self {
        let mut components = components();
        for name in left_out {
            components.insert((*name).to_owned(), json!({}));
        }
        Self { validator: validator(reference, &components), lists: lists.into() }
    }

    /// Adds the faults of `instance` to `faults`, until there are as many as are told.
    fn explain(&self, instance: &Value, at: &Path, faults: &mut Vec<Fault>) {
        faults.extend(faults_of(&self.validator, instance, at));
        for (name, element) in &self.lists {
            let elements = instance.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            for (index, instance) in elements.iter().enumerate() {
                if faults.len() >= MOST_TOLD {
                    return;
                }
                element.explain(instance, &at.field(name).index(index), faults);
            }
        }
    }
}

/// Reads a message that stands alone: the fast path first, and why it refuses through the schema.
pub(crate) fn read<'a, T: Deserialize<'a>>(body: &'a [u8], explainer: &Explainer) -> Result<T, Refusal> {
    read_within(0, body, explainer)
}

/// Reads a message that counts `depth` levels more than it has: its shape may also stand that deep in another message.
pub(crate) fn read_within<'a, T: Deserialize<'a>>(depth: usize, body: &'a [u8], explainer: &Explainer) -> Result<T, Refusal> {
    let text = json::text(body).map_err(Refusal::Malformed)?;
    if let Ok(message) = serde_json::from_str(text) {
        return Ok(message);
    }
    let (message, mut faults) = json::shallow(text, depth).and_then(json::inspect).map_err(Refusal::Malformed)?;
    explainer.explain(&message, &Path::root(), &mut faults);
    faults.truncate(MOST_TOLD);
    Err(Refusal::Faulty(Faults { faults, identifiers: Vec::new() }))
}

#[expect(clippy::expect_used, reason = "the schema is made by this crate alone and compiled in every test")]
fn validator(reference: &Value, components: &Map<String, Value>) -> Validator {
    let mut document = json!({ "components": { "schemas": components } });
    if let (Some(document), Some(reference)) = (document.as_object_mut(), reference.as_object()) {
        document.extend(reference.clone());
    }
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .with_format("date-time", |text: &str| crate::time::read(text).is_some())
        .with_format("date", |text: &str| crate::time::read_day(text).is_some())
        .should_validate_formats(true)
        .build(&document)
        .expect("the published schema is a JSON Schema")
}

/// Every fault in the shape of the order message `text`; none if it has the right shape.
pub(crate) fn explain(text: &str) -> Result<Faults, Malformed> {
    let (message, mut odd) = json::inspect(text)?;
    odd.sort_by_key(order_of);
    let mut odd = odd.into_iter().peekable();
    let mut faults: Vec<Fault> = iter::from_fn(|| odd.next_if(|fault| order_of(fault).is_none())).collect();
    ENVELOPE.explain(&message, &Path::root(), &mut faults);
    let orders = message.pointer("/returns_portal_order/orders").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for (at, order) in orders.iter().enumerate().take(MOST_ORDERS) {
        if faults.len() >= MOST_TOLD {
            break;
        }
        faults.extend(iter::from_fn(|| odd.next_if(|fault| order_of(fault) == Some(at))));
        ORDER.explain(order, &order_path(at), &mut faults);
    }
    faults.extend(odd);
    faults.truncate(MOST_TOLD);
    Ok(Faults { faults, identifiers: orders.iter().take(MOST_ORDERS).filter_map(identifier_of).collect() })
}

/// Every fault in the shape of the order `text`, which stands alone; none if it has the right shape.
pub(crate) fn explain_order(text: &str) -> Result<Faults, Malformed> {
    let (order, mut faults) = json::inspect(text)?;
    ORDER.explain(&order, &Path::root(), &mut faults);
    faults.truncate(MOST_TOLD);
    Ok(Faults { faults, identifiers: identifier_of(&order).into_iter().collect() })
}

/// What the order gives as its identifier, if it could be one.
fn identifier_of(order: &Value) -> Option<String> {
    let identifier = order.get("identifier")?.as_str()?;
    Identifier::fits(identifier).then(|| identifier.to_owned())
}

/// The position of the order that `fault` is in.
fn order_of(fault: &Fault) -> Option<usize> {
    let (at, _) = fault.field.strip_prefix("returns_portal_order.orders[")?.split_once(']')?;
    at.parse().ok()
}

/// One fault per field: the first that the schema names.
fn faults_of(validator: &Validator, instance: &Value, root: &Path) -> Vec<Fault> {
    let mut faults: Vec<Fault> = Vec::new();
    for error in validator.iter_errors(instance) {
        let fault = fault_of(&error, root);
        if !faults.iter().rev().take(2).any(|told| told.field == fault.field) {
            faults.push(fault);
        }
    }
    faults
}

fn path_of(root: &Path, location: &Location) -> Path {
    location.segments().fold(root.clone(), |path, segment| match segment {
        LocationSegment::Property(name) => path.field(&name),
        LocationSegment::Index(index) => path.index(index),
    })
}

/// The error in our words: they name the rule and never the value, which may be personal.
fn fault_of(error: &ValidationError<'_>, root: &Path) -> Fault {
    let at = path_of(root, error.instance_path());
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            Fault::new(at.field(property.as_str().unwrap_or_default()), Code::MissingField, "is required")
        }
        // The only alternative in the schema is between the two names of the customer.
        ValidationErrorKind::AnyOf { .. } => Fault::new(at.field("customer"), Code::MissingField, "is required"),
        ValidationErrorKind::Not { .. } => Fault::new(at.field("customer"), Code::Invalid, "must be given under one name only"),
        ValidationErrorKind::Type { kind } => Fault::new(at, Code::InvalidType, format!("must be {}", type_name(kind))),
        ValidationErrorKind::Minimum { limit } => Fault::new(at, Code::Invalid, format!("must be at least {limit}")),
        ValidationErrorKind::Maximum { limit } => Fault::new(at, Code::Invalid, format!("must be at most {limit}")),
        ValidationErrorKind::MinItems { limit } => Fault::new(at, Code::Invalid, format!("must have at least {limit} element")),
        ValidationErrorKind::MaxItems { limit } => Fault::new(at, Code::Invalid, format!("must have at most {limit} elements")),
        ValidationErrorKind::MinLength { .. } => Fault::new(at, Code::Invalid, "must not be empty"),
        ValidationErrorKind::MaxLength { limit } => Fault::new(at, Code::Invalid, format!("must have at most {limit} characters")),
        ValidationErrorKind::Enum { options } => Fault::new(at, Code::Invalid, format!("must be one of {options}")),
        ValidationErrorKind::Format { format } if format == "date" => Fault::new(at, Code::Invalid, "must be a day, such as 2026-01-31"),
        ValidationErrorKind::Format { .. } => Fault::new(at, Code::Invalid, "must be an ISO 8601 time, such as 2026-01-31T12:00:00Z"),
        ValidationErrorKind::Pattern { pattern } => Fault::new(at, Code::Invalid, in_words(pattern)),
        other => Fault::new(at, Code::Invalid, format!("breaks the rule {}", other.keyword())),
    }
}

/// What a text of this pattern is like.
fn in_words(pattern: &str) -> String {
    match pattern {
        ASIN => "must be ten letters and digits".to_owned(),
        ASN_NUMBER => "must be 1 to 255 letters, digits, hyphens and underscores".to_owned(),
        _ => "must be three letters, such as USD".to_owned(),
    }
}

fn type_name(kind: &TypeKind) -> String {
    let name = |kind: &dyn ToString| {
        let kind = kind.to_string();
        let article = if kind.starts_with(['a', 'i', 'o']) { "an" } else { "a" };
        format!("{article} {kind}")
    };
    match kind {
        TypeKind::Single(kind) => name(kind),
        TypeKind::Multiple(kinds) => kinds
            .iter()
            .map(|kind| if kind.to_string() == "null" { "null".to_owned() } else { name(&kind) })
            .collect::<Vec<_>>()
            .join(" or "),
    }
}
