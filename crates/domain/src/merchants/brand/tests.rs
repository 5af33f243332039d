use proptest::prelude::*;

use super::*;

/// The portal's own style sheet: a brand's colours are derived for its backgrounds.
const PORTAL: &str = include_str!("../../../../service/assets/portal.css");

fn colour(text: &str) -> Colour {
    text.parse().expect("a colour")
}

/// Secondary text in light and dark.
const INK_2: [Colour; 2] = [Colour::new(0x55, 0x59, 0x62), Colour::new(0xb1, 0xb4, 0xbb)];

fn brand(accent: Colour) -> Brand {
    Brand { accent, radius: Radius(12), pill_buttons: false }
}

/// The values of a variable in the portal's style sheet, for light and dark.
fn variable(name: &str) -> [Colour; 2] {
    let start = format!("{name}: ");
    let found: Vec<Colour> = PORTAL
        .match_indices(&start)
        .map(|(at, _)| PORTAL[at + start.len()..].split(';').next().expect("a value"))
        .map(|value| if value == "#fff" { WHITE } else { colour(value) })
        .collect();
    found.try_into().expect("one value for light and one for dark")
}

/// The pairs of the palettes that lack contrast: foreground, background, the contrast they need.
fn unreadable(brand: Brand) -> Vec<String> {
    let mut found = Vec::new();
    for (palette, ground, ink_2) in [(brand.light(), LIGHT, INK_2[0]), (brand.dark(), DARK, INK_2[1])] {
        let Palette { accent, accent_hover, on_accent, accent_edge, accent_text, accent_soft } = palette;
        let [outline, outline_hover] = [accent, accent_hover].map(|fill| accent_edge.unwrap_or(fill));
        let pairs = [
            ("text on the accent", on_accent, accent, TEXT),
            ("text on the accent under the pointer", on_accent, accent_hover, TEXT),
            ("accent on the page", accent_text, ground.page, TEXT),
            ("accent on a card", accent_text, ground.surface, TEXT),
            ("accent on a selected choice", accent_text, accent_soft, TEXT),
            ("secondary text on a selected choice", ink_2, accent_soft, TEXT),
            ("a button on the page", outline, ground.page, EDGE),
            ("a button on a card", outline, ground.surface, EDGE),
            ("a button under the pointer on the page", outline_hover, ground.page, EDGE),
            ("a button under the pointer on a card", outline_hover, ground.surface, EDGE),
        ];
        found.extend(pairs.into_iter().filter(|(_, fore, back, least)| fore.contrast(*back) < *least).map(|pair| format!("{pair:?}")));
    }
    found
}

#[test]
fn the_grounds_are_those_of_the_portals_style_sheet() {
    assert_eq!(variable("--page"), [LIGHT.page, DARK.page]);
    assert_eq!(variable("--surface"), [LIGHT.surface, DARK.surface]);
    assert_eq!((variable("--ink")[0], variable("--ink-2")), (INK, INK_2));
}

