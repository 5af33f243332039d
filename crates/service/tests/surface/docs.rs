//! The documentation that the program serves: every page is there, every link leads somewhere, and nothing is loaded from elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;

use domain::messages::message::Interface;
use reqwest::Method;
use serde_json::Value;

use crate::world::{Reply, World};

fn document() -> Value {
    serde_json::from_str(backhaul::http::openapi::text()).unwrap()
}

async fn get(world: &World, path: &str) -> Reply {
    world.ask(Method::GET, path, |request| request).await
}

/// The values of an attribute in a page.
fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
    let begins = format!(" {attribute}=\"");
    html.split(&begins).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

/// The text of the first element with this name.
fn element<'a>(html: &'a str, name: &str) -> &'a str {
    let (_, rest) = html.split_once(&format!("<{name}")).unwrap_or_else(|| panic!("no {name} in {html}"));
    rest.split_once('>').unwrap().1.split("</").next().unwrap()
}

#[tokio::test]
async fn every_page_has_a_title_and_every_link_leads_to_a_page_and_an_anchor() {
    let world = World::new().await;
    let (mut pages, mut waiting) = (BTreeMap::new(), vec!["/docs".to_owned(), "/docs/search?q=token".to_owned()]);
    while let Some(path) = waiting.pop() {
        if pages.contains_key(&path) {
            continue;
        }
        let reply = get(&world, &path).await;
        assert_eq!(reply.status, 200, "{path}");
        let is_page = reply.header("content-type") == "text/html; charset=utf-8";
        let is_other = ["/openapi.json", "/llms.txt"].contains(&path.as_str())
            || path.starts_with("/docs/files/")
            || path.starts_with("/docs/assets/");
        assert!(is_page != is_other, "{path}: {}", reply.header("content-type"));
        if is_page {
            assert!(reply.header("content-security-policy").starts_with("default-src 'none'; script-src 'self';"), "{path}");
            let links = values(&reply.text, "href").into_iter().chain(values(&reply.text, "src")).chain(values(&reply.text, "action"));
            let within = links.filter(|link| link.starts_with('/')).map(|link| link.split('#').next().unwrap().replace("&amp;", "&"));
            waiting.extend(within);
        }
        pages.insert(path, if is_page { reply.text } else { String::new() });
    }
    let mut titles = BTreeSet::new();
    for (path, html) in pages.iter().filter(|(_, html)| !html.is_empty()) {
        assert_eq!((html.matches("<h1").count(), html.matches("<main").count()), (1, 1), "{path}");
        assert!(!element(html, "h1").is_empty() && html.contains(" · Backhaul</title>"), "{path}");
        let title = html.split_once("<title>").unwrap().1.split("</title>").next().unwrap();
        assert!(path.starts_with("/docs/search") || titles.insert(title), "{path} has the title of another page: {title}");
        let ids: Vec<&str> = values(html, "id");
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{path} repeats an id: {ids:?}");
        assert!(!html.contains(" style=") && !html.contains("<script>") && !html.contains(" onclick="), "{path}");
        for link in values(html, "href").into_iter().filter(|link| link.contains('#') && !link.contains("://")) {
            let (page, anchor) = link.split_once('#').unwrap();
            let page = if page.is_empty() { html } else { &pages[page] };
            assert!(values(page, "id").contains(&anchor), "{path} links to {link}, which is not there");
        }
        for source in values(html, "src") {
            assert!(source.starts_with("/docs/"), "{path} loads {source}");
        }
    }
    let count = pages.values().filter(|html| !html.is_empty()).count();
    assert!(count > 100, "{count} pages");
    // Programs are told of every page.
    let list = get(&world, "/llms.txt").await;
    assert_eq!(list.header("content-type"), "text/plain; charset=utf-8");
    assert!(list.text.starts_with("# Backhaul\n\n> "));
    for path in pages.iter().filter(|(path, html)| !html.is_empty() && !path.contains('?') && *path != "/docs/search").map(|(path, _)| path)
    {
        assert!(list.text.contains(&format!("]({path}): ")), "llms.txt lacks {path}");
    }
}

