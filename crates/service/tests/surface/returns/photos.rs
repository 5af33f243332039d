//! The photos of goods: fetched once from the URLs in orders, made small, and stored. The merchant's servers are never trusted.

use std::time::Duration;

use backhaul::flow::merchants::erase_shopper::{ErasureTarget, erase_shopper};
use backhaul::flow::returns::fetch_photo::{Photo, fetch_photo};
use backhaul::flow::returns::forget_outdated::forget_outdated;
use image::{ImageFormat, Rgb, RgbImage};
use sandbox::merchant::{Answer, Merchant as Systems};
use serde_json::json;
use store::returns::photos::{Known, known};

use crate::world::shopper::Page;
use crate::world::{Merchant, World, line, message, sold};

const MIB: usize = 1024 * 1024;

/// A square of 400 pixels as PNG, padded to this many bytes.
fn shoe(bytes: usize) -> Vec<u8> {
    let mut file = std::io::Cursor::new(Vec::new());
    RgbImage::from_pixel(400, 400, Rgb([20, 30, 220])).write_to(&mut file, ImageFormat::Png).unwrap();
    let mut file = file.into_inner();
    file.resize(bytes.max(file.len()), 0);
    file
}

fn photo_of_a_shoe() -> Answer {
    Answer::ok().body(shoe(0)).header("content-type", "text/html")
}

impl Merchant<'_> {
    /// Sells an order with a line for each of these photos, `L1` and so on.
    async fn sells_pictured(&self, order: &str, urls: &[&str]) {
        let mut message = message([sold(order, 1)]);
        let lines = urls.iter().zip(1..).map(|(url, number)| {
            let mut line = line(&format!("L{number}"), 1);
            line["image_url"] = json!(url);
            line
        });
        message["returns_portal_order"]["orders"][0]["items"] = lines.collect();
        assert_eq!(self.publishes(&message).await.results(), ["created"]);
    }

    async fn photo(&self, order: &str, line: &str) -> Option<Photo> {
        fetch_photo(&self.world.app, self.id, order, line).await.unwrap()
    }

    async fn knows(&self, urls: &[&str]) -> Vec<Known> {
        let app = &self.world.app;
        known(app.store(self.id), self.id, urls, app.now()).await.unwrap()
    }
}

#[tokio::test]
async fn a_photo_is_fetched_once_and_made_small() {
    let world = World::new().await;
    let (merchant, server) = (world.merchant("acme").await, Systems::start().await.unwrap());
    server.answer("/shoe", photo_of_a_shoe());
    let url = server.url("/shoe?size=full");
    merchant.sells_pictured("A-1", &[&url]).await;
    assert_eq!(merchant.knows(&[&url]).await, [Known::Unknown]);
    let first = merchant.photo("A-1", "L1").await.expect("a photo");
    let copy = image::load_from_memory_with_format(&first.jpeg, ImageFormat::Jpeg).unwrap();
    assert_eq!((copy.width(), copy.height()), (216, 216));
    assert!(first.etag().starts_with('"') && first.etag().ends_with('"') && first.etag().len() == 45, "{}", first.etag());
    assert_eq!(merchant.knows(&[&url]).await, [Known::Pictured]);
    // Another order of the same goods, and another node.
    merchant.sells_pictured("A-2", &[&url]).await;
    assert_eq!(merchant.photo("A-2", "L1").await.as_ref(), Some(&first));
    let node = world.second_node().await;
    assert_eq!(fetch_photo(&node.app, merchant.id, "A-1", "L1").await.unwrap(), Some(first));
    let [asked] = &server.received()[..] else { panic!("it is asked once") };
    assert_eq!((asked.method().as_str(), asked.path(), asked.query()), ("GET", "/shoe", Some("size=full")));
    assert_eq!(asked.header("accept"), Some("image/webp, image/jpeg, image/png"));
    assert_eq!(world.metric("backhaul_photos_total{result=\"fetched\"}").await, 1);
    // What one merchant's server sent is not shown to another's shoppers.
    let other = world.merchant("bolt").await;
    assert_eq!(other.knows(&[&url]).await, [Known::Unknown]);
}

