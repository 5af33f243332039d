//! `backhaul merchant list`: the merchants of all cells, by handle.

use domain::id::Handle;
use serde::Serialize;
use store::Failed;
use store::merchants::accounts::{self, Merchant};

use super::shown::MerchantOut;
use crate::app::App;
use crate::cli::output::{self, Format};
use crate::cli::page::PageArgs;

/// A merchant, and where it lives if there are several cells.
#[derive(Serialize)]
struct ListedMerchant {
    #[serde(flatten)]
    merchant: MerchantOut,
    #[serde(skip_serializing_if = "Option::is_none")]
    cell: Option<String>,
}

pub(super) async fn list(app: &App, page: &PageArgs, format: Format) -> anyhow::Result<()> {
    let after: Option<Handle> = page.place()?;
    let after = after.map_or_else(String::new, |after| after.to_string());
    let apps = app.of_each_cell();
    let mut found = Vec::new();
    for app in &apps {
        found.extend(in_cell(app, &after, page.most()).await?);
    }
    found.sort_by(|a, b| (&a.merchant.handle, !a.lives_here).cmp(&(&b.merchant.handle, !b.lives_here)));
    found.dedup_by_key(|found| found.merchant.id);
    let next = page.cut(&mut found, |last| last.merchant.handle.clone());
    let several = apps.len() > 1;
    let listed =
        found.into_iter().map(|Found { merchant, cell, .. }| ListedMerchant { merchant: merchant.into(), cell: several.then_some(cell) });
    let merchants: Vec<ListedMerchant> = listed.collect();
    let empty = "There are no merchants yet; `backhaul merchant add HANDLE --name NAME` adds one.";
    let mut headers = vec!["HANDLE", "NAME", "STATE", "CREATED"];
    headers.extend(several.then_some("CELL"));
    output::page(format, &merchants, next.as_deref(), empty, &headers, |shown| {
        let ListedMerchant { merchant, cell } = shown;
        let mut row = vec![merchant.handle.clone(), merchant.name.clone(), merchant.state.to_owned(), merchant.created_at.clone()];
        row.extend(cell.clone());
        row
    })
}

/// A merchant in a cell. One that is moving is in two of them, and lives in one.
struct Found {
    merchant: Merchant,
    cell: String,
    lives_here: bool,
}

async fn in_cell(app: &App, after: &str, most: i64) -> Result<Vec<Found>, Failed> {
    let mut found = Vec::new();
    for merchant in accounts::page(app.cell(), after, most).await? {
        let lives_here = app.is_cell_of(merchant.id).await?;
        found.push(Found { merchant, cell: app.place().name().to_owned(), lives_here });
    }
    Ok(found)
}
