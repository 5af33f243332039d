//! Style sheets and scripts, built into the program and served under names that contain their hash, so that browsers keep them.

use std::sync::LazyLock;

use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::platform::content_hash::{KEPT_FOR_GOOD, content_hash};

/// A file that pages refer to.
pub(crate) struct Asset {
    media_type: &'static str,
    bytes: &'static [u8],
    /// The path under which it is served.
    pub(crate) path: String,
}

impl Asset {
    fn new(name: &str, extension: &str, media_type: &'static str, bytes: &'static [u8]) -> Self {
        Self { media_type, bytes, path: format!("/assets/{name}.{}.{extension}", content_hash(bytes)) }
    }
}

pub(crate) static PORTAL_STYLE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("portal", "css", "text/css; charset=utf-8", include_bytes!("../../../assets/portal.css")));
pub(crate) static PORTAL_SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("portal", "js", "text/javascript; charset=utf-8", include_bytes!("../../../assets/portal.js")));
pub(crate) static CONSOLE_STYLE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("console", "css", "text/css; charset=utf-8", include_bytes!("../../../assets/console.css")));
pub(crate) static CONSOLE_SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("console", "js", "text/javascript; charset=utf-8", include_bytes!("../../../assets/console.js")));
pub(crate) static DOCS_STYLE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("docs", "css", "text/css; charset=utf-8", include_bytes!("../../../assets/docs.css")));
pub(crate) static DOCS_SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("docs", "js", "text/javascript; charset=utf-8", include_bytes!("../../../assets/docs.js")));
pub(crate) static ICON: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("icon", "svg", "image/svg+xml", include_bytes!("../../../assets/icon.svg")));

/// The asset that is served under this name.
pub(crate) fn find(name: &str) -> Option<Response> {
    let known: [&Asset; 7] = [&PORTAL_STYLE, &PORTAL_SCRIPT, &CONSOLE_STYLE, &CONSOLE_SCRIPT, &DOCS_STYLE, &DOCS_SCRIPT, &ICON];
    let asset = known.into_iter().find(|asset| asset.path.strip_prefix("/assets/") == Some(name))?;
    Some(([(header::CONTENT_TYPE, asset.media_type), (header::CACHE_CONTROL, KEPT_FOR_GOOD)], asset.bytes).into_response())
}
