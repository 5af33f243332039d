//! What is kept of a refused message: the places at fault with their surroundings, line by line, and without anything personal.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::fault::{Fault, Path};

/// The most lines of an excerpt; the rest is left out.
const MOST_LINES: usize = 400;
/// The longest value that is spelled out, in characters.
const LONGEST_VALUE: usize = 120;

/// The fields whose values are kept. Whatever else a message holds may be personal: names, addresses, notes, and fields that the contract
/// does not know.
const PLAIN: [&str; 36] = [
    "identifier",
    "raw_status",
    "status",
    "total_amount_cents",
    "product_amount_cents",
    "tax_amount_cents",
    "discount_amount_cents",
    "shipping_amount_cents",
    "shipping_tax_amount_cents",
    "currency",
    "created_at",
    "updated_at",
    "original_order_identifier",
    "sku",
    "upc",
    "quantity",
    "quantity_shipped",
    "quantity_canceled",
    "shipped_date",
    "delivered_date",
    "product_identifier",
    "variant_identifier",
    "title",
    "concept",
    "unit_price_amount_cents",
    "weight",
    "total_refund_amount_cents",
    "order_item_identifier",
    "rma_identifier",
    "returns_portal_order",
    "orders",
    "items",
    "refunds",
    "refund_line_items",
    "transactions",
    "discounts",
];

/// A line of an excerpt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExcerptLine {
    /// The depth, from 0.
    pub depth: usize,
    pub text: String,
    /// What is wrong here, if anything is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
}

/// The largest message of which an excerpt is made, in bytes.
const LARGEST: usize = 1024 * 1024;

/// The lines of `body` around its faults. Empty if it is not JSON, has no faults with a place, or is very large.
#[must_use]
pub fn excerpt(body: &[u8], faults: &[Fault]) -> Vec<ExcerptLine> {
    if faults.is_empty() || body.len() > LARGEST {
        return Vec::new();
    }
    let Ok(value) = serde_json::from_slice::<Value>(body) else { return Vec::new() };
    let mut places = Places::default();
    for fault in faults {
        places.at.entry(&fault.field).or_default().push(&fault.message);
        let ends = fault.field.char_indices().filter(|(_, letter)| matches!(letter, '.' | '['));
        places.above.extend(ends.filter_map(|(end, _)| fault.field.get(..end)));
    }
    let mut written = Written { places, lines: Vec::new() };
    written.value(&Path::root(), 0, "", &value, Kept::Plain);
    written.lines.truncate(MOST_LINES);
    written.lines
}

/// The excerpt as it was stored.
#[must_use]
pub fn read_excerpt(stored: &str) -> Vec<ExcerptLine> {
    serde_json::from_str(stored).unwrap_or_default()
}

/// The places at fault.
#[derive(Default)]
struct Places<'f> {
    at: BTreeMap<&'f str, Vec<&'f str>>,
    /// The objects and lists that hold one.
    above: HashSet<&'f str>,
}

/// Whether a value is spelled out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    Plain,
    Hidden,
}

struct Written<'f> {
    places: Places<'f>,
    lines: Vec<ExcerptLine>,
}

impl Written<'_> {
    fn line(&mut self, depth: usize, text: String, path: Option<&str>) {
        if self.lines.len() < MOST_LINES {
            let faults = path.and_then(|path| self.places.at.get(path)).into_iter().flatten().map(|&message| message.to_owned()).collect();
            self.lines.push(ExcerptLine { depth, text, faults });
        }
    }

    fn holds_a_fault(&self, path: &str) -> bool {
        path.is_empty() || self.places.above.contains(path)
    }

    /// Writes a value after `name`, which ends in a colon or is empty.
    fn value(&mut self, path: &Path, depth: usize, name: &str, value: &Value, kept: Kept) {
        let at = path.to_string();
        match value {
            Value::Object(fields) if self.holds_a_fault(&at) => {
                self.line(depth, format!("{name}{{"), Some(&at));
                for (field, value) in fields {
                    let is_plain = kept == Kept::Plain && PLAIN.contains(&field.as_str());
                    let shown = if is_plain || kept == Kept::Plain && is_part(field) { field.as_str() } else { "…" };
                    let kept = if is_plain { Kept::Plain } else { Kept::Hidden };
                    self.value(&path.field(field), depth + 1, &format!("\"{shown}\": "), value, kept);
                }
                self.missing(&at, depth + 1, |field| fields.contains_key(field));
                self.line(depth, "}".to_owned(), None);
            }
            Value::Array(entries) if self.holds_a_fault(&at) => {
                self.line(depth, format!("{name}["), Some(&at));
                let mut left_out = 0;
                for (index, entry) in entries.iter().enumerate() {
                    let path = path.index(index);
                    let place = path.to_string();
                    if self.holds_a_fault(&place) || self.places.at.contains_key(place.as_str()) {
                        self.left_out(depth + 1, &mut left_out);
                        self.value(&path, depth + 1, "", entry, kept);
                    } else {
                        left_out += 1;
                    }
                }
                self.left_out(depth + 1, &mut left_out);
                self.line(depth, "]".to_owned(), None);
            }
            Value::Object(fields) => self.line(depth, format!("{name}{{ {} }}", counted(fields.len(), "field")), Some(&at)),
            Value::Array(entries) => self.line(depth, format!("{name}[ {} ]", counted(entries.len(), "entry")), Some(&at)),
            _ if kept == Kept::Hidden => self.line(depth, format!("{name}hidden"), Some(&at)),
            Value::String(text) if text.chars().count() > LONGEST_VALUE => {
                let start: String = text.chars().take(LONGEST_VALUE).collect();
                self.line(depth, format!("{name}{}…", Value::from(start)), Some(&at));
            }
            plain => self.line(depth, format!("{name}{plain}"), Some(&at)),
        }
    }

    /// Writes a line for each field below `at` that is at fault because it is not there.
    fn missing(&mut self, at: &str, depth: usize, exists: impl Fn(&str) -> bool) {
        let below = |place: &str| {
            let rest = if at.is_empty() { place } else { place.strip_prefix(at)?.strip_prefix('.')? };
            (!rest.contains(['.', '[']) && !exists(rest)).then(|| rest.to_owned())
        };
        let missing: Vec<(String, String)> =
            self.places.at.keys().filter_map(|place| below(place).map(|field| ((*place).to_owned(), field))).collect();
        for (place, field) in missing {
            self.line(depth, format!("\"{field}\": missing"), Some(&place));
        }
    }

    fn left_out(&mut self, depth: usize, count: &mut usize) {
        if *count > 0 {
            self.line(depth, format!("… {} without a fault", counted(*count, "entry")), None);
            *count = 0;
        }
    }
}

