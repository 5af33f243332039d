//! The carrier's API: its routes and operations.

use hyper::{Method, StatusCode};
use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::book::{Book, Draft, Refused, Report};
use super::faults::Operation;
use super::label;
use super::qr_code;
use super::reply::Reply;
use super::shipment::{HEAVIEST, Shipment, missing};
use super::tracker::Status;

/// The maximum length of references and tracking numbers.
const LONGEST: usize = 100;

/// A route of the API.
pub(super) enum Route {
    Create,
    Find(String),
    Buy(String),
    Refund(String),
    Form(String),
    Track,
    Label(String),
    QrCode(String),
    Scan,
}

impl Route {
    pub(super) fn of(method: &Method, path: &str) -> Option<Self> {
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        match (method.as_str(), parts.as_slice()) {
            ("POST", ["v2", "shipments"]) => Some(Self::Create),
            ("GET", ["v2", "shipments", name]) => Some(Self::Find(decoded(name)?)),
            ("POST", ["v2", "shipments", name, "buy"]) => Some(Self::Buy(decoded(name)?)),
            ("POST", ["v2", "shipments", name, "refund"]) => Some(Self::Refund(decoded(name)?)),
            ("POST", ["v2", "shipments", name, "forms"]) => Some(Self::Form(decoded(name)?)),
            ("POST", ["v2", "trackers"]) => Some(Self::Track),
            ("GET", ["labels", file]) => Some(Self::Label(file.strip_suffix(".pdf")?.to_owned())),
            ("GET", ["qr_codes", file]) => Some(Self::QrCode(file.strip_suffix(".png")?.to_owned())),
            ("POST", ["sim", "scan"]) => Some(Self::Scan),
            _ => None,
        }
    }

    /// The operation for fault injection. `None` for the test control `/sim/scan`.
    pub(super) fn operation(&self) -> Option<Operation> {
        match self {
            Self::Create => Some(Operation::Create),
            Self::Find(_) => Some(Operation::Find),
            Self::Buy(_) => Some(Operation::Buy),
            Self::Refund(_) => Some(Operation::Refund),
            Self::Form(_) => Some(Operation::Form),
            Self::Track => Some(Operation::Track),
            Self::Label(_) => Some(Operation::Label),
            Self::QrCode(_) => Some(Operation::QrCode),
            Self::Scan => None,
        }
    }

    /// Returns whether the API key is required. Labels and QR codes are open to anyone who knows their URL.
    pub(super) fn needs_key(&self) -> bool {
        match self {
            Self::Create | Self::Find(_) | Self::Buy(_) | Self::Refund(_) | Self::Form(_) | Self::Track => true,
            Self::Label(_) | Self::QrCode(_) | Self::Scan => false,
        }
    }
}

