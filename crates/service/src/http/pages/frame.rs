//! The frame of a page: shop, language, title, progress and faults. The templates' layout draws it.

use std::sync::Arc;

use domain::merchants::brand::{Wording, dialled};
use domain::returns::portal::SupportName;
use fluent_bundle::FluentValue;

use super::assets::{ICON, PORTAL_SCRIPT, PORTAL_STYLE};
use super::markup::Markup;
use crate::platform::texts::{Language, Languages};
use crate::platform::words::Words;
use crate::shops::{Shop, ShopBrand};

/// The reader of a page: in which shop, and in which language.
#[derive(Clone)]
pub(crate) struct Reader {
    pub(crate) shop: Arc<Shop>,
    pub(crate) language: Language,
    /// The languages to choose from.
    pub(crate) languages: Languages,
    /// The path of the portal's first page.
    pub(crate) root: Arc<str>,
    /// Who acts for the shopper, if it is support.
    pub(crate) support: Option<SupportName>,
    /// An operator looks at the page. Nothing runs on it.
    pub(crate) is_preview: bool,
}

/// A fault of a form.
pub(crate) struct FieldFault {
    /// The id of the field, which the summary links to.
    pub(crate) field: String,
    pub(crate) text: String,
}

/// The frame of a page.
pub(crate) struct Frame {
    /// `None` on a page that is in no shop.
    pub(crate) shop: Option<Arc<Shop>>,
    pub(crate) language: Language,
    root: Arc<str>,
    support: Option<SupportName>,
    pub(crate) title: String,
    /// The step of five, drawn as progress.
    pub(crate) step: Option<u8>,
    /// One column, without anything beside it.
    pub(crate) solo: bool,
    pub(crate) back: Option<String>,
    pub(crate) faults: Vec<FieldFault>,
    pub(crate) fault_heading: String,
    /// The languages to choose from.
    pub(crate) languages: Languages,
    /// The paths of the style sheet, the script, if any, and the icon.
    pub(crate) style: &'static str,
    pub(crate) script: Option<&'static str>,
    pub(crate) icon: &'static str,
}

impl Reader {
    /// The frame of a page with the title `title`, a text's key.
    pub(crate) fn frame(&self, title: &str) -> Frame {
        Frame {
            shop: Some(Arc::clone(&self.shop)),
            root: Arc::clone(&self.root),
            support: self.support.clone(),
            title: self.language.text(title),
            fault_heading: self.language.text("faults-heading"),
            solo: false,
            script: (!self.is_preview).then(|| PORTAL_SCRIPT.path.as_str()),
            ..Frame::anywhere(self.language, self.languages)
        }
    }

    /// The path of a page of this portal.
    pub(crate) fn path(&self, page: &str) -> String {
        path(&self.root, page)
    }

    /// The formats of this reader.
    pub(crate) fn words(&self) -> Words {
        Words { language: self.language, zone: self.shop.zone }
    }

    pub(crate) fn text(&self, key: &str) -> String {
        self.language.text(key)
    }

    /// The text `key` with these values.
    pub(crate) fn text_with<'a>(&self, key: &str, values: impl IntoIterator<Item = (&'a str, FluentValue<'a>)>) -> String {
        self.language.text_with(key, values)
    }

    /// The text `key`, which has markup, with these values, which have none.
    pub(crate) fn rich<'a>(&self, key: &str, values: impl IntoIterator<Item = (&'a str, FluentValue<'a>)>) -> Markup {
        Markup::of(self.language, key, values)
    }
}

fn path(root: &str, page: &str) -> String {
    match (root, page) {
        ("", page) => format!("/{page}"),
        (root, "") => root.to_owned(),
        (root, page) => format!("{root}/{page}"),
    }
}

impl Frame {
    /// The frame of a page that is in no shop.
    pub(crate) fn anywhere(language: Language, languages: Languages) -> Self {
        Self {
            shop: None,
            language,
            root: "".into(),
            support: None,
            title: String::new(),
            step: None,
            solo: true,
            back: None,
            faults: Vec::new(),
            fault_heading: String::new(),
            languages,
            style: &PORTAL_STYLE.path,
            script: Some(PORTAL_SCRIPT.path.as_str()),
            icon: &ICON.path,
        }
    }

