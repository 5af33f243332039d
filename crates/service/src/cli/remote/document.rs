//! The OpenAPI document of the operator API, made from the commands.

use std::any::TypeId;
use std::collections::BTreeSet;

use clap::{Arg, Command};
use domain::merchants::operator::Role;
use serde_json::{Map, Value, json};

use super::operations;
use super::parameters;
use crate::cli::page::Limit;

/// The document as text.
pub(super) fn write(root: &Command) -> String {
    let paths: Map<String, Value> = operations::remote()
        .filter_map(|(words, role, reads)| {
            let leaf = parameters::leaf(root, words)?;
            let method = if reads { "get" } else { "post" };
            Some((format!("/admin/v1/{}", words.replace(' ', "/")), json!({ method: operation(leaf, words, role, reads) })))
        })
        .collect();
    let groups: BTreeSet<&str> = operations::remote().filter_map(|(words, ..)| words.split(' ').next()).collect();
    let tags: Vec<Value> = groups.into_iter().map(|group| tag(root, group)).collect();
    let document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Backhaul's operator API",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The commands of the command line, with a personal token. Each operation takes the parameters of its command \
                and answers with what the command prints: JSON, or with `Accept: text/plain` the table. `x-role` is the least role \
                that the token needs.",
            "contact": { "name": "The operator of your installation" },
        },
        "servers": [{ "url": "/", "description": "The console's address." }],
        "tags": tags,
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer", "description": "A personal token, made in the console under Your account." },
            },
            "schemas": { "Problem": problem(), "List": list() },
            "responses": responses(),
        },
    });
    serde_json::to_string_pretty(&document).map(|text| text + "\n").unwrap_or_default()
}

/// A group of commands, as the command line describes it.
fn tag(root: &Command, group: &str) -> Value {
    let about = root.find_subcommand(group).and_then(Command::get_about).map(ToString::to_string);
    json!({ "name": group, "description": about })
}

fn problem() -> Value {
    let text = |description: &str| json!({ "type": "string", "description": description });
    json!({
        "type": "object",
        "description": "A problem as in RFC 9457.",
        "required": ["type", "title", "status", "detail", "request_id"],
        "properties": {
            "type": { "type": "string" },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "detail": text("What happened, why, and what to do next: the text that the command line would show."),
            "request_id": text("The id of the request, for support."),
            "question": text("Of a 409: the question to confirm. Send the request again with `yes`."),
            "result": { "description": "What the command had to say before it failed, such as a report." },
        },
    })
}

fn list() -> Value {
    json!({
        "type": "object",
        "description": "A list, or a page of one. A list that takes no `cursor` is always answered whole.",
        "required": ["items", "next"],
        "properties": {
            "items": { "type": "array", "items": { "type": "object" } },
            "next": { "type": ["string", "null"], "description": "Send it as `cursor` to get the next page; null on the last page." },
        },
    })
}

fn operation(leaf: &Command, words: &str, role: Role, reads: bool) -> Value {
    let about = |text: Option<&clap::builder::StyledStr>| text.map(ToString::to_string).unwrap_or_default();
    let summary = about(leaf.get_about());
    let description = leaf.get_long_about().map_or_else(|| summary.clone(), ToString::to_string);
    let reference = |status: &String| (status.clone(), json!({ "$ref": format!("#/components/responses/{status}") }));
    let mut operation = Map::new();
    let mut add = |name: &str, value: Value| operation.insert(name.to_owned(), value);
    add("operationId", words.replace([' ', '-'], "_").into());
    add("tags", vec![words.split(' ').next().unwrap_or_default()].into());
    add("summary", summary.into());
    add("description", format!("{description}\n\nRole: {role}. Command: `backhaul {words}`.").into());
    add("x-role", role.as_str().into());
    let mut answers: Map<String, Value> = responses().keys().filter(|status| *status != LIST).map(reference).collect();
    if operations::is_list(words) {
        answers.insert("200".to_owned(), json!({ "$ref": format!("#/components/responses/{LIST}") }));
    }
    add("responses", answers.into());
    if reads {
        let parameter = |arg: &Arg| {
            json!({
                "name": parameters::name(arg),
                "in": "query",
                "required": arg.is_required_set(),
                "description": help(arg),
                "schema": schema(arg),
            })
        };
        add("parameters", parameters::of(leaf).map(parameter).collect());
    } else {
        add("requestBody", body(leaf, words));
    }
    operation.into()
}

