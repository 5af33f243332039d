//! The preview of an action on a merchant: what it does, how it is undone, and the button that does it.

use askama::Template;
use axum::response::Response;

use super::error::ConsoleError;
use super::frame::Frame;
use super::merchant_head::Head;
use super::page::render;

/// The field of a form that was sent from its preview.
pub(super) const SURE: &str = "sure";

/// A preview of an action.
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

#[derive(Template)]
#[template(path = "console/question.html")]
struct Page<'a> {
    frame: &'a Frame,
    question: &'a Question,
    typed: &'a [(&'static str, String)],
}

impl Question {
    pub(super) fn show(&self) -> Result<Response, ConsoleError> {
        self.show_with(&[])
    }

    /// Shows the preview of a form: the button sends what was typed once more, and that the person is sure.
    pub(super) fn show_with(&self, typed: &[(&'static str, String)]) -> Result<Response, ConsoleError> {
        render(&Page { frame: &self.frame, question: self, typed })
    }
}
