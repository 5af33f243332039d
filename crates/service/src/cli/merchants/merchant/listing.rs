//! `backhaul merchant list`: the merchants of all cells, by handle.

use domain::id::Handle;
use futures::future::try_join_all;
use serde::Serialize;
use store::Failed;
use store::merchants::accounts::{self, Merchant};

use super::shown::MerchantOut;
use crate::app::App;
use crate::cli::output::{self, Format};
use crate::cli::page::PageArgs;
use crate::show::merchants::handles::by_handle;

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
    let of_cells = try_join_all(apps.iter().map(|app| in_cell(app, &after, page.most()))).await?;
    let mut found = by_handle(app, of_cells, |found| &found.merchant.handle).await?;
    let next = page.cut(&mut found, |last| last.merchant.handle.clone());
    let several = apps.len() > 1;
    let listed =
        found.into_iter().map(|Found { merchant, cell }| ListedMerchant { merchant: merchant.into(), cell: several.then_some(cell) });
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

/// A merchant in the cell in which it lives.
struct Found {
    merchant: Merchant,
    cell: String,
}

/// The merchants of a page that live in the cell of `app`. One that is moving is in two cells, and lives in one.
async fn in_cell(app: &App, after: &str, most: i64) -> Result<Vec<Found>, Failed> {
    let mut found = Vec::new();
    for merchant in accounts::page(app.cell(), after, most).await? {
        if app.is_cell_of(merchant.id).await? {
            found.push(Found { merchant, cell: app.place().name().to_owned() });
        }
    }
    Ok(found)
}
