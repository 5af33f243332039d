//! Mails to shoppers in the merchant's brand.

use backhaul::flow::merchants::configure_brand::{BrandChange, LogoChange, TextChange, set_brand};
use domain::merchants::brand::Wording;
use image::{ImageFormat, Rgba, RgbaImage};
use sandbox::mailbox::Mailbox;

use super::mails;
use crate::world::World;

fn logo(grey: u8) -> LogoChange {
    let mut file = std::io::Cursor::new(Vec::new());
    RgbaImage::from_pixel(240, 90, Rgba([grey, grey, grey, 255])).write_to(&mut file, ImageFormat::Png).unwrap();
    LogoChange::File(file.into_inner())
}

fn brand() -> BrandChange {
    let hours = ("en", Wording::HelpHours, "Closed on Mondays.");
    let welcome = ("en", Wording::Welcome, "Welcome back to Acme.");
    let texts =
        [hours, welcome].map(|(language, text, wording)| TextChange { language: language.to_owned(), text, wording: wording.to_owned() });
    BrandChange {
        accent: Some("#FFD21F".to_owned()),
        logo: Some(logo(20)),
        dark_logo: Some(logo(240)),
        help_phone: Some("+353 1 555 0100".to_owned()),
        privacy_url: Some("https://acme.example/privacy".to_owned()),
        texts: texts.into(),
        ..BrandChange::default()
    }
}

/// Text and HTML of the confirmation of a return.
async fn confirmation(world: &World, mailbox: &Mailbox) -> (String, String) {
    let shop = world.shop("acme").await;
    set_brand(&world.app, "test", shop.merchant.id, brand()).await.unwrap();
    shop.merchant.sells("A-1", 1).await;
    shop.merchant.starts_a_return("A-1", 1).await;
    world.deliver_all_due().await;
    let mails = mailbox.received();
    (mails[0].text().unwrap().to_owned(), mails[0].html().unwrap().to_owned())
}

#[tokio::test]
async fn a_mail_shows_the_merchants_logo_colour_contact_and_links() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = mails::world(&mailbox).await;
    let (text, html) = confirmation(&world, &mailbox).await;
    assert!(html.contains("background:#ffd21f") && !html.contains("#2340c7"), "{html}");
    for said in ["+353 1 555 0100", "Closed on Mondays.", "Privacy"] {
        assert!(text.contains(said) && html.contains(said), "{said}: {text}");
    }
    assert!(text.contains("Privacy: https://acme.example/privacy"), "{text}");
    assert!(!text.contains("Welcome back"), "that is for the first page: {text}");
    let pictures: Vec<&str> =
        html.split(" src=\"https://returns.example.com").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(pictures.len(), 2, "for light and for dark: {html}");
    assert_eq!(html.matches("<img").count(), 2, "nothing else is loaded: {html}");
    for path in pictures {
        let picture = world.client.get(format!("{}{path}", world.portal)).send().await.unwrap();
        assert_eq!((picture.status().as_u16(), &picture.headers()["content-type"]), (200, &"image/png".parse().unwrap()), "{path}");
    }
    assert!(html.contains(r#"width="80" height="30""#), "mail programs need the size: {html}");
}

#[tokio::test]
async fn without_an_address_of_the_portal_a_mail_has_the_merchants_name_and_colour() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = World::with(&[
        ("BACKHAUL__MAIL__URL", &format!("{}?tls=none", mailbox.url())),
        ("BACKHAUL__MAIL__FROM", "returns@shop.example.com"),
    ])
    .await;
    let (_, html) = confirmation(&world, &mailbox).await;
    assert!(!html.contains("<img") && html.contains(">A merchant</p>") && html.contains("a{color:#"), "{html}");
    assert!(!html.contains("a{color:#2340c7") && !html.contains("a{color:#ffd21f"), "a shade that can be read: {html}");
}
