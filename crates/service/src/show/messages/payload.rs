//! The body of a message as people read it: indented, compared with the one before, and as a command that sends it.

use std::collections::BTreeMap;

use serde_json::Value;

/// A JSON text with one value per line. The order of the fields and the spelling of values stay as they are; a text that is not JSON
/// stays whole.
pub(crate) fn indent(text: &str) -> String {
    if serde_json::from_str::<&serde_json::value::RawValue>(text).is_err() {
        return text.to_owned();
    }
    let (mut lines, mut depth, mut quoted, mut escaped) = (String::with_capacity(text.len() * 2), 0_usize, false, false);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if quoted {
            lines.push(character);
            (quoted, escaped) = (escaped || character != '"', !escaped && character == '\\');
            continue;
        }
        match character {
            '"' => {
                quoted = true;
                lines.push(character);
            }
            '{' | '[' => {
                lines.push(character);
                while characters.next_if(char::is_ascii_whitespace).is_some() {}
                if let Some(end) = characters.next_if(|next| matches!(next, '}' | ']')) {
                    lines.push(end);
                } else {
                    depth += 1;
                    new_line(&mut lines, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut lines, depth);
                lines.push(character);
            }
            ',' => {
                lines.push(character);
                new_line(&mut lines, depth);
            }
            ':' => lines.push_str(": "),
            space if space.is_ascii_whitespace() => {}
            other => lines.push(other),
        }
    }
    lines
}

fn new_line(lines: &mut String, depth: usize) {
    lines.push('\n');
    lines.extend(std::iter::repeat_n("  ", depth));
}

/// A field that differs between two messages.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// The field, such as `items[1].sku`.
    pub(crate) field: String,
    /// `None` if it was not there.
    pub(crate) before: Option<String>,
    /// `None` if it is no longer there.
    pub(crate) now: Option<String>,
}

/// The most differences that are told.
const MOST: usize = 200;

/// The fields that differ between two bodies, and the number of those that are the same. `None` if one of them is not JSON.
pub(crate) fn differences(before: &str, now: &str) -> Option<(Vec<Difference>, usize)> {
    let before = fields(before)?;
    let mut now = fields(now)?;
    let (mut found, mut same) = (Vec::new(), 0);
    for (field, was) in before {
        match now.remove(&field) {
            Some(is) if is == was => same += 1,
            is => found.push(Difference { field, before: Some(was), now: is }),
        }
    }
    found.extend(now.into_iter().map(|(field, is)| Difference { field, before: None, now: Some(is) }));
    found.sort_by(|one, other| one.field.cmp(&other.field));
    found.truncate(MOST);
    Some((found, same))
}

/// The fields of a JSON text with their values.
fn fields(text: &str) -> Option<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    collect(&serde_json::from_str(text).ok()?, String::new(), &mut found);
    Some(found)
}

fn collect(value: &Value, at: String, found: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, field) in fields {
                collect(field, if at.is_empty() { name.clone() } else { format!("{at}.{name}") }, found);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (place, item) in items.iter().enumerate() {
                collect(item, format!("{at}[{place}]"), found);
            }
        }
        Value::String(text) => {
            found.insert(at, text.clone());
        }
        other => {
            found.insert(at, other.to_string());
        }
    }
}

/// A word of a shell's command line, in quotes.
fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The command that sends `body` to `url` with these headers.
pub(crate) fn curl(url: &str, headers: &[(String, String)], body: &str) -> String {
    let headers = headers.iter().map(|(name, value)| format!("-H {}", quote(&format!("{name}: {value}"))));
    let parts = [format!("curl -X POST {}", quote(url))].into_iter().chain(headers).chain([format!("--data-binary {}", quote(body))]);
    parts.collect::<Vec<_>>().join(" \\\n  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_indented_and_nothing_in_it_changes() {
        assert_eq!(
            indent(r#"{"b":1.50,"a":[{"c":"x, {\"y\"}: \\"},null],"d":{},"e":[]}"#),
            "{\n  \"b\": 1.50,\n  \"a\": [\n    {\n      \"c\": \"x, {\\\"y\\\"}: \\\\\"\n    },\n    null\n  ],\n  \"d\": {},\n  \"e\": []\n}"
        );
        assert_eq!(indent("{ \"a\" : [ ] }"), "{\n  \"a\": []\n}");
        assert_eq!(indent("not {json"), "not {json");
    }

    #[test]
    fn messages_are_compared_field_by_field() {
        let before = r#"{"status":"CREATED","items":[{"sku":"A"},{"sku":"B"}],"note":"x"}"#;
        let now = r#"{"status":"REFUNDED","items":[{"sku":"A"}],"step":2}"#;
        let (found, same) = differences(before, now).unwrap();
        let told: Vec<String> = found.iter().map(|field| format!("{}: {:?} {:?}", field.field, field.before, field.now)).collect();
        assert_eq!(
            told,
            [
                r#"items[1].sku: Some("B") None"#,
                r#"note: Some("x") None"#,
                r#"status: Some("CREATED") Some("REFUNDED")"#,
                r#"step: None Some("2")"#
            ]
        );
        assert_eq!(same, 1);
        assert_eq!(differences("{}", "no"), None);
    }

    #[test]
    fn a_command_quotes_what_a_shell_would_read() {
        let headers = [("webhook-id".to_owned(), "1".to_owned())];
        let expected = "curl -X POST 'https://a.example.com/'\\''x' \\\n  -H 'webhook-id: 1' \\\n  --data-binary '{\"a\":\"it'\\''s\"}'";
        assert_eq!(curl("https://a.example.com/'x", &headers, r#"{"a":"it's"}"#), expected);
    }
}
