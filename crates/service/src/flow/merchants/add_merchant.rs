//! Adds a merchant, where there are several cells into one of them.
//!
//! Its place is reserved in the directory first, which gives the handle to one merchant among all cells. Then it is added in its cell,
//! and its place is confirmed. Whoever adds it again continues where this ended.

use domain::id::{Handle, MerchantId};
use domain::node::cell::CellState;
use futures::future::join_all;
use store::Failed;
use store::merchants::accounts;
use store::node::directory::{self, AddedCell, HANDLE_IS_PLACED_ONCE};

use super::configure_merchant::{ConfigureError, check_contact, record};
use crate::app::App;

/// A merchant to be added.
#[derive(Clone, Copy)]
pub struct NewMerchant<'a> {
    pub handle: &'a Handle,
    pub name: &'a str,
    pub technical_contact: Option<&'a str>,
    /// The cell in which it is to live; `None` leaves the choice to the directory.
    pub cell: Option<&'a str>,
}

/// Adds a merchant.
pub async fn add_merchant(
    app: &App,
    actor: &str,
    handle: &Handle,
    name: &str,
    technical_contact: Option<&str>,
) -> Result<MerchantId, ConfigureError> {
    add_merchant_to(app, actor, &NewMerchant { handle, name, technical_contact, cell: None }).await
}

/// Adds a merchant to a cell.
pub async fn add_merchant_to(app: &App, actor: &str, new: &NewMerchant<'_>) -> Result<MerchantId, ConfigureError> {
    check_contact(new.technical_contact)?;
    if !app.has_several_cells() {
        if let Some(cell) = new.cell.filter(|cell| *cell != app.place().name()) {
            return Err(ConfigureError::NoSuchCell(cell.to_owned()));
        }
        let merchant = MerchantId(app.mint());
        insert(app, actor, merchant, new).await?;
        return Ok(merchant);
    }
    let (merchant, cell) = reserve(app, new).await?;
    let there = app.of_name(&cell).ok_or(Failed::UnknownCell(cell))?;
    // A place that was reserved before may have its merchant already.
    if accounts::find(there.cell(), new.handle).await?.is_none_or(|known| known.id != merchant) {
        insert(&there, actor, merchant, new).await?;
    }
    let mut tx = app.begin_home().await?;
    directory::arrive(&mut tx, merchant).await?;
    app.commit_home(tx).await?;
    // This process may remember that nobody had the handle.
    app.directory.renew(app.home()).await?;
    Ok(merchant)
}

async fn insert(app: &App, actor: &str, merchant: MerchantId, new: &NewMerchant<'_>) -> Result<(), ConfigureError> {
    let mut tx = app.begin(merchant).await?;
    match accounts::insert(&mut tx, new.handle, new.name, new.technical_contact, app.now()).await {
        Err(failed) if failed.violates(accounts::HANDLE_IS_UNIQUE) => return Err(ConfigureError::HandleTaken(new.handle.clone())),
        done => done?,
    }
    record(app, &mut tx, actor, "merchant.added", new.handle.as_str()).await?;
    Ok(app.commit(tx).await?)
}

/// Reserves a place, or finds the one that was reserved for the same merchant before.
async fn reserve(app: &App, new: &NewMerchant<'_>) -> Result<(MerchantId, String), ConfigureError> {
    let taken = || ConfigureError::HandleTaken(new.handle.clone());
    match directory::find(app.home(), new.handle).await? {
        Some(place) if place.is_reserved => return Ok((place.merchant, place.cell)),
        Some(_) => return Err(taken()),
        // Merchants that were there before there were several cells have no place in the directory.
        None if accounts::find(app.home(), new.handle).await?.is_some() => return Err(taken()),
        None => {}
    }
    let cell = choose(app, new.cell).await?;
    let merchant = MerchantId(app.mint());
    let mut tx = app.begin_home().await?;
    match directory::reserve(&mut tx, merchant, new.handle, &cell, app.now()).await {
        Err(failed) if failed.violates(HANDLE_IS_PLACED_ONCE) => return Err(taken()),
        done => done?,
    }
    app.commit_home(tx).await?;
    Ok((merchant, cell))
}

fn state_of(added: &[AddedCell], name: &str) -> Option<CellState> {
    added.iter().find(|cell| cell.name == name).map(|cell| cell.state)
}

/// The cell for a new merchant: the one that is asked for, or [`open_cell`].
async fn choose(app: &App, asked_for: Option<&str>) -> Result<String, ConfigureError> {
    let added = directory::list_cells(app.home()).await?;
    let state = |name: &str| state_of(&added, name);
    if let Some(name) = asked_for {
        let cell = app.cells().iter().find(|cell| cell.name() == name);
        let is_home = cell.ok_or_else(|| ConfigureError::NoSuchCell(name.to_owned()))?.is_home();
        return match state(name) {
            Some(CellState::Open) => Ok(name.to_owned()),
            None if is_home => Ok(name.to_owned()),
            None => Err(ConfigureError::CellNotAdded(name.to_owned())),
            Some(CellState::Draining) => Err(ConfigureError::CellDrains(name.to_owned())),
        };
    }
    open_cell_of(app, &added).await
}

/// The open cell with the fewest merchants, of those that answer.
pub async fn open_cell(app: &App) -> Result<String, ConfigureError> {
    open_cell_of(app, &directory::list_cells(app.home()).await?).await
}

async fn open_cell_of(app: &App, added: &[AddedCell]) -> Result<String, ConfigureError> {
    let state = |name: &str| state_of(added, name);
    let is_open = |name: &str, is_home| state(name).map_or(is_home, |state| state == CellState::Open);
    let open: Vec<_> = app.cells().iter().filter(|cell| is_open(cell.name(), cell.is_home())).collect();
    let counting = open.iter().map(|cell| {
        let store = cell.store.clone();
        async move { directory::count_merchants(&store).await }
    });
    let counted = join_all(counting).await;
    let answered = open.into_iter().zip(counted).filter_map(|(cell, counted)| Some((counted.ok()?, cell)));
    let fewest = answered.min_by_key(|(merchants, _)| *merchants).ok_or(ConfigureError::NoOpenCell)?;
    Ok(fewest.1.name().to_owned())
}
