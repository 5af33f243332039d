//! One paging dialect: every list of the merchant API and of the operator API takes the same parameters, refuses wrong ones in the same
//! words and answers in the same fields. The lists are taken from the OpenAPI documents, so a new one is held to the same.

use backhaul::cli::operator_api;
use reqwest::Method;
use serde_json::{Value, json};

use crate::merchants::json_output::every_command;
use crate::world::{World, order};

const BAD_LIMIT: &str = "limit must be a number between 1 and 100";
const BAD_CURSOR: &str = "cursor must be the `next` of another page of this list";

/// Names that other dialects have for the same.
const FOREIGN: [&str; 9] = ["before", "after", "page", "per_page", "offset", "next_before", "next_after", "next_cursor", "has_more"];

/// Whatever is read without being a list, although its path names no record.
const NO_LISTS: [&str; 3] = ["/openapi.json", "/v1/events/stream", "/v1/reports/deliveries"];

/// The query parameters of an operation, by name.
fn parameters(operation: &Value) -> Vec<(&str, &Value)> {
    let all = operation["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().filter(|one| one["in"] == "query").map(|one| (one["name"].as_str().unwrap(), one)).collect()
}

/// Checks the parameters of an operation; true if it is read in pages.
fn pages(path: &str, operation: &Value) -> bool {
    let parameters = parameters(operation);
    for (name, _) in &parameters {
        assert!(!FOREIGN.contains(name), "{path} takes {name}");
    }
    let find = |wanted: &str| parameters.iter().find(|(name, _)| *name == wanted).map(|(_, parameter)| *parameter);
    let (Some(limit), Some(cursor)) = (find("limit"), find("cursor")) else {
        assert!(find("limit").is_none(), "{path} takes a limit and no cursor");
        return false;
    };
    let schema = &limit["schema"];
    assert_eq!((&schema["minimum"], &schema["maximum"], &schema["default"]), (&json!(1), &json!(100), &json!(50)), "{path}");
    assert_eq!((&limit["required"], &cursor["required"]), (&json!(false), &json!(false)), "{path}");
    true
}

/// Checks that an answer is a page; returns its cursor.
fn page<'a>(path: &str, body: &'a Value) -> Option<&'a str> {
    assert!(body["items"].is_array(), "{path} has items: {body}");
    assert!(body["next"].is_null() || body["next"].is_string(), "{path} has next: {body}");
    for name in FOREIGN {
        assert!(body.get(name).is_none(), "{path} has {name}: {body}");
    }
    body["next"].as_str()
}

#[tokio::test]
async fn every_list_of_the_merchant_api_is_read_alike() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let import = merchant.imports(&[order("A-1")]).await.body["import_id"].as_str().unwrap().to_owned();
    let told = world.owe(merchant.id, "A-1", 1).await.to_string();
    let document: Value = serde_json::from_str(backhaul::http::openapi::text()).unwrap();
    let mut lists = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let Some(operation) = item.get("get") else { continue };
        let in_pages = pages(path, operation);
        assert!(in_pages || path.contains('{') || NO_LISTS.contains(&path.as_str()), "{path} is a list, and is not read in pages");
        if !in_pages || NO_LISTS.contains(&path.as_str()) {
            continue;
        }
        lists += 1;
        let path = path.replace("{import_id}", &import).replace("{message_id}", &told);
        assert!(!path.contains('{'), "say here what stands for the parameter of {path}");
        let ask = async |query: &str| merchant.calls(Method::GET, &format!("{path}{query}"), |request| request).await;
        let reply = ask("?limit=1").await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.text);
        // The attempts of a message are a list within it.
        let list = if path.ends_with(&told) { &reply.body["attempts"] } else { &reply.body };
        if let Some(next) = page(&path, list) {
            assert_eq!(ask(&format!("?limit=1&cursor={next}")).await.status, 200, "{path}: {next} is a cursor");
        }
        for (wrong, why) in [
            ("?limit=0", BAD_LIMIT),
            ("?limit=101", BAD_LIMIT),
            ("?limit=-1", BAD_LIMIT),
            ("?limit=x", BAD_LIMIT),
            ("?limit=", BAD_LIMIT),
            ("?cursor=~", BAD_CURSOR),
            ("?cursor=", BAD_CURSOR),
            ("?cursor=%00", BAD_CURSOR),
        ] {
            let refused = ask(wrong).await;
            let expected = format!("The query is invalid: {why}.");
            assert_eq!((refused.status.as_u16(), &refused.body["message"]), (400, &json!(expected)), "{path}{wrong}: {}", refused.text);
        }
    }
    assert!(lists >= 13, "{lists}");
}

