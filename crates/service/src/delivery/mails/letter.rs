//! A mail as a letter of few kinds of blocks, and its form in HTML.

use askama::Template;
use domain::merchants::brand::{Brand, Palette};

use super::letterhead::Logo;
use crate::platform::texts::Language;

/// A mail as a letter.
#[derive(Template)]
#[template(path = "mails/letter.html")]
pub(super) struct Letter {
    pub(super) language: Language,
    pub(super) shop: String,
    pub(super) subject: String,
    /// The line that mail programs show beside the subject.
    pub(super) preview: String,
    pub(super) heading: String,
    pub(super) blocks: Vec<Block>,
    pub(super) footer: Vec<Footer>,
    pub(super) look: Look,
}

/// The merchant's look.
pub(super) struct Look {
    pub(super) light: Palette,
    pub(super) dark: Palette,
    /// Of boxes and of buttons, in pixels.
    pub(super) radius: u8,
    pub(super) button_radius: u8,
    pub(super) logo: Option<Logo>,
    pub(super) dark_logo: Option<Logo>,
}

impl Look {
    pub(super) fn new(brand: Brand, logo: Option<Logo>, dark_logo: Option<Logo>) -> Self {
        let (radius, button_radius) = (brand.radius.get(), brand.button_radius());
        Self { light: brand.light(), dark: brand.dark(), radius, button_radius, logo, dark_logo }
    }
}

/// A line of the footer.
pub(super) enum Footer {
    Words(String),
    /// A number to call, as it is written and as it is dialled.
    Phone {
        words: String,
        phone: String,
        dialled: String,
    },
    /// The merchant's own pages, each by name and address.
    Links(Vec<Row>),
}

/// A part of a letter.
pub(super) enum Block {
    Paragraph(String),
    /// What only some readers need.
    Note(String),
    /// The number of the return, to be shown or said.
    Code {
        label: String,
        code: String,
    },
    Button {
        words: String,
        link: String,
    },
    Rows(Vec<Row>),
    /// What to do, one thing after the other; a single one has no number.
    Steps {
        heading: String,
        steps: Vec<String>,
    },
}

/// A fact with its name.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) value: String,
}