/// Objects of the contract that hold personal fields: their names are known, their values are not kept.
fn is_part(field: &str) -> bool {
    ["customer", "shipping_address", "billing_address", "tags", "note", "tracking_number", "image_url"].contains(&field)
}

fn counted(count: usize, what: &str) -> String {
    match (count, what) {
        (1, what) => format!("1 {what}"),
        (count, "entry") => format!("{count} entries"),
        (count, what) => format!("{count} {what}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orders::order::{Refusal, read};

    fn lines(body: &str) -> Vec<String> {
        let Err(Refusal::Faulty(faulty)) = read(body.as_bytes()) else { panic!("the message has faults") };
        let show = |line: ExcerptLine| {
            let noted = if line.faults.is_empty() { String::new() } else { format!("  <- {}", line.faults.join("; ")) };
            format!("{}{}{noted}", " ".repeat(line.depth), line.text)
        };
        excerpt(body.as_bytes(), &faulty.faults).into_iter().map(show).collect()
    }

    const ORDER: &str = r#""status": "Shipped", "total_amount_cents": 1, "created_at": "2026-01-05T10:00:00Z",
        "updated_at": "2026-01-05T10:00:00Z", "transactions": [], "refunds": [], "discounts": []"#;

    #[test]
    fn a_fault_stands_beside_its_line_and_nothing_personal_is_kept() {
        let body = format!(
            r#"{{"returns_portal_order": {{"orders": [{{ {ORDER}, "identifier": "T-1", "currency": "dollars", "secret": "Pat",
                "customer": {{"email": "pat@example.com", "first_name": "Pat"}},
                "items": [
                    {{"identifier": "1", "sku": "A", "quantity": 1, "unit_price_amount_cents": 1}},
                    {{"identifier": "2", "quantity": 1, "unit_price_amount_cents": 1, "title": "Shoe"}}
                ]}}]}}}}"#
        );
        let lines = lines(&body);
        let text = lines.join("\n");
        assert!(lines.iter().any(|line| line.trim().starts_with("\"currency\": \"dollars\"  <- ")), "{text}");
        assert!(lines.iter().any(|line| line.trim().starts_with("\"sku\": missing  <- ")), "{text}");
        assert!(text.contains("… 1 entry without a fault") && text.contains("\"customer\": { 2 fields }"), "{text}");
        assert!(!text.contains("Pat") && !text.contains("pat@example.com") && !text.contains("secret"), "{text}");
    }

    #[test]
    fn a_personal_field_at_fault_is_named_and_its_value_hidden() {
        let body = format!(
            r#"{{"returns_portal_order": {{"orders": [{{ {ORDER}, "identifier": "T-1", "currency": "USD", "customer": {{"email": 7}},
                "items": [{{"identifier": "1", "sku": "A", "quantity": 1, "unit_price_amount_cents": 1}}]}}]}}}}"#
        );
        let lines = lines(&body);
        assert!(lines.iter().any(|line| line.contains("hidden  <- ")) && !lines.join(" ").contains('7'), "{}", lines.join("\n"));
    }

    #[test]
    fn an_excerpt_is_bounded_and_read_back() {
        let orders: Vec<String> = (0..300).map(|at| format!(r#"{{"identifier": "T-{at}", "title": "{}"}}"#, "x".repeat(500))).collect();
        let body = format!(r#"{{"returns_portal_order": {{"orders": [{}]}}}}"#, orders.join(","));
        let Err(Refusal::Faulty(faulty)) = read(body.as_bytes()) else { panic!("the message has faults") };
        let kept = excerpt(body.as_bytes(), &faulty.faults);
        assert_eq!(kept.len(), MOST_LINES);
        assert!(kept.iter().all(|line| line.text.chars().count() < 200));
        assert_eq!(read_excerpt(&serde_json::to_string(&kept).unwrap()), kept);
        assert_eq!((excerpt(b"{", &faulty.faults), read_excerpt("")), (Vec::new(), Vec::new()));
    }
}
