//! Turns SMTP errors into outcomes that people understand.

use std::error::Error as _;
use std::io;

use bytes::Bytes;
use domain::messages::delivery::Outcome;
use lettre::transport::smtp::Error;

use crate::delivery::client::{CallResult, MOST_KEPT, explain_io};

/// The result for a mail that the server did not accept.
pub(super) fn explain(error: &Error) -> CallResult {
    let text = || error.source().map(ToString::to_string).unwrap_or_default();
    if let Some(code) = error.status() {
        return reply(code.into(), &text());
    }
    // The server does not offer something that we require, such as TLS or a login mechanism.
    if error.is_client() {
        return CallResult::refused(Outcome::Refused(text()));
    }
    CallResult::refused(Outcome::Unreachable(reason(error).to_owned()))
}

fn reason(error: &Error) -> &'static str {
    if error.is_response() {
        return "the connection was closed without an answer, or the answer is not SMTP";
    }
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(why) = error.downcast_ref::<io::Error>() {
            return explain_io(why);
        }
        cause = error.source();
    }
    "the connection failed"
}

/// The result for a reply of the server, whose text is truncated.
pub(super) fn reply(status: u16, text: &str) -> CallResult {
    let kept = text.get(..text.floor_char_boundary(MOST_KEPT)).unwrap_or(text);
    let outcome = Outcome::Answered { status, retry_after: None };
    CallResult { answer: Bytes::copy_from_slice(kept.as_bytes()), truncated: kept.len() < text.len(), ..CallResult::refused(outcome) }
}
