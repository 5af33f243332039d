//! A merchant's brand in the portal: look, logos, contact, links and texts.

use std::time::Duration;

use backhaul::flow::merchants::configure_brand::{BrandChange, ConfigureBrandError, LogoChange, TextChange, remove_brand, set_brand};
use backhaul::flow::merchants::configure_portal::{PortalChange, set_portal};
use domain::id::MerchantId;
use domain::merchants::brand::{Radius, Wording};
use image::{ImageFormat, Rgba, RgbaImage};
use reqwest::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};

use crate::world::World;
use crate::world::shopper::Page;

/// A word in a file that nobody may see.
const HIDDEN: &[u8] = b"hidden7f3a";

impl World {
    /// Changes the brand, and waits until every node has learnt of it.
    async fn brands(&self, merchant: MerchantId, change: BrandChange) {
        set_brand(&self.app, "test", merchant, change).await.unwrap();
        self.time_passes(Duration::from_secs(4));
    }

    /// A file of the portal: status, type, how long it is kept, content.
    async fn file(&self, path: &str) -> (u16, String, String, Vec<u8>) {
        let answer = self.client.get(format!("{}{path}", self.portal)).send().await.unwrap();
        let header = |name| answer.headers().get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
        let (status, media_type, kept) = (answer.status().as_u16(), header(CONTENT_TYPE), header(CACHE_CONTROL));
        (status, media_type, kept, answer.bytes().await.unwrap().to_vec())
    }
}

impl Page {
    /// The values of an attribute, from the tags that begin like this.
    fn values(&self, start: &str) -> Vec<String> {
        self.html.split(start).skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
    }

    fn style_sheets(&self) -> Vec<String> {
        self.values(r#"<link rel="stylesheet" href=""#)
    }
}

fn look(accent: &str) -> BrandChange {
    BrandChange { accent: Some(accent.to_owned()), ..BrandChange::default() }
}

/// A logo as PNG, transparent at the left, with a word behind the picture.
fn logo(width: u32, height: u32, colour: Rgba<u8>) -> LogoChange {
    let picture = RgbaImage::from_fn(width, height, |x, _| if x < width / 2 { Rgba([255, 0, 0, 0]) } else { colour });
    let mut file = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut file, ImageFormat::Png).unwrap();
    LogoChange::File([file.into_inner().as_slice(), HIDDEN].concat())
}

fn wording(text: Wording, wording: &str) -> TextChange {
    TextChange { language: "en".to_owned(), text, wording: wording.to_owned() }
}

#[tokio::test]
async fn a_brand_has_a_style_sheet_of_its_own_that_browsers_keep() {
    let world = World::new().await;
    let (acme, bolt) = (world.merchant("acme").await.id, world.merchant("bolt").await.id);
    let pat = world.shopper("acme");
    let plain = pat.opens("").await;
    assert_eq!(plain.style_sheets().len(), 1, "the portal's own look");

    world.brands(acme, BrandChange { radius: Radius::new(20), pill_buttons: Some(true), ..look("#FFD21F") }).await;
    let page = pat.opens("").await;
    let [own, brand] = &page.style_sheets()[..] else { panic!("{}", page.html) };
    assert_eq!(own, &plain.style_sheets()[0], "it comes first, so that the brand can change it");
    assert!(brand.starts_with("/r/acme/brand/") && brand.contains(".css") && brand.len() == "/r/acme/brand/.css".len() + 12, "{brand}");
    assert!(!page.html.contains("<style") && !page.html.contains("style=\""), "the policy allows nothing inline");
    assert_eq!(page.headers[CONTENT_SECURITY_POLICY], plain.headers[CONTENT_SECURITY_POLICY]);
    let (status, media_type, kept, css) = world.file(brand).await;
    assert_eq!((status, &*media_type, &*kept), (200, "text/css; charset=utf-8", "public, max-age=31536000, immutable"));
    let css = String::from_utf8(css).unwrap();
    assert!(css.starts_with(":root{--accent:#ffd21f;") && css.contains("--radius:20px;--radius-btn:99px}"), "{css}");
    assert!(css.contains("@media (prefers-color-scheme:dark)"), "{css}");

    // The name is the hash of this merchant's present brand, and nothing else is there.
    let file = brand.rsplit('/').next().unwrap();
    for wrong in
        ["/r/acme/brand/000000000000.css", "/r/acme/brand/", "/r/acme/brand/x", "/r/acme/brand/%00.png", &format!("/r/bolt/brand/{file}")]
    {
        assert_eq!(world.file(wrong).await.0, 404, "{wrong}");
    }
    world.brands(acme, look("#111111")).await;
    let [_, changed] = &pat.opens("").await.style_sheets()[..] else { panic!("the brand is gone") };
    assert_ne!(changed, brand, "browsers that keep the old one see the new one");
    assert_eq!((world.file(changed).await.0, world.file(brand).await.0), (200, 404));
    world.brands(bolt, look("#111111")).await;
    let (_, _, _, of_bolt) = world.file(&world.shopper("bolt").opens("").await.style_sheets()[1]).await;
    assert!(String::from_utf8(of_bolt).unwrap().contains("--radius:12px"), "each merchant's on its own");

    remove_brand(&world.app, "test", acme).await.unwrap();
    world.time_passes(Duration::from_secs(4));
    assert_eq!(pat.opens("").await.style_sheets(), plain.style_sheets());
    assert!(matches!(remove_brand(&world.app, "test", acme).await, Err(ConfigureBrandError::NoBrand)));
}

