//! The feed of messages: `/v1/events`.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::messages::feed::{Cursor, FormerPosition, Position};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

/// The starting point when there is no cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// At the oldest event that is kept.
    Beginning,
    /// At the first event from now on.
    Now,
}

/// Query parameters for reading the feed.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct EventsQuery {
    /// Starting point when there is no cursor: `beginning` (the default) or `now`.
    #[param(required = false, inline)]
    pub from: Option<Start>,
    /// Only events of this interface, such as `rma`. A page may then hold few events or none although there are more.
    #[param(required = false)]
    pub interface: Option<String>,
}

/// Query parameters for following the feed live.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct StreamQuery {
    /// Cursor to start after. The header `Last-Event-ID` takes precedence.
    #[param(required = false)]
    pub cursor: Option<String>,
    /// Starting point when there is no cursor: `now` (the default) or `beginning`.
    #[param(required = false, inline)]
    pub from: Option<Start>,
    /// Only events of this interface, such as `rma`.
    #[param(required = false)]
    pub interface: Option<String>,
}

/// A message to the merchant, as an event of the feed.
#[derive(Serialize, ToSchema)]
#[schema(as = Event)]
pub struct EventOut<'a> {
    /// Message id, as in the header `webhook-id`.
    pub id: String,
    /// Position in the merchant's feed: 1, 2, 3 … without a gap, in the order in which messages were committed.
    pub position: i64,
    /// Event name, such as `rma.created`.
    pub event: &'a str,
    /// Interface, such as `rma`.
    pub interface: &'static str,
    /// Subject of the message: a return, an order, an ASN number or a unit.
    pub subject: &'a str,
    /// Position within the subject, from 1. A higher number is later.
    pub sequence: i64,
    /// Time the message was written.
    pub created_at: String,
    /// The body, exactly as delivered.
    #[schema(value_type = Object)]
    pub body: &'a RawValue,
}

/// Why a live feed ends, as the data of the last event `feed.refused`.
#[derive(Serialize)]
pub struct FeedRefused<'a> {
    /// The status that the cursor is answered with from now on: 409 or 410.
    pub status: u16,
    /// The problem, and how to go on.
    pub message: &'a str,
}

/// An event of the feed, as whoever follows it reads it. It has no `Debug` because the body holds personal data.
#[derive(Deserialize)]
pub struct EventIn {
    /// Message id, as in the header `webhook-id`.
    pub id: uuid::Uuid,
    /// Event name, such as `rma.created`.
    pub event: String,
    /// Interface, such as `rma`.
    pub interface: String,
    /// Subject of the message: a return, an order, an ASN number or a unit.
    pub subject: String,
    /// Position within the subject, from 1.
    pub sequence: i64,
    /// The body, exactly as delivered.
    pub body: Box<RawValue>,
}

/// Reads the data of an event of the live feed; `None` if it is not one.
#[must_use]
pub fn read(data: &str) -> Option<EventIn> {
    serde_json::from_str(data).ok()
}

impl EventIn {
    /// True for a message whose shopper was erased, and the content with them.
    #[must_use]
    pub fn is_erased(&self) -> bool {
        #[derive(Deserialize)]
        struct Erased {
            erased: bool,
        }
        serde_json::from_str::<Erased>(self.body.get()).is_ok_and(|body| body.erased)
    }
}

/// A page of the feed.
#[derive(Serialize, ToSchema)]
pub struct Events<'a> {
    /// The events, in the order of the feed.
    pub items: Vec<EventOut<'a>>,
    /// Pass it as `cursor` to get the next page; null if there are no more events at the moment.
    pub next: Option<String>,
    /// Cursor of the end of this page. It is always present: store it, and pass it as `cursor` to read on later.
    pub cursor: String,
}

/// The first byte of a cursor: a position of the version before, or a number.
const FORMER: u8 = 1;
const NUMBERED: u8 = 2;

