//! Another address for an exchange order that the merchant did not take.

use std::borrow::Cow;

use askama::Template;
use axum::response::Response;
use serde::Deserialize;
use store::merchants::accounts::Merchant;
use store::returns::rmas::Return;
use wire::returns::exchange_order::ExchangeAddress;

use super::by::{By, Support};
use super::error::ConsoleError;
use super::form::{Form, Path};
use super::frame::{Frame, Notice, Section};
use super::merchant_head::unprocessable;
use super::page::render;
use super::return_exchange::{sentence, with_exchange};
use super::return_found::{At, return_at};
use crate::flow::returns::change_exchange_address::{ChangeExchangeAddressError, change_exchange_address};
use crate::http::pages::see;

/// The address as it is typed in. It has no `Debug`: it contains the shopper's personal data.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Typed {
    name: String,
    street1: String,
    city: String,
    state: String,
    zip_code: String,
    country_code: String,
    phone: String,
    /// Somebody has checked that the order does not exist.
    confirmed: bool,
}

/// What is typed into a field, if anything is.
fn text(field: &str) -> Option<Cow<'_, str>> {
    let field = field.trim();
    (!field.is_empty()).then_some(Cow::Borrowed(field))
}

impl Typed {
    fn address(&self) -> ExchangeAddress<'_> {
        ExchangeAddress {
            name: text(&self.name),
            street1: text(&self.street1),
            city: text(&self.city),
            state: text(&self.state),
            zip_code: text(&self.zip_code),
            country_code: text(&self.country_code),
            phone: text(&self.phone),
        }
    }
}

#[derive(Template)]
#[template(path = "console/exchange-address.html")]
struct AddressPage {
    frame: Frame,
    merchant: Merchant,
    rma: String,
    here: String,
    original: String,
    typed: Typed,
    /// Why the order may exist, so that somebody has to check first.
    doubt: Option<String>,
    command: String,
}

fn address_page(
    by: &By<Support>,
    (merchant, kept): (Merchant, Return),
    typed: Typed,
    doubt: Option<String>,
    notice: Option<Notice>,
) -> Result<Response, ConsoleError> {
    render(&AddressPage {
        frame: by.frame(Section::Returns, "Send the exchange to another address?").with(notice),
        here: return_at(&merchant.handle, &kept.identifier),
        command: format!(
            "backhaul returns exchange-address --merchant {} {} --name NAME --street1 STREET --city CITY --country-code CODE",
            merchant.handle, kept.identifier
        ),
        rma: kept.identifier,
        original: kept.order,
        merchant,
        typed,
        doubt,
    })
}

pub(super) async fn ask(by: By<Support>, Path(at): Path<At>) -> Result<Response, ConsoleError> {
    let found = with_exchange(&by, &at).await?;
    address_page(&by, found, Typed::default(), None, None)
}

pub(super) async fn change(by: By<Support>, Path(at): Path<At>, Form(typed): Form<Typed>) -> Result<Response, ConsoleError> {
    let (merchant, kept) = with_exchange(&by, &at).await?;
    let changed = change_exchange_address(&by.app, &by.actor(), merchant.id, &kept.identifier, &typed.address(), typed.confirmed).await;
    match changed {
        Err(ChangeExchangeAddressError::Faulty(fault)) => {
            let notice = Notice::bad("The address was not changed.", &format!("{}.", sentence(fault)));
            unprocessable(address_page(&by, (merchant, kept), typed, None, Some(notice)))
        }
        Err(ChangeExchangeAddressError::Unconfirmed(doubt)) => {
            let doubt = Some(format!("{}.", sentence(&doubt.to_string())));
            address_page(&by, (merchant, kept), typed, doubt, None)
        }
        done => {
            done?;
            Ok(see(&return_at(&merchant.handle, &kept.identifier)))
        }
    }
}

impl From<ChangeExchangeAddressError> for ConsoleError {
    fn from(error: ChangeExchangeAddressError) -> Self {
        let told = || format!("{}. Nothing was done.", sentence(&error.to_string()));
        match error {
            ChangeExchangeAddressError::Failed(failed) => failed.into(),
            ChangeExchangeAddressError::NoSuchReturn => Self::NotFound,
            ChangeExchangeAddressError::Ended(_) | ChangeExchangeAddressError::StillOwed => Self::Conflict(told()),
            ChangeExchangeAddressError::NoExchange
            | ChangeExchangeAddressError::NoEndpoint
            | ChangeExchangeAddressError::Gone
            | ChangeExchangeAddressError::Faulty(_)
            | ChangeExchangeAddressError::Unconfirmed(_) => Self::Refused(told()),
        }
    }
}
