//! A mail as a letter of few kinds of blocks, and its form in HTML.

use askama::Template;

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
    pub(super) footer: Vec<String>,
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
    /// What to do, one thing after the other.
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
