//! `backhaul openapi`: which OpenAPI document is printed.

use clap::Args;

#[derive(Args)]
pub(in crate::cli) struct Openapi {
    /// Print the document of the operator API instead of that of the merchants' API.
    #[arg(long)]
    pub(in crate::cli) operator: bool,
}
