//! `backhaul shopper find`: the numbers of a shopper's orders and returns, over all merchants. The e-mail address is looked up by its
//! fingerprint and is not printed.

use anyhow::bail;
use clap::Args;

use crate::app::App;
use crate::cli::orders::find::{FoundOut, show};
use crate::cli::output::Format;
use crate::show::merchants::search;

#[derive(Args)]
pub(in crate::cli) struct Find {
    /// The shopper's e-mail address.
    email: String,
}

pub(super) async fn run(app: &App, asked: &Find, format: Format) -> anyhow::Result<()> {
    let email = asked.email.trim();
    if !email.contains('@') {
        bail!("this is no e-mail address; `backhaul orders find` finds orders and returns by their numbers");
    }
    let fingerprints: Vec<Vec<u8>> = app.fingerprints.emails(email).iter().map(|print| print.to_vec()).collect();
    let rows = FoundOut::all(search::by_email(app, &fingerprints).await?);
    show(&rows, "No merchant has an order of this shopper.", format)
}
