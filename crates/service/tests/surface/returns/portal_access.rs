//! Who gets into the portal: shoppers with an order's number and key, and nobody else.

use std::time::Duration;

use backhaul::flow::merchants::configure_merchant::pause_merchant;
use reqwest::Method;
use store::merchants::accounts;

use crate::world::shopper::Page;
use crate::world::{World, message, sold};

/// A page without what differs from request to request.
pub fn alike(page: &Page) -> (u16, Vec<(String, String)>, String) {
    let same = |name: &str| !name.starts_with("ratelimit") && !matches!(name, "x-request-id" | "date" | "content-length");
    let mut headers: Vec<(String, String)> = page
        .headers
        .iter()
        .filter(|(name, _)| same(name.as_str()))
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    headers.sort();
    (page.status.as_u16(), headers, page.html.clone())
}

#[tokio::test]
async fn an_order_is_found_by_its_number_in_any_spelling_and_its_email_or_postcode() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let orders = ["DS-10482", "#77", "abc"].map(|number| sold(number, 1));
    assert_eq!(shop.merchant.publishes(&message(orders)).await.results(), ["created"; 3]);
    for (number, key) in [
        ("DS-10482", "pat@example.com"),
        (" ds-10482 ", " Pat@Example.COM"),
        ("#DS-10482", "10001"),
        ("ds - 10482", "10001-1234"),
        ("77", "10001"),
        ("ABC", "10001"),
    ] {
        let found = world.shopper("acme").finds(number, key).await;
        assert_eq!(found.heading(), "What would you like to send back?", "{number} {key}");
    }
}

#[tokio::test]
async fn an_order_without_a_postcode_is_not_found_by_an_empty_one() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let mut order = sold("A-1", 1);
    order["shipping_address"]["zip_code"] = "-".into();
    order["customer"]["email"] = "".into();
    assert_eq!(shop.merchant.publishes(&message([order])).await.results(), ["created"]);
    for key in ["-", ".", "- -"] {
        assert!(world.shopper("acme").finds("A-1", key).await.says("We can’t find that order"), "{key:?}");
    }
}

#[tokio::test]
async fn a_form_that_is_not_filled_in_says_what_is_missing() {
    let world = World::new().await;
    world.shop("acme").await;
    let pat = world.shopper("acme");
    let page = pat.finds(" ", "").await;
    assert_eq!(page.status, 200);
    assert!(page.says("Enter your order number") && page.says("Enter the e-mail or the postcode of the order"), "{}", page.reads());
    assert!(page.html.contains("<title>Error: "), "{}", page.html);
    assert_eq!(world.database.count("portal_miss").await, 0);
}

#[tokio::test]
async fn misses_are_alike_whatever_is_wrong() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    let paused = world.shop("paused").await;
    paused.merchant.sells("A-1", 1).await;
    let account = accounts::find(world.app.cell(), &"paused".parse().unwrap()).await.unwrap().unwrap();
    pause_merchant(&world.app, "test", &account).await.unwrap();
    let pat = world.shopper("acme");
    let wrong_key = pat.finds("A-1", "sam@example.com").await;
    assert!(wrong_key.says("We can’t find that order"));
    let unknown = pat.finds("A-2", "sam@example.com").await;
    let as_known = unknown.html.replace("A-2", "A-1");
    assert_eq!(alike(&wrong_key), alike(&Page { html: as_known, ..unknown }));
    let of_paused = world.shopper("paused").finds("A-1", "pat@example.com").await;
    let of_acme = pat.finds("A-9", "pat@example.com").await;
    let (mut shown, other) = (alike(&of_paused), alike(&of_acme));
    shown.2 = shown.2.replace("/r/paused", "/r/acme").replace("A-1", "A-9");
    assert_eq!(shown, other);
    assert!(pat.cookie().is_none(), "nobody got a session");
}

