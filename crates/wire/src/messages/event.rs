//! The feed of messages: `/v1/events`.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::messages::feed::Position;
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

/// The first byte of a cursor, so that a later format can be told apart.
const CURSOR_VERSION: u8 = 1;
const CURSOR_BYTES: usize = 1 + 4 + 8 + 16;

/// Encodes a position as an opaque cursor that is safe in a URL.
#[must_use]
pub fn write_cursor(at: Position) -> String {
    let mut bytes = Vec::with_capacity(CURSOR_BYTES);
    bytes.push(CURSOR_VERSION);
    bytes.extend_from_slice(&at.epoch.to_be_bytes());
    bytes.extend_from_slice(&at.transaction.to_be_bytes());
    bytes.extend_from_slice(at.message.as_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Decodes a cursor; `None` if it is not one of ours.
#[must_use]
pub fn read_cursor(text: &str) -> Option<Position> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let (version, rest) = bytes.split_first()?;
    let (epoch, rest) = rest.split_first_chunk()?;
    let (transaction, rest) = rest.split_first_chunk()?;
    let (message, rest) = rest.split_first_chunk()?;
    let epoch = i32::from_be_bytes(*epoch);
    let at = Position { epoch, transaction: u64::from_be_bytes(*transaction), message: uuid::Uuid::from_bytes(*message) };
    (*version == CURSOR_VERSION && rest.is_empty() && epoch >= 0).then_some(at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_cursor_is_read_as_it_was_written(epoch in 0..i32::MAX, transaction: u64, message: u128) {
            let at = Position { epoch, transaction, message: uuid::Uuid::from_u128(message) };
            let cursor = write_cursor(at);
            prop_assert!(cursor.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
            prop_assert_eq!(read_cursor(&cursor), Some(at));
        }

        #[test]
        fn no_text_is_too_odd_to_be_refused(text in "[A-Za-z0-9_=-]{0,60}") {
            let _ = read_cursor(&text);
        }
    }

    #[test]
    fn what_is_no_cursor_names_no_place() {
        let cursor = write_cursor(Position::BEGINNING);
        let (longer, padded) = (format!("{cursor}AA"), format!("{cursor}="));
        for text in ["", "now", "AQ", &cursor[1..], &longer, &padded, &cursor.replacen("AQ", "Ag", 1), &cursor.replacen("AQ", "AY", 1)] {
            assert_eq!(read_cursor(text), None, "{text}");
        }
    }
}
