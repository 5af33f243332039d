//! Merchants' own host names. `returns.acme.example/items` is the page `/r/acme/items` of the portal, and on that host its pages link
//! to each other without `/r/acme`.
//!
//! A router finds a page by its path, so the path is rewritten before any router sees it.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::Uri;
use axum::http::header::HOST;
use axum::http::uri::{Authority, PathAndQuery};
use axum::response::Response;
use store::Failed;
use tower::ServiceExt as _;

use super::error::{ApiError, ErrorFormat};
use super::rate;
use crate::app::App;
use crate::platform::host_name::HostName;

/// The first segment of the paths of merchants' pages.
const PAGES: &str = "r";
/// The first segments of paths that are the same for all merchants and on every host.
const SHARED: [&str; 2] = ["assets", "favicon.ico"];

/// The mark of a request that came to a merchant's own host name without `/r/{handle}`. Its page links without that prefix too, and
/// its cookies are for every path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnHost;

/// The routers behind a listener.
#[derive(Clone)]
struct Sites {
    app: App,
    portal: Router,
    api: Option<Api>,
}

/// The API on the portal's listener.
#[derive(Clone)]
pub(super) struct Api {
    pub(super) router: Router,
    /// The first segments of its paths. They are the API's on every host name, so that its callers never wait for a host to be looked
    /// up.
    pub(super) segments: Arc<[String]>,
}

/// The router of a listener for the portal alone.
pub fn serve(app: &App, portal: Router) -> Router {
    Router::new().fallback(dispatch).with_state(Sites { app: app.clone(), portal, api: None })
}

/// The router of a listener for the API and the portal.
pub(super) fn serve_beside(api: Api, app: &App, portal: Router) -> Router {
    Router::new().fallback(dispatch).with_state(Sites { app: app.clone(), portal, api: Some(api) })
}

/// Rewrites the path if the host is a merchant's own, and has the request's router answer.
async fn dispatch(State(sites): State<Sites>, mut request: Request) -> Result<Response, Infallible> {
    let segment = first_segment(request.uri().path());
    if let Some(api) = sites.api.as_ref().filter(|api| api.segments.iter().any(|of_api| of_api == segment)) {
        return api.router.clone().oneshot(request).await;
    }
    let is_portals = segment == PAGES || SHARED.contains(&segment);
    match rewrite(&sites.app, &mut request).await {
        Ok(is_own) => match sites.api {
            Some(api) if !is_portals && !is_own => api.router.oneshot(request).await,
            Some(_) | None => sites.portal.oneshot(request).await,
        },
        Err(failed) => {
            let (error, id) = (ApiError::from(failed), sites.app.mint().simple().to_string());
            error.log(&id, "own host");
            Ok(error.respond(&id, ErrorFormat::accepted_by(request.headers())))
        }
    }
}

/// Rewrites the path of a request to a merchant's own host. Returns false if the host is nobody's, or the path is right already.
async fn rewrite(app: &App, request: &mut Request) -> Result<bool, Failed> {
    // A shared path needs no host. For any other, the host is looked up in the database, so an address that sends too much is refused
    // first; the router behind says so.
    if SHARED.contains(&first_segment(request.uri().path())) || !rate::may_look_up(app, request) {
        return Ok(false);
    }
    let Some(host) = host(request) else { return Ok(false) };
    let Some(handle) = app.shops.find_by_host(app, &host).await? else { return Ok(false) };
    let Some(uri) = rewritten(request.uri(), &handle) else { return Ok(false) };
    *request.uri_mut() = uri;
    request.extensions_mut().insert(OwnHost);
    Ok(true)
}

/// The host that a request names: in its target, as HTTP/2 and proxies write it, or in the header.
fn host(request: &Request) -> Option<HostName> {
    let header = || request.headers().get(HOST)?.to_str().ok();
    let named = request.uri().authority().map(Authority::as_str).or_else(header)?;
    let has_port = |(_, port): &(&str, &str)| port.bytes().all(|b| b.is_ascii_digit());
    named.rsplit_once(':').filter(has_port).map_or(named, |(host, _)| host).parse().ok()
}

/// The same address below `/r/{handle}`, unless it is there already.
fn rewritten(uri: &Uri, handle: &str) -> Option<Uri> {
    let path = uri.path();
    let mut segments = path.strip_prefix('/')?.split('/');
    if (segments.next(), segments.next()) == (Some(PAGES), Some(handle)) {
        return None;
    }
    let below = if path == "/" { "" } else { path };
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(format!("/{PAGES}/{handle}{below}{query}")).ok()?);
    Uri::from_parts(parts).ok()
}

/// The first segment of a path.
pub(super) fn first_segment(path: &str) -> &str {
    path.split('/').nth(1).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn a_path_is_moved_below_the_merchants() {
        for (asked, served) in [
            ("/", Some("/r/acme")),
            ("/?order=1", Some("/r/acme?order=1")),
            ("/items", Some("/r/acme/items")),
            ("/items/2?lang=de&x=%2F", Some("/r/acme/items/2?lang=de&x=%2F")),
            ("/r", Some("/r/acme/r")),
            ("/r/bolt", Some("/r/acme/r/bolt")),
            ("/r/acme-2", Some("/r/acme/r/acme-2")),
            ("/r/acme", None),
            ("/r/acme/items", None),
            ("*", None),
        ] {
            let moved = rewritten(&asked.parse().unwrap(), "acme");
            assert_eq!(moved.map(|uri| uri.to_string()).as_deref(), served, "{asked}");
        }
        let absolute = rewritten(&"https://returns.example.com/items".parse().unwrap(), "acme").unwrap();
        assert_eq!(absolute.to_string(), "https://returns.example.com/r/acme/items");
    }

    #[test]
    fn the_host_is_read_from_the_target_or_the_header() {
        let read = |uri: &str, header: &str| {
            let request = Request::builder().uri(uri).header(HOST, header).body(Body::empty()).unwrap();
            host(&request).map(|host| host.to_string())
        };
        for (header, name) in [
            ("returns.acme.example", Some("returns.acme.example")),
            ("Returns.ACME.example:8443", Some("returns.acme.example")),
            ("returns.acme.example.", Some("returns.acme.example")),
            ("returns.acme.example.:443", Some("returns.acme.example")),
            ("xn--rcksendung-9db.example", Some("xn--rcksendung-9db.example")),
            ("127.0.0.1:8080", None),
            ("[2001:db8::1]:8080", None),
            ("[2001:db8::1]", None),
            ("localhost:8080", None),
            ("returns.acme.example:http", None),
            ("", None),
        ] {
            assert_eq!(read("/", header).as_deref(), name, "{header}");
        }
        assert_eq!(read("https://bolt.example:443/", "acme.example").as_deref(), Some("bolt.example"), "the target counts more");
    }

    #[test]
    fn the_first_segment_decides_whose_path_it_is() {
        assert_eq!(["/", "/r", "/r/acme", "/v1/orders/1", "*", ""].map(first_segment), ["", "r", "r", "v1", "", ""]);
    }
}
