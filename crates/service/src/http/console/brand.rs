//! `GET /merchants/{handle}/brand`: the brand of a merchant's portal, with a form for managers and the portal as it looks with what was
//! typed. `…/remove` removes it.

use askama::Template;
use axum::response::Response;
use domain::merchants::brand::{Brand, Colour, Palette};
use store::merchants::accounts::Merchant;
use store::merchants::brands::BrandSettings;

use super::brand_form::{TextFields, change, present, text_fields};
use super::brand_told::{command, settings};
use super::by::{By, Manager, Permission, Viewer};
use super::difference::{ChangePreview, Setting, compare};
use super::error::ConsoleError;
use super::form::{Filled, Form, Path, Typed};
use super::frame::{Frame, Section};
use super::merchant_head::{Head, Tab, find, unprocessable};
use super::merchants::capitalised;
use super::page::render;
use super::question::{Question, SURE};
use crate::flow::merchants::configure_brand::{self as flow, BrandChange, ConfigureBrandError};
use crate::http::pages::{headers, see};
use crate::platform::texts::Languages;
use crate::shops::{ShopBrand, brand_of};

/// The field of the button that shows the portal with what was typed.
const PREVIEW: &str = "preview";
/// The field with the language of the preview.
pub(super) const LANGUAGE: &str = "language";

/// A derived shade: for what, and its colours in light and in dark.
struct Shade {
    of: &'static str,
    light: String,
    dark: String,
}

#[derive(Template)]
#[template(path = "console/brand.html")]
struct Page {
    frame: Frame,
    head: Head,
    settings: Vec<Setting>,
    is_set: bool,
    has_logo: bool,
    has_dark_logo: bool,
    filled: Filled,
    texts: Vec<TextFields>,
    shades: Vec<Shade>,
    languages: Languages,
    language: &'static str,
    /// The address of the portal with what was typed.
    preview: String,
    fault: Option<String>,
}

fn shades(brand: Brand) -> Vec<Shade> {
    let (light, dark) = (brand.light(), brand.dark());
    let shade = |of, colour: fn(&Palette) -> Colour| Shade { of, light: colour(&light).to_string(), dark: colour(&dark).to_string() };
    vec![
        shade("Buttons", |palette| palette.accent),
        shade("Text on them", |palette| palette.on_accent),
        shade("Links", |palette| palette.accent_text),
        shade("Chosen option", |palette| palette.accent_soft),
    ]
}

/// The page with what was typed. `after` is the brand that this makes.
fn page<P: Permission>(
    by: &By<P>,
    merchant: &Merchant,
    (before, after): (&ShopBrand, &ShopBrand),
    mut typed: Typed,
    fault: Option<String>,
) -> Result<Response, ConsoleError> {
    let language = typed.get(LANGUAGE).and_then(|code| Languages::default().find(code)).unwrap_or_default();
    typed.insert(LANGUAGE.to_owned(), language.code().to_owned());
    let query = serde_urlencoded::to_string(&typed).map_err(|error| ConsoleError::Internal(error.to_string()))?;
    let filled = Filled(typed);
    let page = render(&Page {
        frame: by.frame(Section::Merchants, &format!("{}: brand", merchant.name)),
        head: Head::new(merchant, Tab::Brand, by),
        settings: settings(before),
        is_set: before.settings != BrandSettings::default() || !before.texts.is_empty(),
        has_logo: before.settings.logo_hash.is_some(),
        has_dark_logo: before.settings.dark_logo_hash.is_some(),
        texts: text_fields(&filled),
        shades: shades(after.settings.look()?),
        languages: Languages::default(),
        language: language.code(),
        preview: format!("/merchants/{}/brand/preview?{query}", merchant.handle),
        filled,
        fault,
    })?;
    Ok(headers::with_frame(page))
}

pub(super) async fn show(by: By<Viewer>, Path(handle): Path<String>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    let brand = brand_of(&by.app, merchant.id).await?;
    page(&by, &merchant, (&brand, &brand), present(&brand), None)
}

/// The brand with what was typed, and the change that makes it.
pub(super) fn edited(typed: &Typed, brand: &ShopBrand) -> Result<(BrandChange, ShopBrand), String> {
    let change = change(typed, brand)?;
    let after = flow::preview_brand(brand, &change).map_err(|error| format!("{}.", capitalised(&error.to_string())))?;
    Ok((change, after))
}

/// Shows the portal with what was typed, shows what it changes, or saves it, by the button that was pressed.
pub(super) async fn set(by: By<Manager>, Path(handle): Path<String>, Form(typed): Form<Typed>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    let before = brand_of(&by.app, merchant.id).await?;
    let (change, after) = match edited(&typed, &before) {
        Ok(edited) => edited,
        Err(fault) => return unprocessable(page(&by, &merchant, (&before, &before), typed, Some(fault))),
    };
    if typed.contains_key(PREVIEW) {
        return page(&by, &merchant, (&before, &after), typed, None);
    }
    if change == BrandChange::default() {
        let fault = "Nothing differs from the brand as it is.".to_owned();
        return unprocessable(page(&by, &merchant, (&before, &after), typed, Some(fault)));
    }
    if typed.contains_key(SURE) {
        flow::set_brand(&by.app, &by.actor(), merchant.id, change).await.map_err(refused)?;
        return Ok(see(&format!("/merchants/{handle}/brand")));
    }
    let mut hidden = typed;
    hidden.insert(SURE.to_owned(), "yes".to_owned());
    let asks = format!("Change the brand of {}?", merchant.name);
    ChangePreview {
        frame: by.frame(Section::Merchants, &asks),
        head: Head::new(&merchant, Tab::Brand, &by),
        asks,
        differences: compare(settings(&before), settings(&after)),
        facts: &[
            ("Counts", "within 5 seconds on every page of the portal; mails have the brand of the moment in which they are sent"),
            ("Undone by", "changing it back; a logo that is removed has to be given again"),
        ],
        action: format!("/merchants/{handle}/brand"),
        hidden,
        does: "Change the brand".to_owned(),
        back: format!("/merchants/{handle}/brand"),
        command: command(&merchant.handle, &change),
    }
    .show()
}

pub(super) fn refused(error: ConfigureBrandError) -> ConsoleError {
    match error {
        ConfigureBrandError::Failed(failed) => failed.into(),
        error => ConsoleError::Refused(format!("{}.", capitalised(&error.to_string()))),
    }
}

/// `GET …/remove`: what removing the brand does.
pub(super) async fn ask_to_remove(by: By<Manager>, Path(handle): Path<String>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    Question {
        frame: by.frame(Section::Merchants, &merchant.name),
        head: Head::new(&merchant, Tab::Brand, &by),
        asks: format!("Remove the brand of {}?", merchant.name),
        facts: vec![
            ("Removed", "colour, corners, logos, phone number, links and the merchant's own texts".to_owned()),
            ("Instead", "the portal's own look, within 5 seconds; also in mails".to_owned()),
            ("Undone by", "nothing: the logos and the texts are deleted".to_owned()),
        ],
        action: format!("/merchants/{handle}/brand/remove"),
        does: "Remove the brand".to_owned(),
        is_grave: true,
        back: format!("/merchants/{handle}/brand"),
        command: format!("backhaul brand remove --merchant {handle}"),
    }
    .show()
}

pub(super) async fn remove(by: By<Manager>, Path(handle): Path<String>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    flow::remove_brand(&by.app, &by.actor(), merchant.id).await.map_err(refused)?;
    Ok(see(&format!("/merchants/{handle}/brand")))
}
