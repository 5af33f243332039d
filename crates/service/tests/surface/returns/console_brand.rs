//! The brand of a merchant's portal in the operator's console, and samples of the mails to shoppers.

use domain::merchants::operator::Role;
use domain::returns::mail::Mail;
use image::{ImageFormat, Rgba, RgbaImage};
use sandbox::mailbox::Mailbox;

use super::mails;
use crate::world::World;
use crate::world::console::{Shown, between};

const AT: &str = "/merchants/acme/brand";

/// The form with these values; all others are empty.
fn form<'f>(typed: &[(&'f str, &'f str)]) -> Vec<(&'f str, &'f str)> {
    let empty = ["accent", "radius", "help_phone", "shop_url", "privacy_url", "terms_url"].map(|name| (name, ""));
    let kept = empty.into_iter().filter(|(name, _)| typed.iter().all(|(other, _)| other != name));
    kept.chain(typed.iter().copied()).collect()
}

/// The address of the frame of a page.
fn framed(page: &str) -> String {
    between(page, "<iframe ", "</iframe>").split(r#"src=""#).nth(1).unwrap().split('"').next().unwrap().replace("&#38;", "&")
}

fn header<'s>(shown: &'s Shown, name: &str) -> &'s str {
    shown.headers[name].to_str().unwrap()
}