#[test]
fn even_the_extremes_can_be_read() {
    for extreme in ["#000000", "#ffffff", "#ffff00", "#00ffff", "#0000ff", "#ff0000", "#00ff00", "#ff00ff", "#777777", "#121316", "#f6f6f3"]
    {
        assert_eq!(unreadable(brand(colour(extreme))), Vec::<String>::new(), "{extreme}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn whatever_the_colour_everything_can_be_read(red: u8, green: u8, blue: u8) {
        let brand = brand(Colour::new(red, green, blue));
        prop_assert_eq!(unreadable(brand), Vec::<String>::new());
        prop_assert_eq!(brand.light().accent, brand.accent);
        prop_assert_eq!(brand.dark().accent_edge, None);
    }

    #[test]
    fn a_colour_moves_no_further_than_it_must(red: u8, green: u8, blue: u8) {
        let accent = Colour::new(red, green, blue);
        let text = brand(accent).light().accent_text;
        let least = [LIGHT.page, LIGHT.surface, accent.over(WHITE, SOFT)].into_iter().map(|ground| text.contrast(ground)).fold(21.0, f64::min);
        prop_assert!(text == accent || least < 4.7, "{accent} became {text}, {least}");
    }
}

#[test]
fn a_dark_blue_stays_as_it_is_in_light_and_is_lightened_in_dark() {
    let brand = brand(colour("#2340c7"));
    let light = brand.light();
    assert_eq!((light.accent, light.accent_text, light.accent_edge), (brand.accent, brand.accent, None));
    assert_eq!((light.on_accent, light.accent_soft), (WHITE, colour("#edf0fb")));
    let dark = brand.dark();
    assert!(dark.accent.contrast(DARK.surface) >= TEXT && brand.accent.contrast(DARK.surface) < TEXT);
    assert_eq!((dark.on_accent, dark.accent_edge), (INK, None));
}

#[test]
fn a_yellow_gets_a_dark_text_and_an_outline() {
    let light = brand(colour("#ffd21f")).light();
    assert_eq!((light.accent, light.on_accent, light.accent_edge), (colour("#ffd21f"), INK, Some(light.accent_text)));
    let dark = brand(colour("#ffd21f")).dark();
    assert_eq!((dark.accent, dark.accent_text), (colour("#ffd21f"), colour("#ffd21f")));
}

#[test]
fn black_text_is_for_the_colours_on_which_neither_white_nor_ink_is_enough() {
    let grey = colour("#7a7a7a");
    assert!(WHITE.contrast(grey) < TEXT && INK.contrast(grey) < TEXT);
    assert_eq!(brand(grey).light().on_accent, BLACK);
    assert_eq!([colour("#767676"), colour("#8a8a8a")].map(on), [WHITE, INK]);
}

#[test]
fn a_button_under_the_pointer_is_darker_or_lighter_where_its_text_would_suffer() {
    let hover = |accent: &str| brand(colour(accent)).light().accent_hover.to_string();
    assert_eq!([hover("#2340c7"), hover("#ffd21f")], ["#203ab3", "#e6bd1c"], "darker");
    assert_eq!(hover("#7f7f7f"), "#8c8c8c", "lighter: the text is dark and has little to spare");
}

/// The style sheet has the default brand's colours too, chosen by hand in dark.
#[test]
fn the_portals_own_look_is_the_default_brand() {
    let palette = Brand::default().light();
    let own = ["--accent", "--accent-hover", "--accent-text"].map(|name| variable(name)[0]);
    assert_eq!(own, [palette.accent, palette.accent_hover, palette.accent_text]);
    assert!(PORTAL.contains(&format!("--radius: {}px;", Brand::default().radius.get())));
    let [fill, text] = ["--accent-hover", "--on-accent"].map(|name| variable(name)[1]);
    assert!(text.contrast(fill) >= TEXT && fill.contrast(DARK.page) >= EDGE && fill.contrast(DARK.surface) >= EDGE);
}

#[test]
fn corners_are_at_most_twenty_pixels() {
    assert_eq!([0, 12, 20, 21, 255].map(|pixels| Radius::new(pixels).map(Radius::get)), [Some(0), Some(12), Some(20), None, None]);
}

#[test]
fn the_style_sheet_sets_the_variables_of_a_brand() {
    insta::assert_snapshot!(Brand { pill_buttons: true, ..brand(colour("#FFD21F")) }.style_sheet(), @r"
    :root{--accent:#ffd21f;--accent-hover:#e6bd1c;--on-accent:#16181d;--accent-edge:#886e00;--accent-text:#886e00;--accent-soft:#fffbed;--radius:12px;--radius-btn:99px}
    @media (prefers-color-scheme:dark){:root{--accent:#ffd21f;--accent-hover:#e6bd1c;--on-accent:#16181d;--accent-edge:transparent;--accent-text:#ffd21f;--accent-soft:#2d2b21}}
    ");
    insta::assert_snapshot!(Brand { radius: Radius(0), ..brand(colour("#111111")) }.style_sheet(), @r"
    :root{--accent:#111111;--accent-hover:#0f0f0f;--on-accent:#ffffff;--accent-edge:transparent;--accent-text:#111111;--accent-soft:#ececec;--radius:0px;--radius-btn:0px}
    @media (prefers-color-scheme:dark){:root{--accent:#848484;--accent-hover:#909090;--on-accent:#16181d;--accent-edge:transparent;--accent-text:#8b8b8b;--accent-soft:#232529}}
    ");
}
