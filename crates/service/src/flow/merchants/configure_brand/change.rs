//! Changes to a brand, and why one is refused.

use domain::merchants::brand::{NoColour, Radius, Wording};
use store::Failed;

use crate::platform::texts::{Language, Languages};

/// The most bytes of a logo's file.
pub const MOST_LOGO_BYTES: usize = 1024 * 1024;

/// Changes to a merchant's brand. Absent fields stay as they are; an empty text restores the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BrandChange {
    /// The one colour from which the others are derived, such as `#2340c7`.
    pub accent: Option<String>,
    pub radius: Option<Radius>,
    pub pill_buttons: Option<bool>,
    /// The logo, and the one for dark pages.
    pub logo: Option<LogoChange>,
    pub dark_logo: Option<LogoChange>,
    /// The phone number that shoppers can turn to.
    pub help_phone: Option<String>,
    /// The merchant's own pages.
    pub shop_url: Option<String>,
    pub privacy_url: Option<String>,
    pub terms_url: Option<String>,
    pub texts: Vec<TextChange>,
}

/// A change of a logo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogoChange {
    /// A file as the merchant made it: a PNG, a JPEG or a WebP.
    File(Vec<u8>),
    Removed,
}

/// A change of a text that the merchant words itself. An empty wording removes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextChange {
    /// The code of a language.
    pub language: String,
    pub text: Wording,
    pub wording: String,
}

/// The reasons a brand cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum ConfigureBrandError {
    #[error("no change was given; `backhaul brand set --help` lists the options")]
    Nothing,
    #[error("`{0}` is no colour: {why}", why = NoColour)]
    Accent(String),
    #[error("the logo has more than {} KiB; save it smaller, 480 by 90 pixels are enough", MOST_LOGO_BYTES / 1024)]
    LogoTooLarge,
    #[error("the logo cannot be read: {0}; save it as PNG, JPEG or WebP with at most 18 megapixels")]
    Logo(image::ImageError),
    #[error("a logo for dark pages needs one for light pages; give --logo too, or remove it with --dark-logo \"\"")]
    DarkLogoAlone,
    #[error("`{0}` is not a phone number, such as +353 1 555 0100")]
    HelpPhone(String),
    #[error("`{0}` is not an address that can be linked to, such as https://shop.example.com/privacy")]
    Link(String),
    #[error("the portal does not speak `{0}`; it speaks {languages}", languages = languages())]
    Language(String),
    #[error("the text {language}.{text} must have at most {most} characters, and no control characters", most = Wording::LONGEST)]
    Text { language: String, text: Wording },
    #[error("the merchant has no brand; there is nothing to remove")]
    NoBrand,
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// The codes of the portal's languages.
fn languages() -> String {
    Languages::default().iter().map(Language::code).collect::<Vec<_>>().join(", ")
}