fn body(leaf: &Command, words: &str) -> Value {
    let mut properties = Map::new();
    for arg in parameters::of(leaf) {
        let (name, mut schema) = (parameters::name(arg), schema(arg));
        schema.insert("description".to_owned(), help(arg).into());
        if operations::files(words).contains(&name.as_str()) {
            // Of a list, each item is a file.
            let file = match schema.get_mut("items") {
                Some(Value::Object(item)) => item,
                _ => &mut schema,
            };
            file.insert("contentEncoding".to_owned(), "base64".into());
        }
        properties.insert(name, schema.into());
    }
    for (name, variable) in operations::secrets(words) {
        let description = format!("The secret, which the command line takes from `{variable}`.");
        properties.insert((*name).to_owned(), json!({ "type": "string", "format": "password", "description": description }));
    }
    let required: Vec<String> = parameters::of(leaf).filter(|arg| arg.is_required_set()).map(parameters::name).collect();
    let schema = json!({ "type": "object", "additionalProperties": false, "properties": properties, "required": required });
    json!({ "required": !required.is_empty(), "content": { "application/json": { "schema": schema } } })
}

fn help(arg: &Arg) -> String {
    arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default()
}

/// The type of a parameter's values.
fn schema(arg: &Arg) -> Map<String, Value> {
    let of = arg.get_value_parser().type_id();
    let is = |types: &[TypeId]| types.iter().any(|one| of == *one);
    let kind = if parameters::is_flag(arg) {
        "boolean"
    } else if is(&[
        TypeId::of::<i16>(),
        TypeId::of::<i32>(),
        TypeId::of::<i64>(),
        TypeId::of::<u16>(),
        TypeId::of::<u32>(),
        TypeId::of::<u64>(),
        TypeId::of::<Limit>(),
    ]) {
        "integer"
    } else if is(&[TypeId::of::<f64>()]) {
        "number"
    } else {
        "string"
    };
    let mut one = Map::from_iter([("type".to_owned(), Value::from(kind))]);
    if is(&[TypeId::of::<Limit>()]) {
        one.insert("minimum".to_owned(), 1.into());
        one.insert("maximum".to_owned(), wire::page::MOST.into());
    }
    let possible: Vec<String> = arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    if !possible.is_empty() && !parameters::is_flag(arg) {
        one.insert("enum".to_owned(), possible.into());
    }
    if let ([default], false) = (arg.get_default_values(), parameters::is_flag(arg)) {
        let text = default.to_string_lossy();
        let default = if kind == "integer" { text.parse::<i64>().map_or(Value::Null, Value::from) } else { text.into() };
        one.insert("default".to_owned(), default);
    }
    if parameters::is_list(arg) { Map::from_iter([("type".to_owned(), "array".into()), ("items".to_owned(), one.into())]) } else { one }
}

/// The name of the answer of a list.
const LIST: &str = "list";

/// The responses of all operations, by status, and that of lists.
fn responses() -> Map<String, Value> {
    let problem = |description: &str| {
        let content = json!({ "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } });
        json!({ "description": description, "content": content })
    };
    let done = json!({
            "description": "What the command prints with `-o json`; a command that prints a sentence answers with it as `message`.",
            "content": { "application/json": { "schema": {} }, "text/plain": { "schema": { "type": "string" } } },
    });
    let listed = json!({
        "description": "The list, or a page of it.",
        "content": {
            "application/json": { "schema": { "$ref": "#/components/schemas/List" } },
            "text/plain": { "schema": { "type": "string" } },
        },
    });
    let faults = [
        ("400", "The parameters are not those of the command."),
        ("401", "There is no token, or it is unknown, expired or revoked."),
        ("403", "The role of the token does not suffice."),
        ("405", "Operations that read are asked with GET, those that change something with POST."),
        ("404", "There is no such route."),
        ("408", "The body did not arrive in time."),
        ("409", "The command asks for confirmation."),
        ("413", "The body is too large."),
        ("415", "The body is not JSON."),
        ("422", "The command was refused."),
        ("429", "Too many requests of this token or address."),
        ("500", "The service failed."),
        ("503", "The service is unavailable at the moment, or the command took too long."),
    ];
    let faults = faults.into_iter().map(|(status, description)| (status.to_owned(), problem(description)));
    [("200".to_owned(), done), (LIST.to_owned(), listed)].into_iter().chain(faults).collect()
}