#[tokio::test]
async fn every_list_of_the_operator_api_is_read_alike() {
    let world = World::new().await;
    let (script, calls) = every_command(&world).await;
    let document: Value = serde_json::from_str(&operator_api().document).unwrap();
    let schema = document.pointer("/components/schemas/List/required").unwrap();
    assert_eq!(schema, &json!(["items", "next"]));
    let (mut lists, mut in_pages) = (0, 0);
    for (path, _, given) in calls.iter().filter(|(_, reads, _)| *reads) {
        let operation = &document["paths"][format!("/admin/v1/{path}")]["get"];
        let is_list = operation["responses"]["200"]["$ref"] == "#/components/responses/list";
        let takes_pages = pages(path, operation);
        let ask = async |more: &[(&str, &str)]| {
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let own = given.as_object().unwrap().iter().map(|(name, value)| (name.as_str(), text(value)));
            let more = more.iter().map(|(name, value)| (*name, (*value).to_owned()));
            let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(own.chain(more)).finish();
            script.reads(&format!("{path}?{query}")).await
        };
        let reply = ask(&[]).await;
        let worked = reply.status == 200;
        if worked {
            let is_page = reply.body.get("items").is_some() && reply.body.get("next").is_some();
            assert_eq!(is_page, is_list, "{path} is declared as what it is: {}", reply.text);
        }
        if is_list && worked {
            lists += 1;
            let next = page(path, &reply.body);
            assert!(takes_pages || next.is_none(), "{path} is answered whole");
        }
        if !takes_pages {
            continue;
        }
        in_pages += 1;
        for wrong in ["0", "101", "-1", "x"] {
            let refused = ask(&[("limit", wrong)]).await;
            let detail = refused.body["detail"].as_str().unwrap_or_default();
            assert!(refused.status == 400 && detail.ends_with(BAD_LIMIT), "{path} with limit {wrong:?}: {}", refused.text);
        }
        if worked {
            let refused = ask(&[("cursor", "~")]).await;
            assert_eq!((refused.status.as_u16(), &refused.body["detail"]), (400, &json!(BAD_CURSOR)), "{path}: {}", refused.text);
        }
    }
    assert!(lists >= 20 && in_pages >= 10, "{lists}, {in_pages}");
}

#[tokio::test]
async fn the_operators_lists_are_read_to_their_end_page_by_page() {
    let world = World::new().await;
    for handle in ["acme", "bolt", "crate", "dyno"] {
        world.merchant(handle).await;
    }
    let script = world.script(domain::merchants::operator::Role::Admin).await;
    for (path, name) in [("merchant/list", "handle"), ("audit/list", "audit_id")] {
        let whole = script.reads(&format!("{path}?limit=100")).await.body;
        assert_eq!(whole["next"], Value::Null, "{path}");
        let (mut seen, mut query) = (Vec::new(), format!("{path}?limit=3"));
        loop {
            let page = script.reads(&query).await;
            let items = page.body["items"].as_array().unwrap_or_else(|| panic!("{}", page.text));
            assert!(items.len() <= 3, "{path}");
            seen.extend(items.iter().map(|item| item[name].clone()));
            let Some(next) = page.body["next"].as_str() else { break };
            query = format!("{path}?limit=3&cursor={next}");
        }
        let expected: Vec<Value> = whole["items"].as_array().unwrap().iter().map(|item| item[name].clone()).collect();
        assert!(expected.len() > 3, "{path}: {expected:?}");
        assert_eq!(seen, expected, "{path}");
    }
}