#[tokio::test]
async fn every_call_has_a_page_with_samples_that_name_its_route() {
    let world = World::new().await;
    let document = document();
    let mut count = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap();
            let page = get(&world, &format!("/docs/reference/{id}")).await;
            assert_eq!(page.status, 200, "{id}");
            let named = |path: String, parameter: &Value| {
                let example = parameter["example"].as_str().unwrap_or_else(|| panic!("{id} has no example of {}", parameter["name"]));
                path.replace(&format!("{{{}}}", parameter["name"].as_str().unwrap()), example)
            };
            let parameters = operation["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
            let route = parameters.iter().filter(|parameter| parameter["in"] == "path").fold(path.clone(), named);
            assert!(!route.contains('{'), "{route}");
            for sample in [
                format!("$BASE{route}&quot;"),
                format!("os.environ[&quot;BASE&quot;] + &quot;{route}&quot;"),
                format!("${{process.env.BASE}}{route}`"),
                format!("format!(&quot;{{base}}{route}&quot;)"),
            ] {
                // Askama writes quotes as numbers.
                let sample = sample.replace("&quot;", "&#34;");
                assert!(page.text.contains(&sample), "{id} lacks {sample}");
            }
            assert!(page.text.contains(&format!("method=&#34;{}&#34;", method.to_uppercase())), "{id}");
            for parameter in parameters {
                assert!(page.text.contains(&format!("<code>{}</code>", parameter["name"].as_str().unwrap())), "{id}");
            }
            for status in operation["responses"].as_object().unwrap().keys() {
                assert!(page.text.contains(&format!(">{status}<")), "{id} lacks {status}");
            }
            count += 1;
        }
    }
    assert!(count > 50, "{count} calls");
}

#[tokio::test]
async fn every_message_has_a_page_with_its_events_an_example_and_the_signature() {
    let world = World::new().await;
    for interface in Interface::ALL {
        let page = get(&world, &format!("/docs/messages/{interface}")).await;
        assert_eq!(page.status, 200, "{interface}");
        for part in ["id=\"when\"", "id=\"example\"", "id=\"fields\"", "id=\"answer\"", "<pre tabindex=\"0\">"] {
            assert!(page.text.contains(part), "{interface} lacks {part}");
        }
        for sample in ["openssl dgst", "hmac.compare_digest", "timingSafeEqual", "Webhook::new"] {
            assert_eq!(page.text.contains(sample), !interface.is_asked(), "{interface}: {sample}");
        }
    }
    let list = get(&world, "/docs/messages").await;
    for interface in Interface::ALL {
        assert!(list.text.contains(&format!("href=\"/docs/messages/{interface}\"")), "{interface}");
    }
}

