//! Where there are several cells, sends a request to the router of its merchant's cell. Where there is one, nothing is in front of the
//! router.
//!
//! Each router works with the app of its cell, so handlers do not know of cells. Whatever names no merchant is answered by the first
//! cell, which also says what is wrong with a request.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use domain::id::{Handle, MerchantId};
use store::Failed;
use tower::ServiceExt as _;
use uuid::Uuid;

use super::caller::bearer_token;
use super::rate;
use crate::app::App;
use crate::platform::keys::bearer;

/// The path below which carriers' webhooks name the merchant's account.
const CARRIER_WEBHOOKS: &str = "/v1/carrier_webhooks/";
/// The first segments of the console's paths that are followed by a merchant's handle.
const CONSOLE: [&str; 2] = ["merchants", "cases"];
/// The first segment of the portal's paths that is followed by a merchant's handle.
const PORTAL: [&str; 1] = ["r"];
/// The parameter with which the console's lists are about one merchant.
const FILTER: &str = "merchant";

/// How requests name their merchant.
#[derive(Clone, Copy)]
pub(super) enum Named {
    /// By an access token, or as the account of a carrier's webhook.
    ByToken,
    /// By a handle at the beginning of the path.
    InPortal,
    /// By a handle in the path, or as the filter of a list.
    InConsole,
}

/// The mark of a request whose cell could not be found out, so that it is refused.
#[derive(Clone)]
pub(super) struct Unplaced(pub(super) Failed);

/// The merchant in whose cell a request is answered.
enum Place {
    /// It names none.
    Nowhere,
    OfMerchant(MerchantId),
    OfHandle(Handle),
}

/// The routers of all cells.
#[derive(Clone)]
struct Cells {
    app: App,
    named: Named,
    routers: Arc<[Router]>,
}

/// The router that `of_cell` makes; where there are several cells, one for each of them behind a router that chooses.
pub(super) fn router(app: &App, named: Named, of_cell: impl Fn(&App) -> Router) -> Router {
    if !app.has_several_cells() {
        return of_cell(app);
    }
    let routers = app.of_each_cell().iter().map(of_cell).collect();
    Router::new().fallback(choose).with_state(Cells { app: app.clone(), named, routers })
}

/// Has the router of the request's cell answer.
async fn choose(State(cells): State<Cells>, mut request: Request) -> Result<Response, Infallible> {
    // An address that sends too much looks nothing up. The router says so.
    let named = if rate::may_look_up(&cells.app, &mut request) { cells.named_by(&request) } else { Place::Nowhere };
    let found = match named {
        Place::Nowhere => Ok(0),
        Place::OfMerchant(merchant) => cells.app.cell_of(merchant).await,
        Place::OfHandle(handle) => cells.app.cell_of_handle(&handle).await,
    };
    let number = found.unwrap_or_else(|failed| {
        request.extensions_mut().insert(Unplaced(failed));
        0
    });
    let router = cells.routers.get(number).or(cells.routers.first()).cloned().unwrap_or_default();
    router.oneshot(request).await
}

impl Cells {
    /// The merchant that a request names.
    fn named_by(&self, request: &Request) -> Place {
        let path = request.uri().path();
        let handle = match self.named {
            Named::ByToken => return self.merchant_of(request).map_or(Place::Nowhere, Place::OfMerchant),
            Named::InPortal => handle_in(path, &PORTAL),
            Named::InConsole => handle_in(path, &CONSOLE).or_else(|| filtered(request.uri().query())),
        };
        handle.map_or(Place::Nowhere, Place::OfHandle)
    }

    /// The merchant of the account or the token that a request names. Nobody knows yet if the caller is who it says.
    fn merchant_of(&self, request: &Request) -> Option<MerchantId> {
        match request.uri().path().strip_prefix(CARRIER_WEBHOOKS) {
            Some(account) => account.parse::<Uuid>().ok().map(MerchantId),
            None => bearer::merchant_of(&bearer_token(request.headers())?, &self.app.fingerprints),
        }
    }
}

/// The handle that follows one of these segments at the beginning of a path.
fn handle_in(path: &str, after: &[&str]) -> Option<Handle> {
    let mut segments = path.strip_prefix('/')?.split('/');
    segments.next().filter(|first| after.contains(first))?;
    segments.next()?.parse().ok()
}

/// The handle of the merchant to whom a list is restricted.
fn filtered(query: Option<&str>) -> Option<Handle> {
    let pairs: Vec<(String, String)> = serde_urlencoded::from_str(query?).ok()?;
    pairs.into_iter().find(|(name, _)| name == FILTER)?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_its_merchant_after_the_first_segment() {
        for (path, handle) in [
            ("/merchants/acme", Some("acme")),
            ("/merchants/acme/endpoints/rma", Some("acme")),
            ("/cases/acme/overdue", Some("acme")),
            ("/merchants", None),
            ("/merchants/", None),
            ("/merchants/%61cme", None),
            ("/reports/acme", None),
            ("/", None),
            ("*", None),
        ] {
            assert_eq!(handle_in(path, &CONSOLE).map(|handle| handle.to_string()).as_deref(), handle, "{path}");
        }
    }

    #[test]
    fn a_list_may_be_about_one_merchant() {
        for (query, handle) in
            [(Some("state=open&merchant=acme"), Some("acme")), (Some("merchant="), None), (Some("a=b"), None), (None, None)]
        {
            assert_eq!(filtered(query).map(|handle| handle.to_string()).as_deref(), handle, "{query:?}");
        }
    }
}
