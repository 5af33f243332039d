//! The operator sets up a merchant's brand in the portal: look, logos, contact, links and texts. Every change is audited in its own
//! transaction.

mod change;
mod check;

use domain::id::MerchantId;
use store::merchants::accounts;
use store::merchants::audit::{self, Entry};
use store::merchants::brands::{self, BrandSettings, BrandText, Logos};
use store::{Failed, Tx};

pub use self::change::{BrandChange, ConfigureBrandError, LogoChange, MOST_LOGO_BYTES, TextChange};
use self::check::check;
use crate::app::App;
use crate::platform::content_hash::content_hash;
use crate::platform::picture::shrink_logo;
use crate::shops::ShopBrand;

async fn record(app: &App, tx: &mut Tx, actor: &str, action: &str, detail: &str) -> Result<(), Failed> {
    audit::record(tx, Entry { id: app.mint(), actor, action, detail, done_at: app.now() }).await
}

/// Changes the merchant's brand. Every node follows within 5 seconds.
pub async fn set_brand(app: &App, actor: &str, merchant: MerchantId, mut change: BrandChange) -> Result<(), ConfigureBrandError> {
    if change == BrandChange::default() {
        return Err(ConfigureBrandError::Nothing);
    }
    check(&change)?;
    // Decoding takes a while, so it comes before the transaction.
    let logo = shrunk(change.logo.take()).await?;
    let dark_logo = shrunk(change.dark_logo.take()).await?;
    let detail = describe(&change, &logo, &dark_logo);
    let mut tx = app.begin(merchant).await?;
    // The brand may not exist yet, so lock the merchant instead.
    accounts::lock(&mut tx).await?;
    let stored = brands::logos(&mut tx).await?;
    let logos = Logos { light: logo.of(stored.light), dark: dark_logo.of(stored.dark) };
    if logos.dark.is_some() && logos.light.is_none() {
        return Err(ConfigureBrandError::DarkLogoAlone);
    }
    let settings = apply(brands::get(&mut tx).await?, &change, &logos);
    brands::save(&mut tx, &settings, &logos, app.now()).await?;
    for TextChange { language, text, wording } in change.texts {
        if wording.is_empty() {
            brands::remove_text(&mut tx, &language, text.as_str()).await?;
        } else {
            brands::save_text(&mut tx, &BrandText { language, name: text.as_str().to_owned(), wording }).await?;
        }
    }
    record(app, &mut tx, actor, "brand.changed", &detail).await?;
    Ok(app.commit(tx).await?)
}

/// The brand that a change makes of `brand`, without its style sheet. A new logo is not in it, because it has no address yet.
pub fn preview_brand(brand: &ShopBrand, change: &BrandChange) -> Result<ShopBrand, ConfigureBrandError> {
    check(change)?;
    let kept = |change: Option<&LogoChange>, hash: &Option<String>| hash.clone().filter(|_| change != Some(&LogoChange::Removed));
    let settings = BrandSettings {
        logo_hash: kept(change.logo.as_ref(), &brand.settings.logo_hash),
        dark_logo_hash: kept(change.dark_logo.as_ref(), &brand.settings.dark_logo_hash),
        ..apply(brand.settings.clone(), change, &Logos::default())
    };
    if settings.dark_logo_hash.is_some() && settings.logo_hash.is_none() {
        return Err(ConfigureBrandError::DarkLogoAlone);
    }
    let is_changed = |own: &BrandText| change.texts.iter().any(|text| text.language == own.language && text.text.as_str() == own.name);
    let mut texts: Vec<BrandText> = brand.texts.iter().filter(|own| !is_changed(own)).cloned().collect();
    let worded = change.texts.iter().filter(|text| !text.wording.is_empty());
    texts.extend(worded.map(|TextChange { language, text, wording }| BrandText {
        language: language.clone(),
        name: text.as_str().to_owned(),
        wording: wording.clone(),
    }));
    Ok(ShopBrand { settings, texts, style: None })
}