/// Encodes a place in the feed as an opaque cursor that is safe in a URL.
#[must_use]
pub fn write_cursor(at: Cursor) -> String {
    let mut bytes = Vec::with_capacity(1 + 4 + 8 + 16);
    let message = match at {
        Cursor::At(Position { number, message }) => {
            bytes.push(NUMBERED);
            bytes.extend_from_slice(&number.to_be_bytes());
            message
        }
        Cursor::Former(FormerPosition { epoch, transaction, message }) => {
            bytes.push(FORMER);
            bytes.extend_from_slice(&epoch.to_be_bytes());
            bytes.extend_from_slice(&transaction.to_be_bytes());
            message
        }
    };
    bytes.extend_from_slice(message.as_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Decodes a cursor; `None` if it is not one of ours.
#[must_use]
pub fn read_cursor(text: &str) -> Option<Cursor> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let (version, rest) = bytes.split_first()?;
    match *version {
        NUMBERED => {
            let (number, rest) = rest.split_first_chunk()?;
            let (number, message) = (i64::from_be_bytes(*number), uuid::Uuid::from_slice(rest).ok()?);
            // Every message has an id, and the start of the feed has none.
            (number >= 0 && (number == 0) == message.is_nil()).then_some(Cursor::At(Position { number, message }))
        }
        FORMER => {
            let (epoch, rest) = rest.split_first_chunk()?;
            let (transaction, rest) = rest.split_first_chunk()?;
            let (epoch, transaction) = (i32::from_be_bytes(*epoch), u64::from_be_bytes(*transaction));
            let message = uuid::Uuid::from_slice(rest).ok()?;
            (epoch >= 0).then_some(Cursor::Former(FormerPosition { epoch, transaction, message }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    fn is_read_as_it_was_written(at: Cursor) -> Result<(), TestCaseError> {
        let cursor = write_cursor(at);
        prop_assert!(cursor.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
        prop_assert_eq!(read_cursor(&cursor), Some(at));
        Ok(())
    }

    proptest! {
        #[test]
        fn a_cursor_is_read_as_it_was_written(number in 1..i64::MAX, message in 1..u128::MAX) {
            is_read_as_it_was_written(Cursor::At(Position { number, message: Uuid::from_u128(message) }))?;
        }

        #[test]
        fn a_cursor_of_the_version_before_is_read_as_it_was_written(epoch in 0..i32::MAX, transaction: u64, message: u128) {
            is_read_as_it_was_written(Cursor::Former(FormerPosition { epoch, transaction, message: Uuid::from_u128(message) }))?;
        }

        #[test]
        fn no_text_is_too_odd_to_be_refused(text in "[A-Za-z0-9_=-]{0,60}") {
            let _ = read_cursor(&text);
        }
    }

    #[test]
    fn an_event_is_read_with_its_body_byte_for_byte() {
        let body = r#"{"rma_identifier": "R-1",  "note":"größer"}"#;
        let event = |body: &str| {
            let id = uuid::Uuid::nil();
            read(&format!(
                r#"{{"id":"{id}","event":"rma.created","interface":"rma","subject":"R-1","sequence":1,"created_at":"x","body":{body}}}"#
            ))
        };
        let read_back = event(body).unwrap();
        assert_eq!((read_back.body.get(), read_back.is_erased()), (body, false));
        assert!(event(r#"{"erased":true}"#).unwrap().is_erased());
        assert!(read("{}").is_none());
    }

    #[test]
    fn what_is_no_cursor_names_no_place() {
        let cursor = write_cursor(Cursor::At(Position::START));
        assert_eq!(read_cursor(&cursor), Some(Cursor::At(Position::START)));
        let (longer, padded) = (format!("{cursor}AA"), format!("{cursor}="));
        let nameless = write_cursor(Cursor::At(Position { number: 1, message: Uuid::nil() }));
        let negative = write_cursor(Cursor::At(Position { number: -1, message: Uuid::from_u128(1) }));
        let former = write_cursor(Cursor::Former(FormerPosition { epoch: -1, transaction: 0, message: Uuid::nil() }));
        for text in ["", "now", "AQ", "Ag", &cursor[1..], &longer, &padded, &cursor.replacen("Ag", "AQ", 1), &nameless, &negative, &former]
        {
            assert_eq!(read_cursor(text), None, "{text}");
        }
    }
}
