//! `POST /merchants/{handle}/name`: shows what another name changes, and from there renames the merchant.

use axum::response::Response;
use serde::Deserialize;
use store::merchants::accounts::Merchant;

use super::by::{By, Manager};
use super::error::ConsoleError;
use super::form::{Form, Path};
use super::frame::Section;
use super::merchant_head::{Head, Tab, find};
use super::merchants::refused;
use super::question::{Question, SURE};
use crate::flow::merchants::configure_merchant::{ConfigureError, LONGEST_NAME, rename_merchant};
use crate::http::pages::see;

/// The form of the name.
#[derive(Debug, Deserialize)]
pub(super) struct Name {
    name: String,
    /// Set by the preview.
    sure: Option<String>,
}

pub(super) async fn rename(
    by: By<Manager>,
    Path(handle): Path<String>,
    Form(Name { name, sure }): Form<Name>,
) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    let name = name.trim();
    if !(1..=LONGEST_NAME).contains(&name.chars().count()) {
        return Err(refused(ConfigureError::NoName));
    }
    if sure.is_none() {
        return preview(&by, &merchant, name);
    }
    rename_merchant(&by.app, &by.actor(), &merchant, name).await.map_err(refused)?;
    Ok(see(&format!("/merchants/{handle}/contact")))
}

fn preview(by: &By<Manager>, merchant: &Merchant, name: &str) -> Result<Response, ConsoleError> {
    let Merchant { handle, name: was, .. } = merchant;
    Question {
        frame: by.frame(Section::Merchants, was),
        head: Head::new(merchant, Tab::Contact, by),
        asks: format!("Rename {was} to {name}?"),
        facts: vec![
            ("Shown", "to shoppers in the portal and in mails, unless the portal has a name of its own; within 5 seconds".to_owned()),
            ("Stays", format!("the handle {handle}, with every address and command")),
            ("Undone by", "renaming it again".to_owned()),
        ],
        action: format!("/merchants/{handle}/name"),
        does: "Rename the merchant".to_owned(),
        is_grave: false,
        back: format!("/merchants/{handle}/contact"),
        command: format!("backhaul merchant rename {handle} --name \"{name}\""),
    }
    .show_with(&[("name", name.to_owned()), (SURE, "yes".to_owned())])
}
