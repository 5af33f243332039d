//! The pages on the calls that others make to us: one for each operation, and a list of them by topic.

use askama::Template;
use serde_json::Value;

use super::document::{Body, Document, Operation, Topic, text};
use super::fields::{self, Field};
use super::guides::Group;
use super::markdown::{Section, anchor, short};
use super::page::{Frame, Menu, Page};
use super::samples::{self, Sample};

/// The path of the list.
pub(super) const LIST: &str = "/docs/reference";

/// The path of an operation's page.
pub(super) fn path(operation: Operation<'_>) -> String {
    format!("{LIST}/{}", operation.id())
}

/// A parameter in the path, the query or a header.
struct Parameter {
    name: String,
    place: String,
    kind: String,
    is_required: bool,
    meaning: String,
}

/// An answer, as its page shows it.
struct Answer {
    status: String,
    meaning: String,
    /// The media types of its body.
    media_types: String,
    fields: Vec<Field>,
    example: Option<String>,
}

#[derive(Template)]
#[template(path = "docs/operation.html")]
struct OperationPage<'a> {
    frame: Frame<'a>,
    method: String,
    path: &'a str,
    topic: &'a str,
    topic_anchor: String,
    description: String,
    scopes: Vec<&'a str>,
    parameters: Vec<Parameter>,
    /// The media types that are read.
    reads: String,
    fields: Vec<Field>,
    example: Option<String>,
    samples: Vec<Sample>,
    answers: Vec<Answer>,
    /// Answers that are errors: the status and what it means.
    errors: Vec<(String, String)>,
}

#[derive(Template)]
#[template(path = "docs/reference.html")]
struct ListPage<'a> {
    frame: Frame<'a>,
    topics: Vec<(Topic<'a>, String, Vec<Row<'a>>)>,
}

/// An operation in the list.
struct Row<'a> {
    href: String,
    method: String,
    path: &'a str,
    title: &'a str,
}

/// The page of an operation.
pub(super) fn page(document: &Document, menu: &Menu, operation: Operation<'_>) -> Page {
    let title = operation.title().to_owned();
    let description = short(operation.description());
    let lede = format!("{} {}: {}.", operation.method.to_uppercase(), operation.path, title);
    let reads = operation.reads();
    let (answers, errors): (Vec<_>, Vec<_>) = operation.answers().into_iter().partition(|(.., bodies)| !bodies.iter().any(Body::is_error));
    let shown = OperationPage {
        frame: Frame::new(menu, LIST, &title, &lede),
        method: operation.method.to_uppercase(),
        path: operation.path,
        topic: operation.topic(),
        topic_anchor: anchor(operation.topic()),
        description,
        scopes: operation.scopes(),
        parameters: operation.parameters().iter().map(|parameter| parameter_of(document, parameter)).collect(),
        reads: media_types(&reads),
        fields: body_fields(document, &reads),
        example: reads.first().and_then(|body| document.example(*body)),
        samples: samples::of(document, operation),
        answers: answers.into_iter().map(|(status, meaning, bodies)| answer_of(document, status, meaning, &bodies)).collect(),
        errors: errors.into_iter().map(|(status, meaning, _)| (status.to_owned(), short(meaning))).collect(),
    };
    let html = shown.render().unwrap_or_default();
    Page::new(Group::Reference, title, lede.clone(), searched(operation, &lede, &shown), html)
}

/// The list of all operations.
pub(super) fn list(document: &Document, menu: &Menu) -> Page {
    let (title, lede) = ("Interfaces", "Every call of the API, by topic, from the OpenAPI document.");
    let operations = document.operations();
    let topics: Vec<_> = document
        .topics()
        .into_iter()
        .map(|topic| {
            let of = operations.iter().filter(|operation| operation.topic() == topic.name);
            let rows = of.map(|operation| Row {
                href: path(*operation),
                method: operation.method.to_uppercase(),
                path: operation.path,
                title: operation.title(),
            });
            let (anchor, rows) = (anchor(topic.name), rows.collect::<Vec<_>>());
            (topic, anchor, rows)
        })
        .collect();
    let sections = topics.iter().map(|(topic, anchor, _)| Section {
        anchor: anchor.clone(),
        heading: topic.name.to_owned(),
        text: topic.description.to_owned(),
    });
    let sections = sections.collect();
    let html = ListPage { frame: Frame::new(menu, LIST, title, lede), topics }.render().unwrap_or_default();
    Page::new(Group::Reference, title.to_owned(), lede.to_owned(), sections, html)
}

fn parameter_of(document: &Document, parameter: &Value) -> Parameter {
    Parameter {
        name: text(parameter, "name").to_owned(),
        place: text(parameter, "in").to_owned(),
        kind: parameter.get("schema").map(|schema| fields::kind(document, schema)).unwrap_or_default(),
        is_required: parameter.get("required").and_then(Value::as_bool) == Some(true),
        meaning: short(text(parameter, "description")),
    }
}

fn media_types(bodies: &[Body<'_>]) -> String {
    bodies.iter().map(|body| body.media_type).collect::<Vec<_>>().join(" or ")
}

fn body_fields(document: &Document, bodies: &[Body<'_>]) -> Vec<Field> {
    bodies.first().and_then(Body::schema).map(|schema| fields::of(document, schema)).unwrap_or_default()
}

fn answer_of(document: &Document, status: &str, meaning: &str, bodies: &[Body<'_>]) -> Answer {
    Answer {
        status: status.to_owned(),
        meaning: short(meaning),
        media_types: media_types(bodies),
        fields: body_fields(document, bodies),
        example: bodies.first().and_then(|body| document.example(*body)),
    }
}

/// The text by which an operation is found.
fn searched(operation: Operation<'_>, lede: &str, shown: &OperationPage<'_>) -> Vec<Section> {
    let words = |names: Vec<&str>| names.join(" ");
    let parameters = words(shown.parameters.iter().map(|parameter| parameter.name.as_str()).collect());
    let body = words(shown.fields.iter().map(|field| field.path.as_str()).collect());
    let section = |anchor: &str, heading: &str, text: String| Section { anchor: anchor.to_owned(), heading: heading.to_owned(), text };
    let mut sections = vec![section("", operation.title(), format!("{lede} {} {parameters}", operation.description()))];
    if !body.is_empty() {
        sections.push(section("body", "Body", body));
    }
    sections
}