#[tokio::test]
async fn many_who_ask_for_a_photo_share_one_fetch() {
    let world = World::new().await;
    let (merchant, server) = (world.merchant("acme").await, Systems::start().await.unwrap());
    server.answer("/shoe", photo_of_a_shoe().held());
    merchant.sells_pictured("A-1", &[&server.url("/shoe")]).await;
    let asking = futures::future::join_all((0..10).map(|_| merchant.photo("A-1", "L1")));
    let answering = async {
        server.wait_for(1, Duration::from_secs(30)).await.unwrap();
        server.release();
    };
    let (photos, ()) = tokio::join!(asking, answering);
    assert!(photos.iter().all(Option::is_some));
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn only_a_url_in_an_order_of_the_merchant_is_called() {
    let world = World::new().await;
    let (acme, bolt, server) = (world.merchant("acme").await, world.merchant("bolt").await, Systems::start().await.unwrap());
    server.answer("/", photo_of_a_shoe());
    acme.sells_pictured("A-1", &[&server.url("/shoe")]).await;
    bolt.sells("B-1", 1).await;
    let url = server.url("/other");
    for (merchant, order, line) in [
        (&bolt, "A-1", "L1"),
        (&acme, "B-1", "L1"),
        (&acme, "A-1", "L2"),
        (&acme, "A-1", url.as_str()),
        (&acme, url.as_str(), url.as_str()),
        (&acme, "A-1\0", "L1"),
        (&acme, "A-1", "L1\0"),
        (&acme, "", ""),
    ] {
        assert_eq!(merchant.photo(order, line).await, None, "{order} {line}");
    }
    assert_eq!((server.count(), world.database.count("photo").await), (0, 0));
    assert!(acme.photo("A-1", "L1").await.is_some(), "it would have answered");
}

#[tokio::test]
async fn a_failure_is_remembered_for_an_hour() {
    let world = World::new().await;
    let (merchant, server) = (world.merchant("acme").await, Systems::start().await.unwrap());
    server.answer("/", Answer::status(404));
    let urls = [server.url("/gone"), server.url("/never-asked")];
    let urls = [urls[0].as_str(), urls[1].as_str()];
    merchant.sells_pictured("A-1", &urls).await;
    for (minutes, calls, state) in [(0, 1, Known::Missing), (59, 1, Known::Missing), (1, 2, Known::Missing)] {
        world.time_passes(Duration::from_mins(minutes));
        assert_eq!(merchant.photo("A-1", "L1").await, None);
        assert_eq!((server.count(), merchant.knows(&urls).await), (calls, vec![state, Known::Unknown]), "{minutes} minutes later");
    }
    server.answer("/", photo_of_a_shoe());
    world.time_passes(Duration::from_hours(1));
    assert_eq!(merchant.knows(&urls).await, [Known::Unknown; 2], "it can be tried again");
    assert!(merchant.photo("A-1", "L1").await.is_some());
    assert_eq!(merchant.knows(&urls).await, [Known::Pictured, Known::Unknown]);
    assert_eq!(world.metric("backhaul_photos_total{result=\"failed\"}").await, 2);
}

#[tokio::test]
async fn an_internal_address_is_not_called_even_by_a_redirect() {
    let [outside, inside] = [Systems::start().await.unwrap(), Systems::start().await.unwrap()];
    let world = World::with(&[("BACKHAUL__OUTBOUND__ALLOWED", &format!("[\"{}\"]", outside.address()))]).await;
    let merchant = world.merchant("acme").await;
    inside.answer("/", photo_of_a_shoe());
    outside.answer("/shoe", photo_of_a_shoe());
    outside.answer("/moved", Answer::redirect(&inside.url("/shoe")));
    outside.answer("/moved-here", Answer::redirect(&outside.url("/shoe")));
    let port = inside.address().port();
    let urls = [
        outside.url("/shoe"),
        outside.url("/moved"),
        outside.url("/moved-here"),
        inside.url("/shoe"),
        format!("https://{}/shoe", inside.address()),
        format!("http://localhost:{port}/shoe"),
        format!("http://2130706433:{port}/shoe"),
        "https://10.0.0.1/shoe".to_owned(),
        "https://169.254.169.254/latest/meta-data".to_owned(),
        "http://example.com/shoe".to_owned(),
        "file:///etc/passwd".to_owned(),
        "shoe.png".to_owned(),
    ];
    merchant.sells_pictured("A-1", &urls.each_ref().map(String::as_str)).await;
    for (url, number) in urls.iter().zip(1..) {
        let found = merchant.photo("A-1", &format!("L{number}")).await.is_some();
        assert_eq!(found, number == 1, "{url}");
    }
    assert_eq!((inside.connections(), outside.count()), (0, 3), "no redirect is followed");
}

#[tokio::test]
async fn a_file_has_5_mib_at_most() {
    let world = World::new().await;
    let (merchant, server) = (world.merchant("acme").await, Systems::start().await.unwrap());
    server.answer("/most", Answer::ok().body(shoe(5 * MIB)));
    server.answer("/more", Answer::ok().body(shoe(5 * MIB + 1)));
    server.answer("/endless", Answer::ok().endless());
    merchant.sells_pictured("A-1", &[&server.url("/most"), &server.url("/more"), &server.url("/endless")]).await;
    let mut found = Vec::new();
    for line in ["L1", "L2", "L3"] {
        found.push(merchant.photo("A-1", line).await.is_some());
    }
    assert_eq!(found, [true, false, false]);
}

#[tokio::test]
async fn what_is_no_picture_is_not_shown() {
    let world = World::new().await;
    let (merchant, server) = (world.merchant("acme").await, Systems::start().await.unwrap());
    server.answer("/page", Answer::ok().body("<!doctype html>").header("content-type", "image/png"));
    server.answer("/cut", Answer::ok().cut_short(shoe(0)));
    server.answer("/part", Answer::status(206).body(shoe(0)));
    server.answer("/error", Answer::status(500).body(shoe(0)));
    server.answer("/reset", Answer::reset());
    let urls = ["/page", "/cut", "/part", "/error", "/reset"].map(|path| server.url(path));
    let urls = urls.each_ref().map(String::as_str);
    merchant.sells_pictured("A-1", &urls).await;
    for number in 1..=urls.len() {
        assert_eq!(merchant.photo("A-1", &format!("L{number}")).await, None, "{}", urls[number - 1]);
    }
    assert_eq!(merchant.knows(&urls).await, [Known::Missing; 5]);
}

#[tokio::test]
async fn a_slow_server_is_given_up_and_holds_up_nobody_else() {
    let world = World::new().await;
    let (slow, quick) = (world.merchant("slow").await, world.merchant("quick").await);
    let server = Systems::start().await.unwrap();
    server.answer("/slow", Answer::hang());
    server.answer("/drip", Answer::ok().drip(Duration::from_millis(100), None));
    server.answer("/shoe", photo_of_a_shoe());
    let urls = ["/slow", "/drip", "/shoe"].map(|path| server.url(path));
    let urls = urls.each_ref().map(String::as_str);
    slow.sells_pictured("A-1", &urls).await;
    quick.sells_pictured("B-1", &urls[2..]).await;
    let began = std::time::Instant::now();
    let waiting = async { tokio::join!(slow.photo("A-1", "L1"), slow.photo("A-1", "L2")) };
    let beside = async {
        server.wait_for(2, Duration::from_secs(30)).await.unwrap();
        // The merchant's places are taken, for longer than anybody waits for one.
        assert_eq!(slow.photo("A-1", "L3").await, None);
        assert!(quick.photo("B-1", "L1").await.is_some(), "another merchant has places of its own");
    };
    let (given_up, ()) = tokio::join!(waiting, beside);
    assert_eq!(given_up, (None, None));
    assert!(began.elapsed() >= Duration::from_secs(2) && began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    assert_eq!(slow.knows(&urls).await, [Known::Missing, Known::Missing, Known::Unknown], "nothing is held against the third");
    assert_eq!(world.metric("backhaul_photos_total{result=\"busy\"}").await, 1);
    assert!(slow.photo("A-1", "L3").await.is_some());
}

#[tokio::test]
async fn a_merchants_photos_are_fetched_two_at_a_time() {
    let world = World::new().await;
    let (merchant, server) = (world.merchant("acme").await, Systems::start().await.unwrap());
    server.answer("/", photo_of_a_shoe().held());
    let urls: Vec<String> = (0..6).map(|number| server.url(&format!("/{number}"))).collect();
    merchant.sells_pictured("A-1", &urls.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let lines: Vec<String> = (1..=6).map(|number| format!("L{number}")).collect();
    let asking = futures::future::join_all(lines.iter().map(|line| merchant.photo("A-1", line)));
    let answering = async {
        for asked in [2, 4, 6] {
            server.wait_for(asked, Duration::from_secs(30)).await.unwrap();
            server.release();
        }
    };
    let (photos, ()) = tokio::join!(asking, answering);
    assert!(photos.iter().all(Option::is_some), "the others wait for their turn");
    assert_eq!(server.most_at_once(), 2);
}

#[tokio::test]
async fn a_photo_outlives_the_shoppers_data_and_is_forgotten_after_90_days() {
    let world = World::new().await;
    let server = Systems::start().await.unwrap();
    server.answer("/", photo_of_a_shoe());
    for handle in ["acme", "bolt"] {
        let merchant = world.merchant(handle).await;
        merchant.sells_pictured("A-1", &[&server.url("/shoe")]).await;
        assert!(merchant.photo("A-1", "L1").await.is_some());
        erase_shopper(&world.app, "test", merchant.id, &ErasureTarget::Order("A-1".to_owned())).await.unwrap();
        assert!(merchant.photo("A-1", "L1").await.is_some(), "goods are not personal");
    }
    for (hours, kept) in [(0, 2), (90 * 24 - 1, 2), (1, 0)] {
        world.time_passes(Duration::from_hours(hours));
        assert!(!forget_outdated(&world.app).await.unwrap(), "one batch was enough");
        assert_eq!(world.database.count("photo").await, kept, "after {hours} more hours");
    }
    assert_eq!(server.count(), 2);
}

#[tokio::test]
async fn a_shopper_sees_photos_from_our_own_origin_and_an_icon_where_there_is_none() {
    let world = World::new().await;
    let (merchant, server) = (world.merchant("acme").await, Systems::start().await.unwrap());
    server.answer("/shoe", photo_of_a_shoe());
    server.answer("/gone", Answer::status(404));
    merchant.sells_pictured("A-1", &[&server.url("/shoe"), &server.url("/gone"), &server.url("/shoe?size=full")]).await;
    let pat = world.shopper("acme");
    let sources = |page: &Page| {
        let sources = page.html.split("<img class=\"thumb").skip(1).filter_map(|rest| rest.split("src=\"").nth(1));
        sources.filter_map(|rest| rest.split('"').next().map(ToOwned::to_owned)).collect::<Vec<_>>()
    };
    let items = pat.finds("A-1", "pat@example.com").await;
    assert!(!items.html.contains(&server.address().to_string()), "the shopper's browser never calls the merchant's server");
    let [shoe, gone, large] = &sources(&items)[..] else { panic!("{}", items.html) };
    let photo = pat.opens(shoe).await;
    let header = |page: &Page, name: &str| page.headers[name].to_str().unwrap().to_owned();
    assert_eq!((photo.status.as_u16(), header(&photo, "content-type").as_str()), (200, "image/jpeg"));
    assert_eq!(header(&photo, "cache-control"), "private, max-age=86400");
    let again = pat.asks(reqwest::Method::GET, shoe, |request| request.header("If-None-Match", header(&photo, "etag"))).await;
    assert_eq!((again.status.as_u16(), again.html.len()), (304, 0));
    assert_ne!(shoe.split_once("?v=").unwrap().1, large.split_once("?v=").unwrap().1, "another URL is another photo");
    assert_eq!(pat.opens(gone).await.status, 404);
    assert_eq!(sources(&pat.opens("items").await), [shoe.clone(), large.clone()], "what could not be had is an icon from now on");
    assert_eq!(world.shopper("acme").opens(shoe).await.status, 401, "a photo belongs to a session");
}
