//! `backhaul cell list`: the cells of the settings and of the directory.

use futures::future::join_all;
use serde::Serialize;
use store::Failed;
use store::node::{cells, directory};

use crate::app::App;
use crate::cli::output::{self, Format};
use crate::node::cell::Cell;

const BYTES_PER_MB: i64 = 1_000_000;

#[derive(Serialize)]
struct CellOut {
    name: String,
    /// `open`, `draining`, `not added`, or `unknown` if merchants live there and the settings do not name it.
    state: &'static str,
    server: Option<String>,
    pending_migrations: Option<usize>,
    merchants: Option<i64>,
    bytes: Option<i64>,
    /// The reason that the cell does not answer.
    error: Option<String>,
}

/// What a cell says of itself.
struct Told {
    pending_migrations: usize,
    merchants: i64,
    bytes: i64,
}

pub(super) async fn list(app: &App, format: Format) -> anyhow::Result<()> {
    let added = directory::list_cells(app.home()).await?;
    let asked = join_all(app.cells().iter().cloned().map(ask)).await;
    let mut found: Vec<CellOut> = Vec::new();
    for (cell, told) in app.cells().iter().zip(asked) {
        let state = added.iter().find(|added| added.name == cell.name()).map(|added| added.state.as_str());
        let (told, error) = match told {
            Ok(told) => (Some(told), None),
            Err(failed) => (None, Some(failed.to_string())),
        };
        found.push(CellOut {
            name: cell.name().to_owned(),
            state: state.unwrap_or(if cell.is_home() { "open" } else { "not added" }),
            server: Some(server(cell)),
            pending_migrations: told.as_ref().map(|told| told.pending_migrations),
            merchants: told.as_ref().map(|told| told.merchants),
            bytes: told.as_ref().map(|told| told.bytes),
            error,
        });
    }
    for (name, merchants) in directory::count_places(app.home()).await? {
        if !found.iter().any(|cell| cell.name == name) {
            let error = Some("merchants live there, but the settings do not name it; add it to `[[cells]]`".to_owned());
            found.push(CellOut {
                name,
                state: "unknown",
                server: None,
                pending_migrations: None,
                merchants: Some(merchants),
                bytes: None,
                error,
            });
        }
    }
    let headers = ["CELL", "STATE", "SERVER", "SCHEMA", "MERCHANTS", "SIZE", "ERROR"];
    output::list(format, &found, "", &headers, |cell| {
        let schema = match cell.pending_migrations {
            None => String::new(),
            Some(0) => "up to date".to_owned(),
            Some(pending) => format!("{pending} behind"),
        };
        vec![
            cell.name.clone(),
            cell.state.to_owned(),
            cell.server.clone().unwrap_or_default(),
            schema,
            cell.merchants.map(|merchants| merchants.to_string()).unwrap_or_default(),
            cell.bytes.map(|bytes| format!("{} MB", bytes / BYTES_PER_MB)).unwrap_or_default(),
            cell.error.clone().unwrap_or_default(),
        ]
    })
}

/// The server that holds the cell, and its database there.
fn server(cell: &Cell) -> String {
    let target = cell.store.target();
    format!("{}/{}", target.host, target.database)
}

async fn ask(cell: Cell) -> Result<Told, Failed> {
    let pending_migrations = cell.store.pending_migrations().await?;
    if cell.store.mode().await?.is_none() {
        return Ok(Told { pending_migrations, merchants: 0, bytes: 0 });
    }
    let merchants = directory::count_merchants(&cell.store).await?;
    Ok(Told { pending_migrations, merchants, bytes: cells::size(&cell.store).await? })
}
