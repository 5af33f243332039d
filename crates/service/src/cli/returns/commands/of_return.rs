//! The arguments that name a return.

use clap::Args;

use crate::cli::context::OfMerchant;

#[derive(Args)]
pub(in crate::cli) struct OfReturn {
    #[command(flatten)]
    pub(super) merchant: OfMerchant,
    /// The return's identifier; case and hyphens do not matter: `r7kq4xm92`.
    pub(super) rma_identifier: String,
}

impl OfReturn {
    /// The error for an unknown return.
    pub(super) fn unknown(&self) -> anyhow::Error {
        let Self { merchant, rma_identifier } = self;
        anyhow::anyhow!("{merchant} has no return {rma_identifier}; `backhaul returns list --merchant {merchant}` lists its returns")
    }
}
