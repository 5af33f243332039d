//! What a change was about, in the audit trail: the fields that differ, as they were and as they are.

use serde_json::{Map, Value};

/// The fields that a change makes different. Fields that stay as they are are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    before: Map<String, Value>,
    after: Map<String, Value>,
}

impl Changes {
    /// Adds a field that was `before` and is `after`. Secrets and addresses of people are given as fingerprints.
    #[must_use]
    pub fn field(mut self, name: &str, before: impl Into<Value>, after: impl Into<Value>) -> Self {
        let (before, after) = (before.into(), after.into());
        if before != after {
            self.before.insert(name.to_owned(), before);
            self.after.insert(name.to_owned(), after);
        }
        self
    }

    /// The fields as they were, as JSON; `None` if nothing differs.
    #[must_use]
    pub fn before(&self) -> Option<String> {
        written(&self.before)
    }

    /// The fields as they are, as JSON; `None` if nothing differs.
    #[must_use]
    pub fn after(&self) -> Option<String> {
        written(&self.after)
    }
}

fn written(fields: &Map<String, Value>) -> Option<String> {
    if fields.is_empty() { None } else { serde_json::to_string(fields).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_fields_that_differ_are_told() {
        let changes = Changes::default().field("slots", 10, 20).field("per_second", 5, 5).field("url", Value::Null, "https://example.com/");
        assert_eq!(changes.before().as_deref(), Some(r#"{"slots":10,"url":null}"#));
        assert_eq!(changes.after().as_deref(), Some(r#"{"slots":20,"url":"https://example.com/"}"#));
        assert_eq!(Changes::default().field("slots", 10, 10).after(), None);
    }
}