#[tokio::test]
async fn a_brand_is_seen_in_the_portal_before_it_is_saved() {
    let world = World::new().await;
    world.shop("acme").await;
    let console = world.console(Role::Manager).await;
    let own = console.get(AT).await;
    assert!(header(&own, "content-security-policy").contains("frame-src 'self'"), "{own:?}");

    let typed =
        form(&[("accent", "#ffd21f"), ("radius", "3"), ("text-de-welcome", "Passt <b>nicht</b>?"), ("language", "de"), ("preview", "yes")]);
    let page = console.post(AT, &typed).await.page();
    assert!(page.contains(r#"value="Passt &#60;b&#62;nicht&#60;/b&#62;?""#), "what was typed stays: {page}");
    let portal = console.get(&framed(&page)).await;
    assert_eq!((header(&portal, "x-frame-options"), portal.status), ("SAMEORIGIN", 200), "{}", portal.text);
    assert!(header(&portal, "content-security-policy").contains("frame-ancestors 'self'"), "{portal:?}");
    let portal = portal.page();
    assert!(portal.contains(r#"<html lang="de""#) && portal.contains("Passt &#60;b&#62;nicht&#60;/b&#62;?"), "{portal}");
    let style = portal.split(r#"<link rel="stylesheet" href=""#).nth(2).unwrap().split('"').next().unwrap().replace("&#38;", "&");
    let css = console.get(&style).await;
    assert!(header(&css, "content-type").starts_with("text/css") && css.text.contains("#ffd21f"), "{css:?}");
    assert_eq!(world.database.texts("select accent from brand").await, Vec::<String>::new(), "a preview writes nothing");

    let preview = console.post(AT, &form(&[("accent", "#FFD21F"), ("help_phone", "+353 1 555 0100")])).await.page();
    assert!(preview.contains(r#"<ins class="ins">+353 1 555 0100</ins>"#) && !preview.contains("Terms"), "{preview}");
    assert!(
        preview.contains("backhaul brand set --merchant acme --accent &#39;#FFD21F&#39; --help-phone &#39;+353 1 555 0100&#39;"),
        "{preview}"
    );
    let saved = console.confirms(AT, &form(&[("accent", "#FFD21F"), ("help_phone", "+353 1 555 0100")])).await;
    assert_eq!((saved.status, saved.location.as_str()), (303, AT), "{}", saved.text);
    assert_eq!(world.database.texts("select accent || ' ' || help_phone from brand").await, ["#ffd21f +353 1 555 0100"]);
    let audit = world.database.texts("select actor || ' ' || detail from audit where action = 'brand.changed'").await;
    assert_eq!(audit, [format!("operator:{} accent: #FFD21F; help_phone: +353 1 555 0100", console.email)]);
    let viewer = world.console(Role::Viewer).await;
    let page = viewer.get(AT).await.page();
    assert!(page.contains("#ffd21f") && !page.contains("Change the brand"), "{page}");
}

#[tokio::test]
async fn a_brand_that_is_wrong_is_told_and_not_saved() {
    let world = World::new().await;
    world.shop("acme").await;
    let console = world.console(Role::Manager).await;
    for (typed, told) in [
        (("accent", "yellow"), "is no colour"),
        (("radius", "21"), "The radius of corners must be 0 to 20 pixels."),
        (("shop_url", "http://shop.example.com"), "is not an address that can be linked to"),
        (("help_phone", "call us"), "is not a phone number"),
        (("accent", ""), "Nothing differs from the brand as it is."),
    ] {
        let wrong = console.post(AT, &form(&[typed])).await;
        assert!(wrong.status == 422 && wrong.text.contains(told), "{told} in {}", wrong.text);
    }
    assert_eq!(console.get("/merchants/acme/brand/preview?accent=yellow").await.status, 422);
    assert_eq!(console.get("/merchants/acme/brand/preview/brand/style.css?accent=yellow&radius=3&pill_buttons=false").await.status, 404);
    assert_eq!(console.get("/merchants/acme/brand/preview/brand/nothing.png").await.status, 404);
}

#[tokio::test]
async fn a_logo_is_shown_and_removed_and_so_is_the_brand() {
    let world = World::new().await;
    world.shop("acme").await;
    let mut file = std::io::Cursor::new(Vec::new());
    RgbaImage::from_pixel(240, 90, Rgba([20, 20, 20, 255])).write_to(&mut file, ImageFormat::Png).unwrap();
    let (console, at) = (world.console(Role::Manager).await, "/merchants/acme/brand/logo");
    let file = file.into_inner();
    for (name, file, told) in [
        ("dark_logo", file.as_slice(), "needs one for light pages, too"),
        ("logo", b"no picture", "cannot be read"),
        ("logo", &vec![0; 1_100_000], "has more than 1040 KiB"),
        ("logo", b"", "No file was chosen"),
    ] {
        let refused = console.sends_file(at, name, file).await;
        assert!(refused.status == 422 && refused.text.contains(told), "{told}: {} {}", refused.status, refused.text);
    }
    assert_eq!(console.sends_file(at, "logo", &file).await.location, AT);
    let audit = "select actor || ' ' || action from audit where action = 'brand.changed'";
    assert_eq!(world.database.texts(audit).await, [format!("operator:{} brand.changed", console.email)]);
    let page = console.get(AT).await.page();
    let portal = console.get(&framed(&page)).await.page();
    let logo = between(&portal, r#"<img class="plate" src=""#, "\"");
    let logo = console.get(logo).await;
    assert_eq!((logo.status, header(&logo, "content-type")), (200, "image/png"));
    let typed = form(&[("remove_logo", "yes"), ("preview", "yes")]);
    let portal = console.get(&framed(&console.post(AT, &typed).await.page())).await.page();
    assert!(!portal.contains("<img"), "{portal}");
    console.confirms(AT, &form(&[("remove_logo", "yes")])).await;
    assert_eq!(world.database.texts("select (logo is null)::text from brand").await, ["true"]);

    assert!(console.get("/merchants/acme/brand/remove").await.page().contains("backhaul brand remove --merchant acme"));
    assert_eq!(console.post("/merchants/acme/brand/remove", &form(&[])).await.status, 303);
    assert_eq!(world.database.texts("select accent from brand").await.len(), 0);
    assert_eq!(console.post("/merchants/acme/brand/remove", &form(&[])).await.status, 422, "once");
}

#[tokio::test]
async fn every_mail_has_a_sample_in_every_language() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = mails::world(&mailbox).await;
    world.shop("acme").await;
    let console = world.console(Role::Support).await;
    for mail in Mail::ALL {
        let name = mail.short();
        for language in ["en", "de", "es", "fr"] {
            let page = console.get(&format!("/merchants/acme/mails?mail={name}&language={language}")).await.page();
            let sample = console.get(&framed(&page)).await;
            assert!(header(&sample, "content-security-policy").starts_with("default-src 'none'"), "{name}");
            let html = sample.page();
            assert!(html.contains(&format!(r#"lang="{language}""#)), "{name} {language}: {html}");
            assert!(!html.contains("{$") && !page.contains("{$"), "{name} {language}");
        }
    }
    assert_eq!(console.get("/merchants/acme/mails?mail=nothing").await.status, 404);
    assert_eq!(console.get("/merchants/acme/mails?language=xx").await.status, 404);
}

#[tokio::test]
async fn a_sample_is_sent_to_the_operator_and_to_nobody_else() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = mails::world(&mailbox).await;
    world.shop("acme").await;
    let console = world.console(Role::Support).await;
    let sent = console.post("/merchants/acme/mails/refunded/de", &form(&[("to", "pat@example.com")])).await.page();
    assert!(sent.contains(&format!("The mail is on its way to {}.", console.email)), "{sent}");
    world.deliver_all_due().await;
    let received = mailbox.received();
    assert_eq!(received.len(), 1);
    assert!(received[0].header("to").unwrap().contains(&console.email) && received[0].html().unwrap().contains(r#"lang="de""#));
    let audit = world.database.texts("select actor || ' ' || detail from audit where action = 'mail.sample_sent'").await;
    assert_eq!(audit, [format!("operator:{} refunded, de", console.email)]);
}

#[tokio::test]
async fn without_a_mail_server_a_sample_is_only_shown() {
    let world = World::new().await;
    world.merchant("acme").await;
    let console = world.console(Role::Support).await;
    let page = console.get("/merchants/acme/mails").await.page();
    assert!(page.contains("this installation has no mail server"), "{page}");
    let refused = console.post("/merchants/acme/mails/refunded/de", &form(&[])).await;
    assert!(refused.status == 422 && refused.text.contains("There is no mail server; set mail.url and mail.from."), "{}", refused.text);
}
