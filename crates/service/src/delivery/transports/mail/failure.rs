//! Why a mail was not taken, in a few words for people.

use std::error::Error as _;
use std::io;

use domain::messages::delivery::Outcome;
use lettre::transport::smtp::Error;

use crate::delivery::client::{CallResult, io_words};

/// What came of a mail that the server did not take.
pub(super) fn explain(error: &Error) -> CallResult {
    let said = || error.source().map(ToString::to_string).unwrap_or_default();
    if let Some(code) = error.status() {
        return super::said(code.into(), &said());
    }
    // The server lacks something that we insist on, such as TLS or a way to log in.
    if error.is_client() {
        return CallResult::refused(Outcome::Refused(said()));
    }
    CallResult::refused(Outcome::Unreachable(words(error).to_owned()))
}

fn words(error: &Error) -> &'static str {
    if error.is_response() {
        return "the connection was closed without an answer, or the answer is not SMTP";
    }
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(why) = error.downcast_ref::<io::Error>() {
            return io_words(why);
        }
        cause = error.source();
    }
    "the connection failed"
}
