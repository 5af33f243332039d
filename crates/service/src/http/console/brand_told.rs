//! A merchant's brand in words, and the command that makes the same change.

use domain::merchants::brand::{Brand, Wording};

use super::command_line::{CommandOption, command_line};
use super::difference::Setting;
use crate::flow::merchants::configure_brand::{BrandChange, LogoChange};
use crate::platform::texts::Languages;
use crate::shops::ShopBrand;

/// The settings of a brand, in the order of the form.
pub(super) fn settings(brand: &ShopBrand) -> Vec<Setting> {
    let ShopBrand { settings, .. } = brand;
    let own = Brand::default();
    let text = |name, value: Option<&String>| Setting::one(name, value.map_or("none", String::as_str));
    let logo = |name, hash: &Option<String>| Setting::one(name, if hash.is_some() { "a picture" } else { "none" });
    let radius = settings.radius.map_or_else(|| format!("{} px, the usual", own.radius.get()), |radius| format!("{radius} px"));
    let mut told = vec![
        Setting::one("Accent", settings.accent.clone().unwrap_or_else(|| format!("{}, the portal's own", own.accent))),
        Setting::one("Corners", radius),
        Setting::one("Buttons", if settings.pill_buttons { "round at both ends" } else { "with these corners" }),
        logo("Logo", &settings.logo_hash),
        logo("Logo on dark pages", &settings.dark_logo_hash),
        text("Phone number", settings.help_phone.as_ref()),
        text("Shop", settings.shop_url.as_ref()),
        text("Privacy notice", settings.privacy_url.as_ref()),
        text("Terms", settings.terms_url.as_ref()),
    ];
    for text in Wording::ALL {
        for language in Languages::default().iter() {
            let wording = brand.text(language, *text).unwrap_or("none");
            told.push(Setting::one(&format!("{text}, {}", language.name()), wording));
        }
    }
    told
}

/// The command that makes the same change.
pub(super) fn command(handle: &str, change: &BrandChange) -> String {
    let mut options: Vec<CommandOption> = Vec::new();
    options.extend(change.accent.clone().map(|accent| ("accent", Some(accent))));
    options.extend(change.radius.map(|radius| ("radius", Some(radius.get().to_string()))));
    options.extend(change.pill_buttons.map(|pill| ("pill-buttons", Some(pill.to_string()))));
    for (name, logo) in [("logo", &change.logo), ("dark-logo", &change.dark_logo)] {
        match logo {
            Some(LogoChange::Removed) => options.push((name, Some(String::new()))),
            Some(LogoChange::File(_)) => options.push((name, Some("FILE".to_owned()))),
            None => {}
        }
    }
    options.extend(change.help_phone.clone().map(|phone| ("help-phone", Some(phone))));
    options.extend(change.shop_url.clone().map(|url| ("shop-url", Some(url))));
    options.extend(change.privacy_url.clone().map(|url| ("privacy-url", Some(url))));
    options.extend(change.terms_url.clone().map(|url| ("terms-url", Some(url))));
    options.extend(change.texts.iter().map(|text| ("text", Some(format!("{}.{}={}", text.language, text.text, text.wording)))));
    command_line(&format!("backhaul brand set --merchant {handle}"), &options)
}
