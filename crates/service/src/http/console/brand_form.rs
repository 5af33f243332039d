//! The form of a merchant's brand: what is set as it is typed, and the change that was typed.

use domain::merchants::brand::{Radius, Wording};

use super::form::{Filled, Typed};
use crate::flow::merchants::configure_brand::{BrandChange, LogoChange, TextChange};
use crate::platform::texts::Languages;
use crate::shops::ShopBrand;

/// A field with a text of the merchant's own.
pub(super) struct TextField {
    pub(super) name: String,
    pub(super) language: &'static str,
    pub(super) value: String,
}

/// The fields of one text, one for each language.
pub(super) struct TextFields {
    pub(super) heading: &'static str,
    pub(super) hint: &'static str,
    pub(super) fields: Vec<TextField>,
}

const fn words(text: Wording) -> (&'static str, &'static str) {
    match text {
        Wording::Welcome => ("Welcome", "Below the heading of the first page."),
        Wording::Promise => ("Promise", "One line more in the list of promises."),
        Wording::HelpHours => ("Help hours", "Below the contact, in the portal and in mails."),
    }
}

fn name(language: &str, text: Wording) -> String {
    format!("text-{language}-{text}")
}

/// The fields of the merchant's own texts.
pub(super) fn text_fields(filled: &Filled) -> Vec<TextFields> {
    let of = |text: &Wording| {
        let (heading, hint) = words(*text);
        let field = |code: &str, language| {
            let name = name(code, *text);
            TextField { value: filled.text(&name).to_owned(), name, language }
        };
        TextFields { heading, hint, fields: Languages::default().iter().map(|language| field(language.code(), language.name())).collect() }
    };
    Wording::ALL.iter().map(of).collect()
}

/// A brand as it is typed.
pub(super) fn present(ShopBrand { settings, texts, .. }: &ShopBrand) -> Typed {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let mut typed: Typed = [
        ("accent", text(&settings.accent)),
        ("radius", settings.radius.map(|radius| radius.to_string()).unwrap_or_default()),
        ("help_phone", text(&settings.help_phone)),
        ("shop_url", text(&settings.shop_url)),
        ("privacy_url", text(&settings.privacy_url)),
        ("terms_url", text(&settings.terms_url)),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect();
    if settings.pill_buttons {
        typed.insert("pill_buttons".to_owned(), "yes".to_owned());
    }
    typed.extend(texts.iter().map(|text| (format!("text-{}-{}", text.language, text.name), text.wording.clone())));
    typed
}

/// The change from `brand` that was typed, or what is wrong with it. A field that was not sent keeps its value.
pub(super) fn change(typed: &Typed, brand: &ShopBrand) -> Result<BrandChange, String> {
    let settings = &brand.settings;
    let changed = |name: &str, is: Option<&str>| {
        let typed = typed.get(name)?.trim();
        (typed != is.unwrap_or_default()).then(|| typed.to_owned())
    };
    let radius = changed("radius", settings.radius.map(|radius| radius.to_string()).as_deref()).filter(|radius| !radius.is_empty());
    let radius = radius.map(|radius| {
        let radius = radius.parse().ok().and_then(Radius::new);
        radius.ok_or_else(|| format!("The radius of corners must be 0 to {} pixels.", Radius::MAX))
    });
    let pill_buttons = typed.contains_key("pill_buttons");
    let removed = |name: &str| typed.contains_key(name).then_some(LogoChange::Removed);
    let texts = Wording::ALL.iter().flat_map(|text| Languages::default().iter().map(move |language| (*text, language.code())));
    let texts = texts.filter_map(|(text, language)| {
        let own = brand.texts.iter().find(|own| own.language == language && own.name == text.as_str());
        let wording = changed(&name(language, text), own.map(|own| own.wording.as_str()))?;
        Some(TextChange { language: language.to_owned(), text, wording })
    });
    Ok(BrandChange {
        accent: changed("accent", settings.accent.as_deref()),
        radius: radius.transpose()?,
        pill_buttons: (pill_buttons != settings.pill_buttons).then_some(pill_buttons),
        logo: removed("remove_logo"),
        dark_logo: removed("remove_dark_logo"),
        help_phone: changed("help_phone", settings.help_phone.as_deref()),
        shop_url: changed("shop_url", settings.shop_url.as_deref()),
        privacy_url: changed("privacy_url", settings.privacy_url.as_deref()),
        terms_url: changed("terms_url", settings.terms_url.as_deref()),
        texts: texts.collect(),
    })
}