#[tokio::test]
async fn only_misses_count_and_nobody_can_lock_a_shopper_out() {
    let world = World::with(&[("BACKHAUL__HTTP__TRUSTED_PROXIES", r#"["127.0.0.0/8"]"#)]).await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    let from = async |address: &str, order: &str, key: &str| {
        let fields = [("order", order), ("key", key)];
        let shopper = world.shopper("acme");
        shopper
            .asks(Method::POST, "/r/acme", |request| {
                request.header("Sec-Fetch-Site", "same-origin").header("X-Forwarded-For", address).form(&fields)
            })
            .await
            .status
            .as_u16()
    };
    // One address has 10 misses in a quarter of an hour.
    for _ in 0..10 {
        assert_eq!(from("192.0.2.1", "B-1", "x@example.com").await, 200);
    }
    assert_eq!(from("192.0.2.1", "B-2", "x@example.com").await, 429);
    assert_eq!(from("192.0.2.1", "A-1", "pat@example.com").await, 429, "a guesser does not learn that a guess is right");
    assert_eq!(from("192.0.2.2", "A-1", "pat@example.com").await, 303, "the right pair works from anywhere else");
    assert_eq!(from("192.0.2.2", "B-3", "x@example.com").await, 200);
    world.time_passes(Duration::from_mins(16));
    assert_eq!(from("192.0.2.1", "B-2", "x@example.com").await, 200);
    // One number has 20 misses in a day, known or not.
    for number in ["A-1", "C-1"] {
        for miss in 1..=20 {
            assert_eq!(from(&format!("198.51.100.{miss}"), number, "x@example.com").await, 200, "{number} {miss}");
        }
        assert_eq!(from("198.51.100.99", number, "x@example.com").await, 429, "{number}");
    }
    assert_eq!(from("198.51.100.98", "A-1", "pat@example.com").await, 303, "nobody can lock a shopper out");
}

#[tokio::test]
async fn a_limit_says_the_day_and_the_minute_to_come_back() {
    let world = World::with(&[("BACKHAUL__HTTP__TRUSTED_PROXIES", r#"["127.0.0.0/8"]"#)]).await;
    world.shop("acme").await;
    world.time_passes(Duration::from_secs(10));
    let pat = world.shopper("acme");
    let misses = async |address: &str, order: &str| {
        let fields = [("order", order), ("key", "x@example.com")];
        pat.asks(Method::POST, "/r/acme", |request| {
            request.header("Sec-Fetch-Site", "same-origin").header("X-Forwarded-For", address).form(&fields)
        })
        .await
    };
    for miss in 1..=20 {
        assert_eq!(misses(&format!("198.51.100.{miss}"), "A-1").await.status, 200);
    }
    let over = misses("198.51.100.21", "A-1").await;
    assert_eq!(over.status, 429);
    // The limit ends at 12:00:10, when the minute that is shown must be over.
    assert!(over.says("You can try again from 2 March at 12:01 UTC."), "{}", over.reads());
    assert_eq!(over.headers["retry-after"], "Mon, 02 Mar 2026 12:01:00 GMT");
    for _ in 1..=10 {
        misses("192.0.2.1", "B-1").await;
    }
    let over = misses("192.0.2.1", "B-2").await;
    assert!(over.says("You can try again from 1 March at 12:16 UTC."), "{}", over.reads());
    assert_eq!(over.headers["retry-after"], "Sun, 01 Mar 2026 12:16:00 GMT");
}

#[tokio::test]
async fn a_session_ends_after_half_an_hour_of_quiet_and_after_twelve_hours() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    let pat = world.shopper("acme");
    pat.finds("A-1", "pat@example.com").await;
    pat.sends("items", &[("line", "L1")]).await;
    world.time_passes(Duration::from_mins(29));
    assert_eq!(pat.opens("items").await.status, 200);
    world.time_passes(Duration::from_mins(29));
    assert_eq!(pat.opens("items").await.status, 200);
    world.time_passes(Duration::from_mins(31));
    let over = pat.opens("items").await;
    assert_eq!((over.status.as_u16(), over.heading()), (401, "You were away for a while".to_owned()));
    // The answers are kept.
    assert_eq!(pat.finds("A-1", "pat@example.com").await.heading(), "Why is it going back?");
    for _ in 0..26 {
        world.time_passes(Duration::from_mins(28));
        pat.opens("items").await;
    }
    assert_eq!(pat.opens("items").await.status, 401);
}

#[tokio::test]
async fn a_cookie_is_good_for_its_own_order_and_merchant_only() {
    let world = World::new().await;
    let (acme, other) = (world.shop("acme").await, world.shop("other").await);
    acme.merchant.sells("A-1", 1).await;
    acme.merchant.sells("A-2", 1).await;
    other.merchant.sells("A-1", 1).await;
    let foreign = acme.merchant.starts_a_return("A-2", 1).await;
    let pat = world.shopper("acme");
    pat.finds("A-1", "pat@example.com").await;
    let cookie = pat.cookie().unwrap();
    assert_eq!(pat.opens(&format!("returns/{foreign}")).await.status, 404, "another order's return");
    assert_eq!(pat.sends(&format!("returns/{foreign}/cancel"), &[]).await.status, 404);
    let elsewhere = world.shopper("other");
    elsewhere.has_cookie(Some(&cookie));
    assert_eq!(elsewhere.opens("items").await.status, 401);
    let altered: String =
        cookie.chars().rev().enumerate().map(|(at, c)| if at == 3 { if c == 'A' { 'B' } else { 'A' } } else { c }).collect();
    for bad in [altered.chars().rev().collect::<String>(), "backhaul_return=".to_owned(), format!("{cookie}x")] {
        pat.has_cookie(Some(&bad));
        assert_eq!(pat.opens("items").await.status, 401, "{bad}");
    }
    pat.has_cookie(Some(&cookie));
    assert_eq!(pat.opens("items").await.status, 200);
    pat.sends("leave", &[]).await;
    pat.has_cookie(Some(&cookie));
    assert_eq!(pat.opens("items").await.status, 401, "whoever has left is out");
}

#[tokio::test]
async fn a_form_from_another_site_changes_nothing() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    let pat = world.shopper("acme");
    pat.finds("A-1", "pat@example.com").await;
    for (name, value) in
        [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", "same-site"), ("Origin", "https://evil.example"), ("X-None", "")]
    {
        let sent = pat.asks(Method::POST, "/r/acme/items", |request| request.header(name, value).form(&[("line", "L1")])).await;
        assert_eq!(sent.status, 403, "{name}: {value}");
    }
    assert_eq!(world.database.count("return_draft").await, 0);
}

/// True if a tag has an attribute such as `onclick`, or a script in it.
fn has_inline_code(html: &str) -> bool {
    let tags = html.split('<').skip(1).map(|tag| tag.split('>').next().unwrap_or_default());
    tags.into_iter().any(|tag| tag.split_whitespace().any(|word| word.starts_with("on") && word.contains('='))) || html.contains("<script>")
}

#[tokio::test]
async fn every_page_forbids_what_it_does_not_need() {
    let world = World::new().await;
    world.shop("acme").await;
    let pat = world.shopper("acme");
    for path in ["/r/acme", "/r/acme/items", "/r/nobody", "/r/acme/no/such/page", "/"] {
        let page = pat.asks(Method::GET, path, |request| request).await;
        let policy = page.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'"), "{policy}");
        assert!(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'self'"));
        assert_eq!(page.headers["cache-control"], "no-store");
        assert_eq!(page.headers["x-content-type-options"], "nosniff");
        assert!(!page.html.contains("style=") && !page.html.contains("<style") && !has_inline_code(&page.html), "{path}: {}", page.html);
    }
    let first = pat.opens("").await;
    let style = first.html.split(r#"rel="stylesheet" href=""#).nth(1).unwrap().split('"').next().unwrap().to_owned();
    let sheet = pat.asks(Method::GET, &style, |request| request).await;
    assert_eq!(sheet.headers["cache-control"], "public, max-age=31536000, immutable");
    assert!(sheet.html.contains(":root"));
    assert_eq!(pat.asks(Method::GET, "/assets/portal.000000000000.css", |request| request).await.status, 404);
}

#[tokio::test]
async fn what_the_portal_keeps_of_a_shopper_is_deleted_in_time() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    let pat = world.shopper("acme");
    pat.finds("A-1", "x@example.com").await;
    pat.finds("A-1", "pat@example.com").await;
    pat.sends("items", &[("line", "L1")]).await;
    let counts = async || {
        let tables = ["portal_session", "return_draft", "portal_miss"];
        futures::future::join_all(tables.map(|table| world.database.count(table))).await
    };
    assert_eq!(counts().await, [1, 1, 3]);
    world.time_passes(Duration::from_hours(25));
    backhaul::flow::returns::forget_outdated::forget_outdated(&world.app).await.unwrap();
    assert_eq!(counts().await, [0, 1, 0]);
    world.time_passes(Duration::from_hours(24 * 7));
    backhaul::flow::returns::forget_outdated::forget_outdated(&world.app).await.unwrap();
    assert_eq!(counts().await, [0, 0, 0]);
}
