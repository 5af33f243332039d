//! `backhaul endpoint reseal` and `backhaul carrier reseal`: of one merchant, or of all of them one after the other.

use std::io::IsTerminal as _;

use anyhow::bail;
use clap::Args;
use domain::id::{Handle, MerchantId};
use indicatif::{ProgressBar, ProgressDrawTarget};
use store::merchants::accounts;

use super::context::{actor, find_merchant};
use super::output;
use crate::app::App;
use crate::flow::messages::configure_endpoint::reseal_endpoints;
use crate::flow::returns::configure_carrier::reseal_carrier;

/// The merchant whose secrets are resealed.
#[derive(Args)]
pub(super) struct Reseal {
    /// The merchant's handle; every merchant if left out.
    #[arg(long, value_name = "HANDLE", env = "BACKHAUL_MERCHANT", hide_env_values = true)]
    merchant: Option<Handle>,
}

/// The secrets that are resealed.
#[derive(Clone, Copy)]
pub(super) enum Secrets {
    OfEndpoints,
    OfCarriers,
}

/// Reseals, and returns how many. Of all merchants, each is a transaction of its own: what was done stays when one fails, and the
/// command can be repeated.
pub(super) async fn run(app: &App, asked: &Reseal, secrets: Secrets) -> anyhow::Result<usize> {
    if let Some(handle) = &asked.merchant {
        return reseal(app, find_merchant(app, handle).await?.id, secrets).await;
    }
    let mut merchants = Vec::new();
    for cell in app.of_each_cell() {
        merchants.extend(accounts::list(cell.cell()).await?.into_iter().map(|merchant| (cell.clone(), merchant)));
    }
    let bar = ProgressBar::with_draw_target(Some(u64::try_from(merchants.len())?), ProgressDrawTarget::stderr());
    let (mut resealed, mut failed) = (0, Vec::new());
    for (cell, merchant) in &merchants {
        match reseal(cell, merchant.id, secrets).await {
            Ok(count) => resealed += count,
            Err(error) => failed.push(format!("{}: {}", merchant.handle, output::told(&error))),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if !std::io::stderr().is_terminal() {
        output::note(&format!("{} looked at.", output::counted(merchants.len(), "merchant")));
    }
    if failed.is_empty() {
        return Ok(resealed);
    }
    bail!("{resealed} were resealed, but not those of {}; mend this and run the command again", failed.join("; "))
}

async fn reseal(app: &App, merchant: MerchantId, secrets: Secrets) -> anyhow::Result<usize> {
    Ok(match secrets {
        Secrets::OfEndpoints => reseal_endpoints(app, &actor(), merchant).await?,
        Secrets::OfCarriers => usize::from(reseal_carrier(app, &actor(), merchant).await?),
    })
}
