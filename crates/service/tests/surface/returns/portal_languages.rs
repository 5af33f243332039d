//! The language of the portal's pages: chosen in the menu, remembered, or taken from the browser.

use reqwest::Method;
use reqwest::header::{ACCEPT_LANGUAGE, SET_COOKIE};

use crate::world::World;
use crate::world::shopper::{Page, Shopper};

impl Shopper {
    /// Opens a page with a browser that prefers these languages.
    async fn opens_preferring(&self, languages: &str, path: &str) -> Page {
        self.asks(Method::GET, path, |request| request.header(ACCEPT_LANGUAGE, languages)).await
    }
}

fn is_in(page: &Page, language: &str, direction: &str) -> bool {
    page.html.contains(&format!(r#"<html lang="{language}" dir="{direction}">"#))
}

#[tokio::test]
async fn a_page_is_in_the_browsers_language_until_another_is_chosen() {
    let world = World::new().await;
    world.shop("acme").await.merchant.sells("A-1", 2).await;
    let pat = world.shopper("acme");
    let page = pat.opens_preferring("tlh, de-CH;q=0.9, en;q=0.8", "/r/acme").await;
    assert!(is_in(&page, "de", "ltr") && page.says("Etwas zurückgeben oder umtauschen"), "{}", page.reads());
    assert!(is_in(&pat.opens_preferring("tlh", "/r/acme").await, "en", "ltr"), "the default");
    assert!(page.html.contains(r#"<a href="?lang=fr" lang="fr" hreflang="fr">Français</a>"#), "{}", page.html);
    assert!(page.headers.get(SET_COOKIE).is_none(), "nothing was chosen");

    let page = pat.opens_preferring("de", "/r/acme?lang=fr").await;
    assert!(is_in(&page, "fr", "ltr"), "{}", page.html);
    assert!(page.html.contains(r#"<a href="?lang=fr" lang="fr" hreflang="fr" aria-current="true">Français<svg"#), "{}", page.html);
    assert_eq!(pat.cookie().as_deref(), Some("backhaul_language=fr"));
    assert!(page.headers[SET_COOKIE].to_str().unwrap().ends_with("; Max-Age=15552000"), "{:?}", page.headers[SET_COOKIE]);
    // The redirect after a form has no `lang`; the cookie has it.
    let items = pat.finds("A-1", "pat@example.com").await;
    assert_eq!(items.heading(), "Que souhaitez-vous retourner ?");
    assert!(items.says("54,00 $") && items.says("À retourner jusqu’au 21 mars"), "{}", items.reads());
    // Choosing another leaves the shopper where they are.
    let items = pat.opens("items?lang=es").await;
    assert_eq!(items.heading(), "¿Qué desea devolver?");
    assert!(is_in(&pat.opens("items").await, "es", "ltr"));
}

#[tokio::test]
async fn an_unknown_language_changes_nothing() {
    let world = World::new().await;
    world.shop("acme").await;
    let pat = world.shopper("acme");
    for path in ["/r/acme?lang=tlh", "/r/acme?lang=", "/r/acme?lang=%3Cb%3E&of=1"] {
        assert!(is_in(&pat.opens_preferring("es", path).await, "es", "ltr"), "{path}");
        assert_eq!(pat.cookie(), None, "{path}");
    }
    assert!(is_in(&pat.opens_preferring("es", "/r/acme?of=1&lang=DE-at").await, "de", "ltr"));
    assert_eq!(pat.cookie().as_deref(), Some("backhaul_language=de"));
    pat.has_cookie(Some("backhaul_language=tlh"));
    assert!(is_in(&pat.opens_preferring("es", "/r/acme").await, "es", "ltr"));
}

#[tokio::test]
async fn an_error_is_told_in_the_readers_language_and_a_choice_on_its_page_is_kept() {
    let world = World::new().await;
    world.shop("acme").await;
    let pat = world.shopper("acme");
    let over = pat.opens("items?lang=de").await;
    assert_eq!((over.status.as_u16(), over.heading().as_str()), (401, "Sie waren eine Weile weg"));
    assert_eq!(pat.cookie().as_deref(), Some("backhaul_language=de"));
    assert!(pat.finds("", "").await.says("Geben Sie Ihre Bestellnummer ein"));
    // Outside of every shop there is nothing to keep the choice for.
    for (languages, path) in [("fr", "/r/nobody"), ("fr", "/nowhere"), ("en", "/nowhere?lang=fr")] {
        let missing = world.shopper("nobody").opens_preferring(languages, path).await;
        assert_eq!((missing.status.as_u16(), missing.heading().as_str()), (404, "Nous ne trouvons pas cette page"), "{path}");
        assert!(missing.headers.get(SET_COOKIE).is_none());
    }
}

#[tokio::test]
async fn the_made_up_language_is_offered_where_the_settings_say_so() {
    let world = World::new().await;
    world.shop("acme").await;
    let page = world.shopper("acme").opens("/r/acme?lang=en-XB").await;
    assert!(is_in(&page, "en", "ltr") && !page.html.contains("en-XB"), "{}", page.html);

    let world = World::with(&[("BACKHAUL__PORTAL__PSEUDO_LANGUAGE", "true")]).await;
    world.shop("acme").await;
    let pat = world.shopper("acme");
    assert!(pat.opens("").await.html.contains(r#"<a href="?lang=en-XB" lang="en-XB" hreflang="en-XB">"#));
    let page = pat.opens("/r/acme?lang=en-XB").await;
    assert!(is_in(&page, "en-XB", "rtl") && page.says("Réétüürññ öör ééxchááññgéé"), "{}", page.reads());
    assert!(is_in(&pat.opens("").await, "en-XB", "rtl"));
}