/// Removes the merchant's brand: the portal has its own look again.
pub async fn remove_brand(app: &App, actor: &str, merchant: MerchantId) -> Result<(), ConfigureBrandError> {
    let mut tx = app.begin(merchant).await?;
    accounts::lock(&mut tx).await?;
    if !brands::remove(&mut tx).await? {
        return Err(ConfigureBrandError::NoBrand);
    }
    record(app, &mut tx, actor, "brand.removed", "").await?;
    Ok(app.commit(tx).await?)
}

/// A logo after a change.
enum NewLogo {
    Kept,
    Removed,
    Png(Vec<u8>),
}

impl NewLogo {
    fn of(self, stored: Option<Vec<u8>>) -> Option<Vec<u8>> {
        match self {
            Self::Kept => stored,
            Self::Removed => None,
            Self::Png(png) => Some(png),
        }
    }
}

async fn shrunk(change: Option<LogoChange>) -> Result<NewLogo, ConfigureBrandError> {
    let file = match change {
        None => return Ok(NewLogo::Kept),
        Some(LogoChange::Removed) => return Ok(NewLogo::Removed),
        Some(LogoChange::File(file)) => file,
    };
    #[expect(clippy::disallowed_methods, reason = "decoding takes a core for up to half a second")]
    let shrinking = tokio::task::spawn_blocking(move || shrink_logo(&file));
    let png = shrinking.await.map_err(|_| Failed::Internal("decoding a logo panicked"))?;
    png.map(NewLogo::Png).map_err(ConfigureBrandError::Logo)
}

fn apply(settings: BrandSettings, change: &BrandChange, logos: &Logos) -> BrandSettings {
    let text = |old: Option<String>, new: Option<&String>| new.cloned().or(old).filter(|text| !text.is_empty());
    BrandSettings {
        accent: text(settings.accent, change.accent.as_ref()).map(|accent| accent.to_ascii_lowercase()),
        radius: change.radius.map(|radius| radius.get().into()).or(settings.radius),
        pill_buttons: change.pill_buttons.unwrap_or(settings.pill_buttons),
        logo_hash: logos.light.as_ref().map(content_hash),
        dark_logo_hash: logos.dark.as_ref().map(content_hash),
        help_phone: text(settings.help_phone, change.help_phone.as_ref()),
        shop_url: text(settings.shop_url, change.shop_url.as_ref()),
        privacy_url: text(settings.privacy_url, change.privacy_url.as_ref()),
        terms_url: text(settings.terms_url, change.terms_url.as_ref()),
    }
}

/// The changes as text, for the audit log.
fn describe(change: &BrandChange, logo: &NewLogo, dark_logo: &NewLogo) -> String {
    let text = |name: &str, value: Option<&str>| {
        value.map(|value| if value.is_empty() { format!("no {name}") } else { format!("{name}: {value}") })
    };
    let picture = |name: &str, logo: &NewLogo| match logo {
        NewLogo::Kept => None,
        NewLogo::Removed => Some(format!("no {name}")),
        NewLogo::Png(png) => Some(format!("{name}: {}", content_hash(png))),
    };
    let settings = [
        text("accent", change.accent.as_deref()),
        change.radius.map(|radius| format!("radius: {}", radius.get())),
        change.pill_buttons.map(|pill| format!("pill_buttons: {pill}")),
        picture("logo", logo),
        picture("dark_logo", dark_logo),
        text("help_phone", change.help_phone.as_deref()),
        text("shop_url", change.shop_url.as_deref()),
        text("privacy_url", change.privacy_url.as_deref()),
        text("terms_url", change.terms_url.as_deref()),
    ];
    let texts = change.texts.iter().filter_map(|change| text(&format!("{}.{}", change.language, change.text), Some(&change.wording)));
    settings.into_iter().flatten().chain(texts).collect::<Vec<_>>().join("; ")
}