fn decoded(name: &str) -> Option<String> {
    percent_decode_str(name).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

/// Carries out a request; `server` is the carrier's own URL.
pub(super) fn act(book: &mut Book, route: &Route, body: &[u8], server: &str) -> (Reply, Vec<Report>) {
    let body: Value = match serde_json::from_slice(body) {
        Ok(body) => body,
        Err(_) if body.is_empty() => Value::Null,
        Err(_) => return (Reply::error(StatusCode::BAD_REQUEST, "PARAMETER.INVALID", "The body is not JSON."), Vec::new()),
    };
    match route {
        Route::Create => (create(book, &body), Vec::new()),
        Route::Find(name) => (book.find(name).map_or_else(Reply::not_found, |found| ok(&book.json(found))), Vec::new()),
        Route::Buy(name) => match book.buy(name, word(&body, "/rate/id"), server) {
            Ok((shipment, reports)) => (ok(&shipment), reports),
            Err(refused) => (Reply::refused(refused), Vec::new()),
        },
        Route::Refund(name) => (book.refund(name).map_or_else(Reply::refused, |shipment| ok(&shipment)), Vec::new()),
        Route::Form(name) => match book.form(name, word(&body, "/form/type"), server) {
            Ok(shipment) => (Reply::json(StatusCode::CREATED, &shipment), Vec::new()),
            Err(refused) => (Reply::refused(refused), Vec::new()),
        },
        Route::Track => match word(&body, "/tracker/tracking_code") {
            code if code.is_empty() || code.len() > LONGEST => (blank("tracker", "tracking_code"), Vec::new()),
            code => {
                let (tracker, reports) = book.track(code);
                (Reply::json(StatusCode::CREATED, &tracker), reports)
            }
        },
        Route::Label(id) => (download(book, id, label::render, Reply::pdf), Vec::new()),
        Route::QrCode(id) => (download(book, id, qr_code::render, Reply::png), Vec::new()),
        Route::Scan => scan(book, &body),
    }
}

fn create(book: &mut Book, body: &Value) -> Reply {
    let field = |name: &str| body.pointer(&format!("/shipment/{name}")).cloned().unwrap_or_default();
    let (to_address, from_address, parcel) = (field("to_address"), field("from_address"), field("parcel"));
    let blank: Vec<String> = [("to_address", &to_address), ("from_address", &from_address)]
        .into_iter()
        .flat_map(|(name, address)| missing(address).into_iter().map(move |part| format!("{name}.{part}")))
        .collect();
    if !blank.is_empty() {
        let message = "An address is incomplete.";
        return Reply::errors(StatusCode::UNPROCESSABLE_ENTITY, "ADDRESS.PARAMETERS.INVALID", message, &blank);
    }
    let Some(ounces) = parcel.get("weight").and_then(Value::as_f64).filter(|ounces| *ounces > 0.0 && *ounces <= HEAVIEST) else {
        return self::blank("shipment", "parcel.weight");
    };
    if word(body, "/shipment/options/label_format") != "PDF" {
        let (message, field) = ("Labels are sold as PDFs only.", "options.label_format".to_owned());
        return Reply::errors(StatusCode::UNPROCESSABLE_ENTITY, "SHIPMENT.INVALID_PARAMS", message, &[field]);
    }
    let reference = field("reference").as_str().filter(|reference| !reference.is_empty()).map(str::to_owned);
    if reference.as_ref().is_some_and(|reference| reference.len() > LONGEST) {
        return Reply::error(StatusCode::UNPROCESSABLE_ENTITY, "SHIPMENT.INVALID_PARAMS", "The reference is too long.");
    }
    let is_return = field("is_return").as_bool().unwrap_or_default();
    let shipment = book.create(Draft { reference, is_return, to_address, from_address, parcel, ounces });
    Reply::json(StatusCode::CREATED, &shipment)
}

fn download(book: &Book, id: &str, render: fn(&Shipment) -> Option<Vec<u8>>, reply: fn(Vec<u8>) -> Reply) -> Reply {
    let found = book.find(id).filter(|shipment| shipment.id == id);
    found.and_then(render).map_or_else(Reply::not_found, reply)
}

fn scan(book: &mut Book, body: &Value) -> (Reply, Vec<Report>) {
    let Ok(status) = word(body, "/status").parse::<Status>() else {
        return (blank("scan", "status"), Vec::new());
    };
    match book.scan(word(body, "/tracking_code"), status) {
        None => (Reply::refused(Refused::NoShipment), Vec::new()),
        Some(report) => (ok(&report.event), vec![report]),
    }
}

fn ok(body: &Value) -> Reply {
    Reply::json(StatusCode::OK, body)
}

fn blank(object: &str, field: &str) -> Reply {
    let code = format!("{}.INVALID_PARAMS", object.to_uppercase());
    Reply::errors(StatusCode::UNPROCESSABLE_ENTITY, &code, "A parameter is missing or wrong.", &[field.to_owned()])
}

fn word<'a>(body: &'a Value, pointer: &str) -> &'a str {
    body.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_name_in_a_path_may_be_encoded() {
        let route = Route::of(&Method::GET, "/v2/shipments/RMA%2F1%201");
        assert!(matches!(route, Some(Route::Find(name)) if name == "RMA/1 1"));
        assert!(Route::of(&Method::GET, "/v2/shipments/%ff").is_none());
        assert!(Route::of(&Method::GET, "/v2/shipments").is_none());
        assert!(Route::of(&Method::GET, "/labels/shp_1.png").is_none());
    }

    #[test]
    fn a_shipment_without_a_weight_is_refused() {
        let address = json!({"name": "Ada", "street1": "1 Main St", "city": "Reno", "zip": "89501", "country": "US"});
        for weight in [json!(null), json!(0), json!(-1), json!("16"), json!(HEAVIEST + 1.0)] {
            let (parcel, options) = (json!({"weight": weight}), json!({"label_format": "PDF"}));
            let body = json!({"shipment": {"to_address": address, "from_address": address, "parcel": parcel, "options": options}});
            let mut book = Book::new(b"", 10);
            let (reply, _) = act(&mut book, &Route::Create, body.to_string().as_bytes(), "");
            assert_eq!(reply.response().status(), 422, "{weight}");
            assert_eq!(book.shipments().count(), 0);
        }
    }
}
