//! The preview of an action on a merchant: what it does, how it is undone, and the button that does it.

use askama::Template;
use axum::response::Response;

use super::error::ConsoleError;
use super::frame::Frame;
use super::merchant_head::Head;
use super::page::render;

/// A preview of an action.
#[derive(Template)]
#[template(path = "console/question.html")]
pub(super) struct Question {
    pub(super) frame: Frame,
    pub(super) head: Head,
    /// The question, as the heading.
    pub(super) asks: String,
    /// What will happen: each with a word before it.
    pub(super) facts: Vec<(&'static str, String)>,
    /// The address that the button posts to.
    pub(super) action: String,
    /// The button's words.
    pub(super) does: String,
    /// True if it cannot be undone, or hurts while it lasts.
    pub(super) is_grave: bool,
    /// The way back.
    pub(super) back: String,
    /// The same on the command line.
    pub(super) command: String,
}

impl Question {
    pub(super) fn show(&self) -> Result<Response, ConsoleError> {
        render(self)
    }
}
