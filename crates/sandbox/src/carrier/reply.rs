//! The carrier's responses.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::header::{CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

use super::book::Refused;

/// The body of a response.
pub(super) type Content = http_body_util::combinators::MapErr<Full<Bytes>, fn(std::convert::Infallible) -> std::io::Error>;

/// A response: JSON, a PDF or a PNG.
pub(super) struct Reply {
    status: StatusCode,
    kind: HeaderValue,
    body: Bytes,
}

impl Reply {
    pub(super) fn json(status: StatusCode, body: &Value) -> Self {
        Self { status, kind: HeaderValue::from_static("application/json"), body: body.to_string().into() }
    }

    pub(super) fn pdf(body: Vec<u8>) -> Self {
        Self { status: StatusCode::OK, kind: HeaderValue::from_static("application/pdf"), body: body.into() }
    }

    pub(super) fn png(body: Vec<u8>) -> Self {
        Self { status: StatusCode::OK, kind: HeaderValue::from_static("image/png"), body: body.into() }
    }

    pub(super) fn error(status: StatusCode, code: &str, message: &str) -> Self {
        Self::errors(status, code, message, &[])
    }

    /// An error that lists the faulty fields.
    pub(super) fn errors(status: StatusCode, code: &str, message: &str, fields: &[String]) -> Self {
        let errors: Vec<Value> = fields.iter().map(|field| json!({"field": field, "message": "cannot be blank"})).collect();
        Self::json(status, &json!({"error": {"code": code, "message": message, "errors": errors}}))
    }

    pub(super) fn not_found() -> Self {
        Self::error(StatusCode::NOT_FOUND, "NOT_FOUND", "The requested resource could not be found.")
    }

    pub(super) fn unauthorized() -> Self {
        Self::error(StatusCode::UNAUTHORIZED, "APIKEY.INACTIVE", "This api key is not active.")
    }

    pub(super) fn broken() -> Self {
        Self::error(StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL_SERVER_ERROR", "The simulated carrier is set to fail.")
    }

    pub(super) fn unavailable() -> Self {
        Self::error(StatusCode::SERVICE_UNAVAILABLE, "SERVICE_UNAVAILABLE", "The simulated carrier is set to be unavailable.")
    }

    pub(super) fn refused(refused: Refused) -> Self {
        let (code, message) = match refused {
            Refused::NoShipment => return Self::not_found(),
            Refused::NoRate => ("SHIPMENT.INVALID_PARAMS", "The rate does not belong to this shipment."),
            Refused::Bought => ("SHIPMENT.POSTAGE.EXISTS", "Postage already exists for this shipment."),
            Refused::Void => ("SHIPMENT.POSTAGE.FAILURE", "The label of this shipment was refunded."),
            Refused::NoForm => ("SHIPMENT.FORM.UNAVAILABLE", "The carrier does not offer this form for this shipment."),
            Refused::NotBought => ("SHIPMENT.REFUND.UNAVAILABLE", "There is no postage to refund."),
            Refused::Refunded => ("SHIPMENT.REFUND.FAILURE", "The refund was submitted already."),
        };
        Self::error(StatusCode::UNPROCESSABLE_ENTITY, code, message)
    }

    /// Builds the HTTP response.
    pub(super) fn response(self) -> Response<Content> {
        let mut response = Response::new(Full::new(self.body).map_err(never as _));
        *response.status_mut() = self.status;
        response.headers_mut().insert(CONTENT_TYPE, self.kind);
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Basic"));
        }
        response
    }
}

fn never(never: std::convert::Infallible) -> std::io::Error {
    match never {}
}