#[tokio::test]
async fn a_node_that_has_not_learnt_of_a_brand_yet_serves_its_files() {
    let world = World::new().await;
    let acme = world.merchant("acme").await.id;
    let late = world.second_node().await;
    assert_eq!(late.shopper("acme").opens("").await.style_sheets().len(), 1);
    set_brand(&world.app, "test", acme, BrandChange { logo: Some(logo(20, 10, Rgba([0, 0, 0, 255]))), ..look("#117733") }).await.unwrap();
    let page = world.shopper("acme").opens("").await;
    assert_eq!(late.file(&page.style_sheets()[1]).await.0, 200);
    assert_eq!(late.file(&page.values(r#"<img class="plate" src=""#)[0]).await.0, 200);
    assert_eq!(late.shopper("acme").opens("").await.style_sheets().len(), 1, "its own pages follow a moment later");
}

#[tokio::test]
async fn a_logo_is_made_small_and_shown_instead_of_the_name() {
    let world = World::new().await;
    let acme = world.merchant("acme").await.id;
    let pat = world.shopper("acme");
    assert!(pat.opens("").await.html.contains("<span><bdi>A merchant</bdi></span>"));
    world.brands(acme, BrandChange { logo: Some(logo(2_000, 500, Rgba([0, 0, 90, 255]))), ..BrandChange::default() }).await;
    let page = pat.opens("").await;
    assert_eq!(page.style_sheets().len(), 1, "a logo changes no colours");
    assert!(page.html.contains(r#"aria-label="A merchant returns, start""#) && !page.html.contains("<span><bdi>A merchant</bdi></span>"));
    let [plated] = &page.values(r#"<img class="plate" src=""#)[..] else { panic!("{}", page.html) };
    let (status, media_type, kept, png) = world.file(plated).await;
    assert_eq!((status, &*media_type, &*kept), (200, "image/png", "public, max-age=31536000, immutable"));
    assert!(!png.windows(HIDDEN.len()).any(|window| window == HIDDEN), "nothing is left but the pixels");
    let copy = image::load_from_memory_with_format(&png, ImageFormat::Png).unwrap().into_rgba8();
    assert_eq!(copy.dimensions(), (360, 90));
    assert_eq!((copy.get_pixel(10, 45).0[3], copy.get_pixel(300, 45)), (0, &Rgba([0, 0, 90, 255])), "transparency stays");
    assert!(copy.pixels().all(|Rgba([red, _, _, alpha])| *alpha == 0 || *red < 16), "the colour of transparent pixels does not show");

    world.brands(acme, BrandChange { dark_logo: Some(logo(200, 50, Rgba([255; 4]))), ..BrandChange::default() }).await;
    let page = pat.opens("").await;
    assert!(!page.html.contains("plate"), "a logo for dark needs no plate");
    let [dark] = &page.values(r#"<picture><source srcset=""#)[..] else { panic!("{}", page.html) };
    let (_, _, _, png) = world.file(dark).await;
    assert_eq!(image::load_from_memory(&png).unwrap().into_rgba8().dimensions(), (200, 50), "a small one keeps its size");
    assert_eq!(page.values(r#"media="(prefers-color-scheme: dark)"><img src=""#), std::slice::from_ref(plated), "the first one stays");

    let alone = set_brand(&world.app, "test", acme, BrandChange { logo: Some(LogoChange::Removed), ..BrandChange::default() }).await;
    assert!(matches!(alone, Err(ConfigureBrandError::DarkLogoAlone)), "{alone:?}");
    let none = BrandChange { logo: Some(LogoChange::Removed), dark_logo: Some(LogoChange::Removed), ..BrandChange::default() };
    world.brands(acme, none).await;
    assert!(pat.opens("").await.html.contains("<span><bdi>A merchant</bdi></span>"));
    assert_eq!(world.file(plated).await.0, 404);
}

#[tokio::test]
async fn a_file_that_is_no_logo_changes_nothing() {
    let world = World::new().await;
    let acme = world.merchant("acme").await.id;
    let set = async |file: &[u8]| {
        let change = BrandChange { logo: Some(LogoChange::File(file.to_vec())), ..look("#ff0000") };
        set_brand(&world.app, "test", acme, change).await.unwrap_err()
    };
    let svg = br#"<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>"#;
    for file in [svg.as_slice(), b"GIF89a\x01\0\x01\0\x80\0\0", b"", b"\x89PNG\r\n\x1a\n", b"<!doctype html>"] {
        let refused = set(file).await;
        assert!(matches!(refused, ConfigureBrandError::Logo(_)), "{refused:?}");
    }
    assert!(matches!(set(&vec![0; 1024 * 1024 + 1]).await, ConfigureBrandError::LogoTooLarge));
    assert_eq!((world.database.count("brand").await, world.database.count("brand_text").await), (0, 0));
}

#[tokio::test]
async fn contact_links_and_texts_are_shown_as_they_are_written() {
    let world = World::new().await;
    let acme = world.merchant("acme").await.id;
    let pat = world.shopper("acme");
    assert!(!pat.opens("").await.says("Need a hand?"), "nobody to turn to");
    let change = BrandChange {
        help_phone: Some("+353 (0)1 555 0100".to_owned()),
        shop_url: Some("https://shop.example.com/?a=1&b=2".to_owned()),
        privacy_url: Some("https://shop.example.com/privacy".to_owned()),
        texts: vec![
            wording(Wording::Welcome, "Not <b>quite</b> right?"),
            wording(Wording::Promise, "We answer within a day."),
            wording(Wording::HelpHours, "Monday to Friday"),
        ],
        ..BrandChange::default()
    };
    world.brands(acme, change).await;
    let page = pat.opens("").await;
    assert_eq!(page.style_sheets().len(), 1);
    assert!(page.says("Need a hand? Call +353 (0)1 555 0100 . Monday to Friday"), "{}", page.reads());
    assert_eq!(page.values(r#"href="tel:"#), ["+35315550100"]);
    assert!(page.says("Start a return Back to A merchant Privacy We set one cookie"), "{}", page.reads());
    assert!(page.html.contains(r#"href="https://shop.example.com/privacy""#) && !page.html.contains("<b>quite"), "{}", page.html);
    assert!(!page.says("First, let’s find your order") && page.says("Returns at A merchant We answer within a day."), "{}", page.reads());

    // What is left out stays, and what is emptied is the portal's own again.
    let change = BrandChange {
        shop_url: Some(String::new()),
        texts: vec![wording(Wording::Welcome, ""), wording(Wording::Promise, "We answer within an hour.")],
        ..BrandChange::default()
    };
    world.brands(acme, change).await;
    let page = pat.opens("").await;
    assert!(page.says("First, let’s find your order") && page.says("We answer within an hour."), "{}", page.reads());
    assert!(page.says("Call +353") && page.says("Monday to Friday") && !page.says("Back to A merchant"), "{}", page.reads());
    // A page that is not there is in the brand too.
    assert!(pat.opens("nowhere").await.says("Call +353"));
}

#[tokio::test]
async fn on_a_merchants_own_host_its_files_are_there_too() {
    let world = World::new().await;
    let acme = world.merchant("acme").await.id;
    let host = "returns.acme.example";
    let change = PortalChange { hosts: [host.parse().unwrap()].into(), ..PortalChange::default() };
    set_portal(&world.app, "test", acme, change).await.unwrap();
    world.brands(acme, look("#117733")).await;
    let ask = async |path: &str| {
        let answer = world.client.get(format!("{}{path}", world.portal)).header("Host", host).send().await.unwrap();
        Page { status: answer.status(), headers: answer.headers().clone(), html: answer.text().await.unwrap() }
    };
    let [_, brand] = &ask("/").await.style_sheets()[..] else { panic!("no brand") };
    assert!(brand.starts_with("/brand/"), "{brand}");
    let sheet = ask(brand).await;
    assert_eq!(sheet.status, 200);
    assert!(sheet.html.contains("--accent:#117733"), "{}", sheet.html);
}
