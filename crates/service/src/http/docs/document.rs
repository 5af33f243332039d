//! The OpenAPI document as its pages read it.

use serde_json::Value;

/// The methods that a path can have.
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// The tag of the requests that go to merchants.
const WEBHOOKS: &str = "webhooks";

/// The document.
pub(super) struct Document(Value);

/// A group of operations.
pub(super) struct Topic<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
}

/// A call that somebody makes: to us, or we to a merchant.
#[derive(Clone, Copy)]
pub(super) struct Operation<'a> {
    pub(super) method: &'a str,
    /// The path, or the interface of a call to a merchant.
    pub(super) path: &'a str,
    value: &'a Value,
}

/// A body of a request or an answer, in one media type.
#[derive(Clone, Copy)]
pub(super) struct Body<'a> {
    pub(super) media_type: &'a str,
    value: &'a Value,
}

impl Document {
    /// Reads the document.
    pub(super) fn read(text: &str) -> Self {
        Self(serde_json::from_str(text).unwrap_or_default())
    }

    /// The groups of operations of ours, in the order of the document.
    pub(super) fn topics(&self) -> Vec<Topic<'_>> {
        let tags = self.0.get("tags").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let topics = tags.iter().map(|tag| Topic { name: text(tag, "name"), description: text(tag, "description") });
        topics.filter(|topic| topic.name != WEBHOOKS).collect()
    }

    /// Every operation of ours.
    pub(super) fn operations(&self) -> Vec<Operation<'_>> {
        operations(self.0.get("paths"))
    }

    /// Every call to a merchant.
    pub(super) fn webhooks(&self) -> Vec<Operation<'_>> {
        operations(self.0.get("webhooks"))
    }

    /// The schema that this one refers to, or itself.
    pub(super) fn followed<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|reference| self.0.pointer(reference.trim_start_matches('#')));
        target.unwrap_or(schema)
    }

    /// The example of a body, as it is sent.
    pub(super) fn example(&self, body: Body<'_>) -> Option<String> {
        let reference = body.value.pointer("/examples/example/$ref")?.as_str()?;
        let name = reference.rsplit('/').next()?;
        // Our own texts have their keys in the order of the contract; the document sorts them.
        wire::examples::text(name).or_else(|| {
            let value = self.0.pointer(reference.trim_start_matches('#'))?.get("value")?;
            serde_json::to_string_pretty(value).ok()
        })
    }
}

fn operations(paths: Option<&Value>) -> Vec<Operation<'_>> {
    let paths = paths.and_then(Value::as_object).into_iter().flatten();
    paths
        .flat_map(|(path, item)| {
            let methods = item.as_object().into_iter().flatten().filter(|(method, _)| METHODS.contains(&method.as_str()));
            methods.map(move |(method, value)| Operation { method, path, value })
        })
        .collect()
}

/// A text of an object in the document; empty if it has none.
pub(super) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

impl<'a> Operation<'a> {
    pub(super) fn id(&self) -> &'a str {
        text(self.value, "operationId")
    }

    /// The title, without the full stop of the sentence that it is.
    pub(super) fn title(&self) -> &'a str {
        text(self.value, "summary").trim_end_matches('.')
    }

    pub(super) fn description(&self) -> &'a str {
        text(self.value, "description")
    }

    pub(super) fn topic(&self) -> &'a str {
        self.value.pointer("/tags/0").and_then(Value::as_str).unwrap_or_default()
    }

    /// The scopes of which a token needs one; none if no token is needed.
    pub(super) fn scopes(&self) -> Vec<&'a str> {
        let ways = self.value.get("security").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        ways.iter().filter_map(|way| way.pointer("/oauth2/0")?.as_str()).collect()
    }

    /// The parameters, in the path, the query and the headers.
    pub(super) fn parameters(&self) -> &'a [Value] {
        self.value.get("parameters").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// The bodies that it reads, one per media type.
    pub(super) fn reads(&self) -> Vec<Body<'a>> {
        self.value.get("requestBody").map(bodies).unwrap_or_default()
    }

    /// The answers: the status, what it means, and its bodies.
    pub(super) fn answers(&self) -> Vec<(&'a str, &'a str, Vec<Body<'a>>)> {
        let answers = self.value.get("responses").and_then(Value::as_object).into_iter().flatten();
        answers.map(|(status, answer)| (status.as_str(), text(answer, "description"), bodies(answer))).collect()
    }
}

fn bodies(value: &Value) -> Vec<Body<'_>> {
    let content = value.get("content").and_then(Value::as_object).into_iter().flatten();
    content.map(|(media_type, value)| Body { media_type, value }).collect()
}

impl<'a> Body<'a> {
    pub(super) fn schema(&self) -> Option<&'a Value> {
        self.value.get("schema")
    }

    /// True for the body that all errors share.
    pub(super) fn is_error(&self) -> bool {
        self.value.pointer("/schema/$ref").and_then(Value::as_str) == Some("#/components/schemas/ErrorBody")
    }
}
