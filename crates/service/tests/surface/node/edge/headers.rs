//! The headers of answers: no cache keeps what is personal, and browsers come back over HTTPS.

use std::io::Read as _;

use backhaul::http::openapi;
use domain::merchants::operator::Role;
use reqwest::Method;

use crate::node::listener::site::{Site, ask};
use crate::world::World;

#[tokio::test]
async fn answers_over_https_bind_browsers_to_https() {
    let site = Site::secure(&[]).await;
    let answer = ask(&mut site.connect_securely().await).await;
    assert!(answer.contains("strict-transport-security: max-age=31536000\r\n"), "{answer}");
    let site = Site::plain(&[("HTTP__BEHIND_TLS_PROXY", "true")]).await;
    let answer = ask(&mut site.connect().await).await;
    assert!(answer.contains("strict-transport-security: max-age=31536000\r\n"), "the proxy has the certificate: {answer}");
    let site = Site::plain(&[]).await;
    let answer = ask(&mut site.connect().await).await;
    assert!(!answer.contains("strict-transport-security"), "{answer}");
}

#[tokio::test]
async fn no_cache_keeps_what_may_be_personal() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let document: serde_json::Value = serde_json::from_str(openapi::text()).unwrap();
    for (path, operations) in document["paths"].as_object().unwrap() {
        if path == "/openapi.json" {
            continue;
        }
        let path = path.split('/').map(|part| if part.starts_with('{') { "made-up" } else { part }).collect::<Vec<_>>().join("/");
        for method in operations.as_object().unwrap().keys() {
            let method: Method = method.to_uppercase().parse().unwrap();
            for token in [Some(&merchant.token), None] {
                let reply =
                    world.ask(method.clone(), &path, |request| token.into_iter().fold(request, reqwest::RequestBuilder::bearer_auth)).await;
                assert_eq!(reply.header("cache-control"), "no-store", "{method} {path}: {}", reply.status);
            }
        }
    }
    assert_eq!(world.ask(Method::GET, "/nowhere", |request| request).await.header("cache-control"), "no-store");
    let get = async |url: String| world.client.get(url).send().await.unwrap();
    for path in ["/r/acme", "/r/acme/orders", "/r/acme/withdraw", "/r/nobody", "/nowhere"] {
        let page = get(format!("{}{path}", world.portal)).await;
        assert_eq!(page.headers()["cache-control"], "no-store", "{path}");
    }
    let console = world.console(Role::Admin).await;
    for guard in backhaul::http::console::guards().iter().filter(|guard| guard.method == Method::GET && !guard.path.contains('{')) {
        let page = console.get(guard.path).await;
        assert_eq!(page.headers["cache-control"], "no-store", "{guard:?}");
    }
}

#[tokio::test]
async fn the_document_is_compressed_and_kept() {
    let world = World::new().await;
    let ask = async |headers: &[(&str, &str)]| {
        world
            .ask(Method::GET, "/openapi.json", |request| {
                headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))
            })
            .await
    };
    let plain = ask(&[]).await;
    assert_eq!((plain.text.as_str(), plain.header("content-encoding"), plain.header("vary")), (openapi::text(), "", "accept-encoding"));
    assert_eq!(plain.header("cache-control"), "public, max-age=300");
    let packed = ask(&[("Accept-Encoding", "br;q=1, GZIP;q=0.5")]).await;
    assert_eq!((packed.header("content-encoding"), packed.header("content-type")), ("gzip", "application/json"));
    assert!(packed.bytes.len() * 4 < plain.bytes.len(), "{} of {} bytes", packed.bytes.len(), plain.bytes.len());
    let mut unpacked = String::new();
    flate2::read::GzDecoder::new(packed.bytes.as_slice()).read_to_string(&mut unpacked).unwrap();
    assert_eq!(unpacked, openapi::text());
    for unwanted in ["gzip;q=0", "identity", "gzip;q=0.000, *"] {
        assert_eq!(ask(&[("Accept-Encoding", unwanted)]).await.header("content-encoding"), "", "{unwanted}");
    }
    for (reply, other) in [(&plain, &packed), (&packed, &plain)] {
        let tag = reply.header("etag");
        assert!(tag.starts_with('"') && tag.ends_with('"') && tag != other.header("etag"), "{tag}");
        let kept = ask(&[("If-None-Match", &format!("\"other\", W/{tag}"))]).await;
        assert_eq!((kept.status.as_u16(), kept.bytes.len(), kept.header("etag")), (304, 0, tag));
    }
    assert_eq!(ask(&[("If-None-Match", "\"other\"")]).await.status, 200);
}