#[tokio::test]
async fn every_code_of_an_error_is_explained() {
    let world = World::new().await;
    let page = get(&world, "/docs/errors").await;
    let document = document();
    let mut codes: BTreeSet<String> =
        ["no_such_route", "not_found", "invalid_request", "invalid_client", "invalid_scope", "unsupported_grant_type"]
            .map(str::to_owned)
            .into();
    codes
        .extend(document["components"]["schemas"]["Code"]["enum"].as_array().unwrap().iter().map(|code| code.as_str().unwrap().to_owned()));
    for code in codes {
        assert!(page.text.contains(&format!("<code>{code}</code>")), "{code} is not explained");
    }
    let operations = document["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap().values());
    let statuses: BTreeSet<&String> = operations.flat_map(|operation| operation["responses"].as_object().unwrap().keys()).collect();
    for status in statuses.into_iter().filter(|status| status.as_str() >= "400") {
        assert!(page.text.contains(&format!("id=\"status-{status}\"")), "{status} is not explained");
    }
}

#[tokio::test]
async fn pages_are_kept_compressed_and_served_beside_the_document_only() {
    let world = World::new().await;
    let ask = async |method: Method, path: &str, headers: &[(&str, &str)]| {
        world.ask(method, path, |request| headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))).await
    };
    for path in ["/docs", "/docs/", "/docs/orders", "/docs/reference/post_returns", "/docs/files/config.default.toml", "/llms.txt"] {
        let plain = ask(Method::GET, path, &[]).await;
        assert_eq!(
            (plain.status.as_u16(), plain.header("cache-control"), plain.header("vary")),
            (200, "public, max-age=300", "accept-encoding")
        );
        assert_eq!((plain.header("x-content-type-options"), plain.header("x-frame-options")), ("nosniff", "DENY"), "{path}");
        let packed = ask(Method::GET, path, &[("Accept-Encoding", "gzip")]).await;
        let mut unpacked = String::new();
        flate2::read::GzDecoder::new(packed.bytes.as_slice()).read_to_string(&mut unpacked).unwrap();
        assert_eq!(unpacked, plain.text, "{path}");
        let kept = ask(Method::GET, path, &[("If-None-Match", plain.header("etag"))]).await;
        assert_eq!((kept.status.as_u16(), kept.bytes.len()), (304, 0), "{path}");
        let head = ask(Method::HEAD, path, &[]).await;
        assert_eq!((head.status.as_u16(), head.bytes.len(), head.header("etag")), (200, 0, plain.header("etag")), "{path}");
        assert_eq!(ask(Method::POST, path, &[]).await.status, 405, "{path}");
    }
    for path in ["/docs/nowhere", "/docs/reference/nothing", "/docs/files/nothing", "/docs/files/..%2fCargo.toml", "/docs/assets/nothing"] {
        let reply = ask(Method::GET, path, &[]).await;
        assert_eq!((reply.status.as_u16(), reply.body["code"].as_str()), (404, Some("no_such_route")), "{path}");
    }
    let portal = world.client.get(format!("{}/docs", world.portal)).send().await.unwrap();
    assert_eq!(portal.status(), 404, "the portal's own listener has no documentation");
}

#[tokio::test]
async fn the_search_finds_sections_and_escapes_what_was_asked() {
    let world = World::new().await;
    let found = get(&world, "/docs/search?q=Idempotency-Key").await;
    assert_eq!((found.status.as_u16(), found.header("cache-control")), (200, "no-store"));
    assert!(found.text.contains("<mark>Idempotency-Key</mark>") && found.text.contains("href=\"/docs/returns#by-http\""), "{}", found.text);
    let first = |page: &Reply| {
        page.text.split("<ol class=\"found\">").nth(1).and_then(|list| values(list, "href").first().copied().map(str::to_owned))
    };
    assert_eq!(first(&get(&world, "/docs/search?q=Verifying+signatures").await).as_deref(), Some("/docs/receiving#verifying-signatures"));
    assert!(first(&get(&world, "/docs/search?q=rma.tracking_updated").await).is_some());
    let call = get(&world, "/docs/search?q=cancel+return").await;
    assert!(call.text.contains("/docs/reference/post_returns_by_rma_identifier_cancel"), "{}", call.text);

    let hostile = get(&world, "/docs/search?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E%22").await;
    assert_eq!(hostile.status, 200);
    assert!(!hostile.text.contains("<script>alert") && hostile.text.contains("No section holds all of these words."), "{}", hostile.text);
    for nothing in ["/docs/search", "/docs/search?q=", "/docs/search?q=%20"] {
        assert!(get(&world, nothing).await.text.contains("Type some words"), "{nothing}");
    }
    assert_eq!(get(&world, &format!("/docs/search?q={}", "a".repeat(100))).await.status, 200);
    for wrong in [format!("/docs/search?q={}", "a".repeat(101)), "/docs/search?q=a&q=b".to_owned()] {
        let reply = get(&world, &wrong).await;
        assert_eq!(reply.status, 400, "{wrong}");
        assert!(reply.body["message"].as_str().unwrap().starts_with("The query is invalid: q "), "{}", reply.text);
    }
}
