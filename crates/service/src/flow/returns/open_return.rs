//! Opens a return by the link in a mail about it. Mail programs open links to check them, and shoppers open a mail again and again, so a
//! link is not used up.

use domain::returns::portal::Proof;
use secrecy::{ExposeSecret as _, SecretString};
use store::Failed;
use store::merchants::accounts::Merchant;
use store::returns::portal_sessions;
use store::returns::return_links::{self, Linked};

use super::find_order::{Reach, new_session};
use crate::app::App;
use crate::platform::keys::bearer;

/// The return that a link opens; `None` if the link does not work.
pub async fn find_linked(app: &App, merchant: &Merchant, link: &SecretString) -> Result<Option<Linked>, Failed> {
    if merchant.paused_at.is_some() {
        return Ok(None);
    }
    return_links::find(app.store(merchant.id), merchant.id, &bearer::hash(link.expose_secret()), app.now()).await
}

/// Opens a session for the return of a link, and for nothing else. Returns the session's secret and the return.
pub async fn open_return(app: &App, merchant: &Merchant, link: &SecretString) -> Result<Option<(SecretString, String)>, Failed> {
    let Some(Linked { rma, order }) = find_linked(app, merchant, link).await? else { return Ok(None) };
    let (secret, session) = new_session(app, &order, Proof::ReturnLink, Reach::Return(&rma));
    portal_sessions::start(app.store(merchant.id), merchant.id, &bearer::hash(secret.expose_secret()), &session).await?;
    Ok(Some((secret, rma)))
}
