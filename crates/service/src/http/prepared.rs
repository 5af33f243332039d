//! A document that never changes while the process runs: compressed once, and named by its content.

use std::io::Write as _;

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::platform::content_hash::content_hash;

/// The time for which nobody has to ask again: short enough that a new version is noticed.
const KEPT: &str = "public, max-age=300";

/// A document in both of its forms.
pub(super) struct Prepared {
    media_type: &'static str,
    plain: Form,
    /// None if compressing failed.
    packed: Option<Form>,
}

struct Form {
    bytes: Bytes,
    /// The name of these bytes, for `ETag`.
    tag: String,
}

impl Prepared {
    /// Prepares a document that is known for good.
    pub(super) fn new(media_type: &'static str, document: impl Into<Bytes>) -> Self {
        let (bytes, mut encoder) = (document.into(), GzEncoder::new(Vec::new(), Compression::best()));
        let packed = encoder.write_all(&bytes).and_then(|()| encoder.finish());
        let hash = content_hash(&bytes);
        let packed = packed.ok().map(|bytes| Form { tag: format!("\"{hash}-gzip\""), bytes: bytes.into() });
        Self { media_type, plain: Form { bytes, tag: format!("\"{hash}\"") }, packed }
    }

    /// Answers with the form that the caller accepts, or says that the caller has it.
    pub(super) fn answer(&self, headers: &HeaderMap) -> Response {
        let list =
            |name| headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).map(str::trim);
        let forms = [Some(&self.plain), self.packed.as_ref()];
        let known = forms
            .into_iter()
            .flatten()
            .find(|form| list(header::IF_NONE_MATCH).any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == form.tag));
        let packed = self.packed.as_ref().filter(|_| list(header::ACCEPT_ENCODING).any(is_gzip));
        let (status, form) = match known {
            Some(form) => (StatusCode::NOT_MODIFIED, form),
            None => (StatusCode::OK, packed.unwrap_or(&self.plain)),
        };
        let kept = [(header::ETAG, form.tag.as_str()), (header::CACHE_CONTROL, KEPT), (header::VARY, "accept-encoding")];
        if known.is_some() {
            return (status, kept).into_response();
        }
        let mut answer = (status, kept, [(header::CONTENT_TYPE, self.media_type)], Body::from(form.bytes.clone())).into_response();
        if packed.is_some() {
            answer.headers_mut().insert(header::CONTENT_ENCODING, header::HeaderValue::from_static("gzip"));
        }
        answer
    }
}

/// True for an entry of `Accept-Encoding` that allows gzip.
fn is_gzip(entry: &str) -> bool {
    let mut parts = entry.split(';').map(str::trim);
    let is_named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
    let is_refused = parts.filter_map(|part| part.strip_prefix("q=")).any(|weight| weight.parse().is_ok_and(|weight: f32| weight <= 0.0));
    is_named && !is_refused
}
