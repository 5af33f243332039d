//! `backhaul brand …`: the look of merchants' portals, their logos, contacts, links and texts.

use std::collections::BTreeMap;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use domain::merchants::brand::{Radius, Wording};
use serde::Serialize;
use store::merchants::accounts::Merchant;
use store::merchants::brands::BrandSettings;

use crate::app::App;
use crate::cli::context::{OfMerchant, actor};
use crate::cli::output::{self, Format};
use crate::cli::session;
use crate::flow::merchants::configure_brand::{self as flow, BrandChange, LogoChange, MOST_LOGO_BYTES, TextChange};
use crate::shops::ShopBrand;

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// Change the brand of a merchant's portal.
    ///
    /// Options that are left out keep their value; an empty value restores the default. Every node follows within 5 seconds.
    Set(Box<Set>),
    /// Show a merchant's brand.
    Show {
        #[command(flatten)]
        merchant: OfMerchant,
    },
    /// Remove a merchant's brand with its logos and texts; the portal has its own look again.
    Remove {
        #[command(flatten)]
        merchant: OfMerchant,
    },
}

#[derive(Args)]
pub(in crate::cli) struct Set {
    #[command(flatten)]
    merchant: OfMerchant,
    /// The colour of buttons and links, such as #2340c7. Any colour will do: its shades are derived so that every text can be read,
    /// in light and in dark.
    #[arg(long, value_name = "COLOUR")]
    accent: Option<String>,
    /// The radius of corners in pixels, from 0 to 20 (12 unless set).
    #[arg(long, value_name = "PIXELS", value_parser = radius)]
    radius: Option<Radius>,
    /// Buttons that are round at both ends, whatever the radius: `true` or `false`.
    #[arg(long, value_name = "BOOL")]
    pill_buttons: Option<bool>,
    /// A file with the logo: PNG, JPEG or WebP, at most 1 MiB. It is shown 30 pixels high and at most 160 wide, instead of the shop's
    /// name. 480 by 90 pixels are sharp on every screen.
    #[arg(long, value_name = "FILE")]
    logo: Option<String>,
    /// A file with the logo for dark pages. Without one, the logo stands on white there.
    #[arg(long, value_name = "FILE")]
    dark_logo: Option<String>,
    /// The phone number that shoppers can turn to, such as "+353 1 555 0100".
    #[arg(long, value_name = "NUMBER")]
    help_phone: Option<String>,
    /// The address of the shop, which pages link to.
    #[arg(long, value_name = "URL")]
    shop_url: Option<String>,
    /// The address of the shop's privacy notice.
    #[arg(long, value_name = "URL")]
    privacy_url: Option<String>,
    /// The address of the shop's terms.
    #[arg(long, value_name = "URL")]
    terms_url: Option<String>,
    /// A text in the merchant's own words and one language, such as "en.welcome=Not quite right? Send it back." Repeat for several.
    /// The texts are `welcome`, below the heading of the first page; `promise`, one line more in the list of promises; and
    /// `help-hours`, below the contact. At most 200 characters each, without markup.
    #[arg(long, value_name = "LANGUAGE.TEXT=WORDING", value_parser = text)]
    text: Vec<TextChange>,
}

impl Set {
    fn change(self) -> anyhow::Result<BrandChange> {
        let trimmed = |value: Option<String>| value.map(|value| value.trim().to_owned());
        Ok(BrandChange {
            accent: trimmed(self.accent),
            radius: self.radius,
            pill_buttons: self.pill_buttons,
            logo: self.logo.as_deref().map(logo).transpose()?,
            dark_logo: self.dark_logo.as_deref().map(logo).transpose()?,
            help_phone: trimmed(self.help_phone),
            shop_url: trimmed(self.shop_url),
            privacy_url: trimmed(self.privacy_url),
            terms_url: trimmed(self.terms_url),
            texts: self.text,
        })
    }
}

/// Parses the value of `--radius`.
fn radius(text: &str) -> Result<Radius, String> {
    text.parse().ok().and_then(Radius::new).ok_or_else(|| format!("write a number of pixels from 0 to {}", Radius::MAX))
}

/// Parses the value of `--text`.
fn text(value: &str) -> Result<TextChange, String> {
    let parse = || {
        let (name, wording) = value.split_once('=')?;
        let (language, text) = name.trim().split_once('.')?;
        Some(TextChange { language: language.to_owned(), text: text.parse().ok()?, wording: wording.trim().to_owned() })
    };
    let known = || Wording::ALL.iter().map(|text| text.as_str()).collect::<Vec<_>>().join(", ");
    parse().ok_or_else(|| format!("write a text as LANGUAGE.TEXT=WORDING, such as en.welcome=Hello; the texts are {}", known()))
}

/// Reads the file of `--logo`. Of one that is too large, only as much is read as tells that it is.
fn logo(path: &str) -> anyhow::Result<LogoChange> {
    if path.is_empty() {
        return Ok(LogoChange::Removed);
    }
    Ok(LogoChange::File(session::file("logo", path, MOST_LOGO_BYTES)?))
}

#[derive(Serialize)]
struct BrandOut {
    merchant: String,
    accent: Option<String>,
    radius: Option<i16>,
    pill_buttons: bool,
    /// The paths below the portal's address.
    style_sheet: Option<String>,
    logo: Option<String>,
    dark_logo: Option<String>,
    help_phone: Option<String>,
    shop_url: Option<String>,
    privacy_url: Option<String>,
    terms_url: Option<String>,
    #[serde(flatten)]
    texts: BTreeMap<String, String>,
}

impl BrandOut {
    fn new(merchant: &Merchant, brand: &ShopBrand) -> Self {
        let settings: BrandSettings = brand.settings.clone();
        let path = |file: String| format!("brand/{file}");
        let picture = |hash: Option<String>| hash.map(|hash| path(format!("{hash}.png")));
        Self {
            merchant: merchant.handle.clone(),
            accent: settings.accent,
            radius: settings.radius,
            pill_buttons: settings.pill_buttons,
            style_sheet: brand.style.clone().map(path),
            logo: picture(settings.logo_hash),
            dark_logo: picture(settings.dark_logo_hash),
            help_phone: settings.help_phone,
            shop_url: settings.shop_url,
            privacy_url: settings.privacy_url,
            terms_url: settings.terms_url,
            texts: brand.texts.iter().map(|text| (format!("{}.{}", text.language, text.name), text.wording.clone())).collect(),
        }
    }
}

pub(in crate::cli) async fn run(command: Command, app: &App, format: Format) -> anyhow::Result<()> {
    match command {
        Command::Set(set) => {
            let merchant = set.merchant.find(app).await?;
            flow::set_brand(app, &actor(), merchant.id, set.change()?).await?;
            show(app, &merchant, format).await
        }
        Command::Show { merchant } => show(app, &merchant.find(app).await?, format).await,
        Command::Remove { merchant } => {
            let found = merchant.find(app).await?;
            flow::remove_brand(app, &actor(), found.id).await?;
            output::said(format, &format!("The portal of {merchant} has its own look again."))
        }
    }
}

async fn show(app: &App, merchant: &Merchant, format: Format) -> anyhow::Result<()> {
    let shop = app.shops.find_by_handle(app, &merchant.handle).await?;
    let shop = shop.with_context(|| format!("the merchant `{}` is gone", merchant.handle))?;
    output::one(format, &BrandOut::new(merchant, &shop.brand))
}
