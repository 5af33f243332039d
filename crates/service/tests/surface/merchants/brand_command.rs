//! `backhaul brand`, as an operator runs it.

use std::path::PathBuf;
use std::process::Output;

use image::{ImageFormat, Rgb, RgbImage};
use serde_json::{Value, json};

use crate::binary::{backhaul, err, out};
use crate::world::World;

fn brand(world: &World, verb: &str, merchant: &str, words: &[&str]) -> Output {
    backhaul(&world.database, &[&["brand", verb, "--merchant", merchant], words].concat())
}

fn json_of(output: &Output) -> Value {
    serde_json::from_str(&out(output)).unwrap()
}

/// A file that is removed at the end of the test.
struct File(PathBuf);

impl File {
    fn new(world: &World, name: &str, content: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("{}-{name}", world.database.name()));
        std::fs::write(&path, content).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).unwrap();
    }
}

fn jpeg() -> Vec<u8> {
    let mut file = std::io::Cursor::new(Vec::new());
    RgbImage::from_pixel(300, 60, Rgb([20, 30, 220])).write_to(&mut file, ImageFormat::Jpeg).unwrap();
    file.into_inner()
}

#[tokio::test]
async fn a_brand_is_set_shown_removed_and_audited() {
    let world = World::new().await;
    world.merchant("acme").await;
    let defaults = json!({
        "merchant": "acme", "accent": null, "radius": null, "pill_buttons": false, "style_sheet": null, "logo": null, "dark_logo": null,
        "help_phone": null, "shop_url": null, "privacy_url": null, "terms_url": null,
    });
    assert_eq!(json_of(&brand(&world, "show", "acme", &["-o", "json"])), defaults);
    let logo = File::new(&world, "logo.jpg", &jpeg());
    let words = [
        "--accent",
        "#FFD21F",
        "--radius",
        "8",
        "--pill-buttons",
        "true",
        "--logo",
        logo.path(),
        "--help-phone",
        "+353 1 555 0100",
        "--terms-url",
        "https://shop.example.com/terms",
        "--text",
        "en.welcome=Not quite right? a=b",
        "-o",
        "json",
    ];
    let set = json_of(&brand(&world, "set", "acme", &words));
    let (sheet, picture) = (set["style_sheet"].as_str().unwrap(), set["logo"].as_str().unwrap());
    assert!(sheet.starts_with("brand/") && sheet.contains(".css") && picture.starts_with("brand/") && picture.contains(".png"), "{set}");
    let mut expected = json!({
        "merchant": "acme", "accent": "#ffd21f", "radius": 8, "pill_buttons": true, "style_sheet": sheet, "logo": picture,
        "dark_logo": null, "help_phone": "+353 1 555 0100", "shop_url": null, "privacy_url": null,
        "terms_url": "https://shop.example.com/terms", "en.welcome": "Not quite right? a=b",
    });
    assert_eq!(set, expected);
    let table = out(&brand(&world, "show", "acme", &[]));
    assert!(table.contains("en.welcome    Not quite right? a=b\n") && table.contains("dark_logo     -\n"), "{table}");

    // What is left out stays; what is empty has its default again.
    let set = json_of(&brand(&world, "set", "acme", &["--logo", "", "--help-phone", "", "--text", "en.welcome=", "-o", "json"]));
    (expected["logo"], expected["help_phone"]) = (Value::Null, Value::Null);
    expected.as_object_mut().unwrap().remove("en.welcome");
    assert_eq!(set, expected);
    assert!(out(&brand(&world, "remove", "acme", &[])).contains("The portal of acme has its own look again."));
    assert_eq!(json_of(&brand(&world, "show", "acme", &["-o", "json"])), defaults);
    assert!(err(&brand(&world, "remove", "acme", &[])).contains("the merchant has no brand; there is nothing to remove"));
    let hash = picture.trim_start_matches("brand/").trim_end_matches(".png");
    let audit = "select actor || ' ' || action || ' ' || detail from audit where action like 'brand.%' order by audit_id";
    assert_eq!(
        world.database.texts(audit).await,
        [
            format!(
                "cli:tester brand.changed accent: #FFD21F; radius: 8; pill_buttons: true; logo: {hash}; help_phone: +353 1 555 0100; \
                 terms_url: https://shop.example.com/terms; en.welcome: Not quite right? a=b"
            ),
            "cli:tester brand.changed no logo; no help_phone; no en.welcome".to_owned(),
            "cli:tester brand.removed ".to_owned(),
        ]
    );
}

#[tokio::test]
async fn a_brand_that_is_set_wrongly_stays_as_it_is() {
    let world = World::new().await;
    world.merchant("acme").await;
    let before = out(&brand(&world, "show", "acme", &[]));
    let long = format!("en.welcome={}", "x".repeat(201));
    let svg = File::new(&world, "logo.svg", b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>");
    let empty = File::new(&world, "empty.png", b"");
    let large = File::new(&world, "large.png", &vec![0; 1024 * 1024 + 1]);
    let dark = File::new(&world, "dark.jpg", &jpeg());
    for (words, why) in [
        (&[][..], "no change was given; `backhaul brand set --help` lists the options"),
        (&["--accent", "blue"], "`blue` is no colour: write a colour as # and six hexadecimal digits, such as #2340c7"),
        (&["--radius", "21"], "write a number of pixels from 0 to 20"),
        (&["--radius", ""], "write a number of pixels from 0 to 20"),
        (&["--accent", "#ff0000", "--logo", svg.path()], "save it as PNG, JPEG or WebP with at most 18 megapixels"),
        (&["--logo", empty.path()], "the logo cannot be read"),
        (&["--logo", large.path()], "the logo has more than 1024 KiB; save it smaller, 480 by 90 pixels are enough"),
        (&["--logo", "/nowhere/logo.png"], "cannot read the logo /nowhere/logo.png"),
        (&["--dark-logo", dark.path()], "a logo for dark pages needs one for light pages"),
        (&["--help-phone", "call us"], "`call us` is not a phone number, such as +353 1 555 0100"),
        (&["--shop-url", "http://shop.example.com"], "is not an address that can be linked to, such as https://"),
        (&["--terms-url", "javascript:alert(1)"], "is not an address that can be linked to"),
        (&["--text", "welcome=Hello"], "write a text as LANGUAGE.TEXT=WORDING"),
        (&["--text", "en.slogan=Hello"], "the texts are welcome, promise, help-hours"),
        (&["--text", "tlh.welcome=nuqneH"], "the portal does not speak `tlh`; it speaks en"),
        (&["--text", &long], "the text en.welcome must have at most 200 characters, and no control characters"),
        (&["--text", "en.promise=\u{7}"], "the text en.promise must have at most 200 characters, and no control characters"),
    ] {
        let refused = err(&brand(&world, "set", "acme", words));
        assert!(refused.contains(why), "{words:?}: {refused}");
    }
    assert_eq!(out(&brand(&world, "show", "acme", &[])), before);
    assert_eq!((world.database.count("brand").await, world.database.count("brand_text").await), (0, 0));
    assert!(err(&brand(&world, "show", "nobody", &[])).contains("there is no merchant `nobody`"));
}
