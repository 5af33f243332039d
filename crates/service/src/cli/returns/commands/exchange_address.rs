//! `backhaul returns exchange-address`: sends an exchange to another address.

use std::borrow::Cow;

use anyhow::Context as _;
use clap::Args;
use domain::id::MerchantId;
use wire::returns::exchange_order::ExchangeAddress;

use super::of_return::OfReturn;
use crate::app::App;
use crate::cli::confirm::confirm;
use crate::cli::context::actor;
use crate::flow::returns::change_exchange_address::{ChangeExchangeAddressError, change_exchange_address};
use crate::show::returns::rmas as returns;

#[derive(Args)]
pub(in crate::cli) struct Options {
    #[command(flatten)]
    pub(super) of: OfReturn,
    /// The name at the address.
    #[arg(long)]
    name: String,
    /// The street, with the house number.
    #[arg(long, value_name = "STREET")]
    street1: String,
    /// The city.
    #[arg(long)]
    city: String,
    /// The state or province.
    #[arg(long)]
    state: Option<String>,
    /// The postal code.
    #[arg(long, value_name = "CODE")]
    zip_code: Option<String>,
    /// The country, as a code of two capital letters.
    #[arg(long, value_name = "CODE")]
    country_code: String,
    /// The telephone number for the carrier.
    #[arg(long, value_name = "NUMBER")]
    phone: Option<String>,
    /// Do it without asking for confirmation, although the order may exist.
    #[arg(long)]
    yes: bool,
}

/// Asks the merchant for the exchange order again, at the address given.
pub(super) async fn change(app: &App, merchant: MerchantId, options: &Options) -> anyhow::Result<()> {
    let given = |field: &Option<String>| field.clone().map(Cow::Owned);
    let address = ExchangeAddress {
        name: Some(Cow::Borrowed(options.name.as_str())),
        street1: Some(Cow::Borrowed(options.street1.as_str())),
        city: Some(Cow::Borrowed(options.city.as_str())),
        state: given(&options.state),
        zip_code: given(&options.zip_code),
        country_code: Some(Cow::Borrowed(options.country_code.as_str())),
        phone: given(&options.phone),
    };
    let rma = returns::identifier(&options.of.rma_identifier);
    match change_exchange_address(app, &actor(), merchant, &rma, &address, options.yes).await {
        Err(ChangeExchangeAddressError::NoSuchReturn) => return Err(options.of.unknown()),
        Err(ChangeExchangeAddressError::Unconfirmed(doubt)) => {
            let asked = confirm(&format!("Ask the merchant first: {doubt}. The order is asked for again all the same."), &rma);
            asked.with_context(|| doubt.to_string())?;
            change_exchange_address(app, &actor(), merchant, &rma, &address, true).await?;
        }
        done => done?,
    }
    app.forward_signals_now().await;
    Ok(())
}