    /// Draws the progress at `step`, with a link back to `back`.
    pub(crate) fn at_step(mut self, step: u8, back: String) -> Self {
        (self.step, self.back) = (Some(step), Some(back));
        self
    }

    /// A page with one column.
    pub(crate) fn alone(mut self) -> Self {
        self.solo = true;
        self
    }

    /// Shows what is wrong with a form.
    pub(crate) fn with_faults(mut self, faults: Vec<FieldFault>) -> Self {
        self.faults = faults;
        self
    }

    pub(crate) fn is_faulty(&self) -> bool {
        !self.faults.is_empty()
    }

    /// The fault of a field, if it has one.
    pub(crate) fn fault(&self, field: &str) -> Option<&str> {
        self.faults.iter().find(|fault| fault.field == field).map(|fault| &*fault.text)
    }

    pub(crate) fn text(&self, key: &str) -> String {
        self.language.text(key)
    }

    /// The text `key`, which has markup.
    pub(crate) fn rich(&self, key: &str) -> Markup {
        Markup::of(self.language, key, [])
    }

    /// A text in which the shop is named.
    pub(crate) fn text_of_shop(&self, key: &str) -> String {
        self.language.text_with(key, [("shop", self.shop_name().into())])
    }

    pub(crate) fn shop_name(&self) -> String {
        self.shop.as_ref().map_or_else(|| self.text("returns"), |shop| shop.name.clone())
    }

    /// Says who acts for the shopper, if it is support.
    pub(crate) fn support_notice(&self) -> Option<Markup> {
        let name = self.support.as_ref()?.as_str();
        Some(Markup::of(self.language, "support-notice", [("name", name.into())]))
    }

    pub(crate) fn help_email(&self) -> Option<&str> {
        self.shop.as_ref()?.help_email.as_deref()
    }

    fn brand(&self) -> Option<&ShopBrand> {
        Some(&self.shop.as_ref()?.brand)
    }

    /// The path of the brand's style sheet.
    pub(crate) fn brand_style(&self) -> Option<String> {
        Some(self.at(&format!("brand/{}", self.brand()?.style.as_ref()?)))
    }

    /// The path of the logo.
    pub(crate) fn logo(&self) -> Option<String> {
        Some(self.at(&format!("brand/{}.png", self.brand()?.settings.logo_hash.as_ref()?)))
    }

    /// The path of the logo for dark pages.
    pub(crate) fn dark_logo(&self) -> Option<String> {
        Some(self.at(&format!("brand/{}.png", self.brand()?.settings.dark_logo_hash.as_ref()?)))
    }

    /// The phone number that shoppers can turn to: as it is written, and as it is dialled.
    pub(crate) fn help_phone(&self) -> Option<(&str, String)> {
        let phone = self.brand()?.settings.help_phone.as_deref()?;
        Some((phone, dialled(phone)))
    }

    /// There is somebody to turn to.
    pub(crate) fn has_help(&self) -> bool {
        self.help_email().is_some() || self.help_phone().is_some()
    }

    /// The links to the merchant's own pages, each with its text.
    pub(crate) fn links(&self) -> Vec<(String, &str)> {
        let Some(ShopBrand { settings, .. }) = self.brand() else { return Vec::new() };
        let shop = settings.shop_url.as_deref().map(|url| (self.text_of_shop("link-shop"), url));
        let privacy = settings.privacy_url.as_deref().map(|url| (self.text("link-privacy"), url));
        let terms = settings.terms_url.as_deref().map(|url| (self.text("link-terms"), url));
        [shop, privacy, terms].into_iter().flatten().collect()
    }

    /// The merchant's own wording of a text, in the page's language.
    pub(crate) fn wording(&self, text: Wording) -> Option<&str> {
        self.brand()?.text(self.language, text)
    }

    pub(crate) fn help_hours(&self) -> Option<&str> {
        self.wording(Wording::HelpHours)
    }

    /// True unless nobody can withdraw from contracts with this shop.
    pub(crate) fn offers_withdrawal(&self) -> bool {
        self.shop.as_ref().is_some_and(|shop| shop.exemptions.shop.is_none())
    }

    /// The path of a page of this portal.
    pub(crate) fn at(&self, page: &str) -> String {
        path(&self.root, page)
    }
}
