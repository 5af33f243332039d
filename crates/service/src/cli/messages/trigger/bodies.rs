//! The requests of a story, and the changes to them that `--set` names.

use std::str::FromStr;

use anyhow::{Context as _, bail};
use serde_json::{Map, Value};

/// A change of a request: `items.0.return_reason=TOO_SMALL`, or with the name of the request `order:currency=EUR`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Change {
    /// The request that it is for; none for the one that the event is named after.
    request: Option<String>,
    path: Vec<String>,
    value: Value,
}

/// The text is not a [`Change`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write a change as PATH=VALUE, such as items.0.return_reason=TOO_SMALL, or for another request as order:currency=EUR")]
pub(in crate::cli) struct NoChange;

impl FromStr for Change {
    type Err = NoChange;

    fn from_str(text: &str) -> Result<Self, NoChange> {
        let (place, value) = text.split_once('=').ok_or(NoChange)?;
        let (request, path) = match place.split_once(':') {
            Some((request, path)) => (Some(request.to_owned()), path),
            None => (None, place),
        };
        let path: Vec<String> = path.split('.').map(str::to_owned).collect();
        if path.iter().any(String::is_empty) || request.as_ref().is_some_and(String::is_empty) {
            return Err(NoChange);
        }
        // Numbers, true, false, null and anything in quotes or brackets is JSON; the rest is text.
        let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        Ok(Self { request, path, value })
    }
}

impl Change {
    /// Makes the change. Missing objects are created, and a list can be continued by one.
    fn apply(&self, body: &mut Value) -> anyhow::Result<()> {
        let mut at = body;
        for (depth, name) in self.path.iter().enumerate() {
            let so_far = || self.path.iter().take(depth + 1).map(String::as_str).collect::<Vec<_>>().join(".");
            if at.is_null() {
                *at = Value::Object(Map::new());
            }
            at = match at {
                Value::Object(fields) => fields.entry(name.as_str()).or_insert(Value::Null),
                Value::Array(items) => {
                    let index: usize = name.parse().ok().with_context(|| format!("--set {}: a list takes a position, from 0", so_far()))?;
                    if index == items.len() {
                        items.push(Value::Null);
                    }
                    let count = items.len();
                    items.get_mut(index).with_context(|| format!("--set {}: the list has {count} entries", so_far()))?
                }
                _ => bail!("--set {}: there is a plain value above it", so_far()),
            };
        }
        *at = self.value.clone();
        Ok(())
    }
}

/// The requests of one story.
pub(super) struct Bodies {
    changes: Vec<Change>,
    /// The name of the request that changes without a name are for.
    own: &'static str,
}

impl Bodies {
    /// The changes of a story that makes these `requests`, the last of which is its own. Fails if a change is for another.
    pub(super) fn new(changes: Vec<Change>, requests: &[&'static str]) -> anyhow::Result<Self> {
        let own = requests.last().copied().unwrap_or_default();
        for request in changes.iter().filter_map(|change| change.request.as_deref()) {
            if !requests.contains(&request) {
                bail!("--set {request}: there is no such request on the way to this event; there are {}", requests.join(", "));
            }
        }
        Ok(Self { changes, own })
    }

    /// The request with this name, with its changes, as it is sent.
    pub(super) fn send(&self, name: &str, mut body: Value) -> anyhow::Result<Value> {
        for change in &self.changes {
            if change.request.as_deref().unwrap_or(self.own) == name {
                change.apply(&mut body)?;
            }
        }
        Ok(body)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn changed(changes: &[&str]) -> anyhow::Result<Value> {
        let changes = changes.iter().map(|text| text.parse()).collect::<Result<Vec<Change>, _>>()?;
        let body = json!({ "order": "1", "items": [{ "reason": "A" }] });
        Bodies::new(changes, &["order", "return"])?.send("return", body)
    }

    #[test]
    fn a_change_is_made_where_its_path_points() {
        let both = changed(&["items.0.reason=TOO_SMALL", "return:items.0.quantity=2", "order:currency=EUR"]).unwrap();
        assert_eq!(both, json!({ "order": "1", "items": [{ "reason": "TOO_SMALL", "quantity": 2 }] }));
        let grown = changed(&["items.1.reason=B", "giftee.email=sam@example.com", r#"order="7""#, "note=a=b"]).unwrap();
        assert_eq!(
            grown,
            json!({ "order": "7", "items": [{ "reason": "A" }, { "reason": "B" }], "giftee": { "email": "sam@example.com" }, "note": "a=b" })
        );
    }

    #[test]
    fn a_change_that_cannot_be_made_says_why() {
        for (change, why) in [
            ("items.2.reason=B", "the list has 1 entries"),
            ("items.first=B", "a list takes a position"),
            ("order.name=B", "there is a plain value above it"),
            ("refund:note=B", "there are order, return"),
            ("items.0.reason", "write a change as PATH=VALUE"),
            ("items..reason=B", "write a change as PATH=VALUE"),
            (":reason=B", "write a change as PATH=VALUE"),
        ] {
            let refused = changed(&[change]).unwrap_err().to_string();
            assert!(refused.contains(why), "{change}: {refused}");
        }
    }
}
