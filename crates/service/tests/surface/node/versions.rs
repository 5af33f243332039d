//! The versions of the API, and how their end is announced.

use backhaul::http::api_version::{Version, Versions};
use backhaul::http::{listener, router_of};
use reqwest::Method;
use tokio::net::TcpListener;

use crate::world::{Merchant, Reply, World, message, order};

impl World {
    /// The same service with these versions of the API.
    async fn serve_versions(&mut self, versions: Versions) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        self.base = format!("http://{}", listener.local_addr().unwrap());
        let (app, router) = (self.app.clone(), router_of(&self.app, versions));
        tokio::spawn(async move { listener::serve(listener, router, &app.settings.http, &app.entropy, std::future::pending()).await });
    }
}

/// The version headers of an answer: version, deprecation, sunset.
fn told(reply: &Reply) -> [&str; 3] {
    ["api-version", "deprecation", "sunset"].map(|name| reply.header(name))
}

async fn answers(merchant: &Merchant<'_>) -> [Reply; 4] {
    let wrong = |request: reqwest::RequestBuilder| request.header("Api-Version", "2").body("{}");
    [
        merchant.publishes(&message([order("1")])).await,
        merchant.calls(Method::POST, "/returns_portal_orders", wrong).await,
        merchant.looks_up("1").await,
        merchant.looks_up("unknown").await,
    ]
}

#[tokio::test]
async fn a_version_that_has_a_successor_announces_its_end_24_months_later() {
    let mut world = World::new().await;
    let at = |time| Version { succeeded_at: Some(wire::time::read(time).unwrap()) };
    world.serve_versions(Versions { orders: at("2026-02-28T12:00:00Z"), v1: Version::default() }).await;
    let merchant = world.merchant("acme").await;
    let [published, refused, shown, absent] = answers(&merchant).await;
    assert_eq!((published.status.as_u16(), refused.status.as_u16(), absent.status.as_u16()), (200, 400, 404));
    let ending = ["3", "@1772280000", "Mon, 28 Feb 2028 12:00:00 GMT"];
    assert_eq!((told(&published), told(&refused)), (ending, ending), "on every answer, errors included");
    assert_eq!((told(&shown), told(&absent)), ([""; 3], [""; 3]), "the others live on");

    let mut world = World::new().await;
    world.serve_versions(Versions { orders: Version::default(), v1: at("2024-02-29T00:00:00Z") }).await;
    let merchant = world.merchant("acme").await;
    let [published, _, shown, absent] = answers(&merchant).await;
    assert_eq!(told(&published), ["3", "", ""]);
    let ending = ["", "@1709164800", "Sat, 28 Feb 2026 00:00:00 GMT"];
    assert_eq!((told(&shown), told(&absent)), (ending, ending), "a leap day has no anniversary");
}

#[tokio::test]
async fn no_version_ends_today() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let [published, refused, shown, _] = answers(&merchant).await;
    assert_eq!((told(&published), told(&refused), told(&shown)), (["3", "", ""], ["3", "", ""], [""; 3]));
}
