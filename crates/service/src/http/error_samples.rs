//! Every error of the API once, as a caller may meet it: for the examples in the OpenAPI document and for the page on errors.

use domain::merchants::access::{Scope, Scopes};
use domain::merchants::operator::Role;
use uuid::Uuid;
use wire::fault::{Code, Fault};

use super::error::{ApiError, Exceeded};
use super::size::MOST_BYTES;

/// An error with what the text for the caller leaves out.
pub(super) struct Sample {
    pub(super) error: ApiError,
    /// The usual cause.
    pub(super) why: &'static str,
    /// The next step of whoever gets it.
    pub(super) next: &'static str,
}

fn sample(error: ApiError, why: &'static str, next: &'static str) -> Sample {
    Sample { error, why, next }
}

/// Every error, those of one status together. The first of a status is the one that most callers meet.
pub(super) fn all() -> Vec<Sample> {
    [unreadable(), token_requests(), strangers(), absent(), conflicting(), limited(), broken()].into_iter().flatten().collect()
}

/// Requests that cannot be read.
fn unreadable() -> Vec<Sample> {
    vec![
        sample(
            ApiError::Malformed("expected `,` or `}` at line 1 column 20".to_owned()),
            "The body is not JSON, is not UTF-8, repeats a name in an object, or is nested too deeply.",
            "Mend the serialiser at the place that is named. Sending the same bytes again does not help.",
        ),
        sample(
            ApiError::BadQuery("limit must be a whole number from 1 to 100".to_owned()),
            "A filter, `cursor` or `limit` has a value that the route does not take.",
            "Correct the parameter that is named. Take cursors as they are, and percent-encode them.",
        ),
        sample(
            ApiError::BadHeader("Idempotency-Key must have 1 to 255 visible ASCII characters".to_owned()),
            "A header that the route reads has a value that it does not take.",
            "Correct the header that is named.",
        ),
        sample(ApiError::MalformedHead, "The first line or a header is not HTTP.", "Look at what your client or a proxy sends."),
        sample(
            ApiError::AmbiguousHead,
            "Two readers could understand the request differently, which is how requests are smuggled through proxies.",
            "Send one `Host`, and either `Content-Length` or chunks. Look at the proxies on the way.",
        ),
        sample(
            ApiError::UnknownVersion,
            "`Api-Version` names a version of the order interface that is not served.",
            "Send 3, or no header.",
        ),
        sample(
            ApiError::BodyTooSlow,
            "The whole body has to arrive within 15 seconds.",
            "Send it again; send less at once on a slow line.",
        ),
        sample(ApiError::TooLarge(MOST_BYTES), "A body has at most 5 MiB.", "Send several smaller requests, or use an import for history."),
        sample(ApiError::UriTooLong, "The path and the query are longer than the server reads.", "Send fewer or shorter filters."),
        sample(
            ApiError::UnsupportedMediaType("application/json"),
            "`Content-Type` names a type that the route does not read.",
            "Send the type that is named.",
        ),
        sample(
            ApiError::Faulty(vec![Fault::new("returns_portal_order.orders[0].items[0].sku", Code::MissingField, "is required")]),
            "The body can be read, but breaks rules. `errors` names each field, the kind of fault and the rule.",
            "Correct every field in `errors`. Nothing of the message was stored, so send all of it again.",
        ),
        sample(
            ApiError::HeadTooLarge,
            "Cookies or headers of a proxy have grown beyond the limit.",
            "Send the headers that the API reads, and no others.",
        ),
    ]
}

/// Token requests that cannot be answered.
fn token_requests() -> Vec<Sample> {
    vec![
        sample(
            ApiError::IncompleteTokenRequest("client_secret"),
            "The token request lacks a field.",
            "Send `grant_type`, `client_id` and `client_secret`, as JSON or as a form.",
        ),
        sample(
            ApiError::MalformedTokenRequest("expected value at line 1 column 1".to_owned()),
            "The body of the token request is neither JSON nor a form.",
            "Let `Content-Type` say which of the two it is.",
        ),
        sample(
            ApiError::TwoCredentials,
            "OAuth allows one way to authenticate in a request.",
            "Leave out the header `Authorization`, or the credential in the body.",
        ),
        sample(ApiError::UnsupportedGrant, "Only client credentials are supported.", "Send `grant_type=client_credentials`."),
        sample(
            ApiError::InvalidScope(Scopes::all()),
            "A scope is misspelt, or was not granted to the credential.",
            "Leave out `scope` to get all that the credential has, or ask the operator for more.",
        ),
    ]
}

/// Callers who are not known, or may not do it.
fn strangers() -> Vec<Sample> {
    vec![
        sample(
            ApiError::Unauthorized { token_given: true },
            "A token works for 25 hours. It ends sooner if its credential is revoked.",
            "Get a new token and send the request once more. If that fails as well, ask the operator about the credential.",
        ),
        sample(ApiError::Unauthorized { token_given: false }, "The header `Authorization` is missing.", "Get a token and send it."),
        sample(
            ApiError::InvalidClient,
            "The secret was rotated, or the credential was revoked, has expired, or is bound to networks or to a client certificate.",
            "Compare what you send with what the operator gave you. Do not try on with the same secret: wrong ones are counted.",
        ),
        sample(
            ApiError::NotSigned,
            "The webhook was not signed with the secret that the carrier account has.",
            "Set the same secret on both sides.",
        ),
        sample(
            ApiError::NoPersonalToken { token_given: true },
            "Operator API: personal tokens expire and can be revoked.",
            "Make a new one in the console.",
        ),
        sample(
            ApiError::NoPersonalToken { token_given: false },
            "Operator API: the header `Authorization` is missing.",
            "Make a token in the console and send it.",
        ),
        sample(
            ApiError::MissingScope(&[Scope::Orders]),
            "The credential was issued for other routes.",
            "Use the credential of the system that makes this call, or ask the operator for one with the scope.",
        ),
        sample(
            ApiError::ForeignNetwork,
            "The credential is bound to networks, and the request came from another one.",
            "Call from one of these networks. Behind a new proxy, tell the operator its address.",
        ),
        sample(ApiError::Paused, "The operator has paused the merchant.", "Ask the operator. Retrying does not help until it is resumed."),
        sample(
            ApiError::RoleTooLow { needed: Role::Manager, has: Role::Viewer },
            "Operator API: the token has a lower role than the command needs.",
            "Make a token with the role, or ask somebody who has it.",
        ),
    ]
}

/// What is not there.
fn absent() -> Vec<Sample> {
    vec![
        sample(
            ApiError::Absent(
                "acme has no order 4711. Check the identifiers in the request, and that the access token is the right merchant's."
                    .to_owned(),
            ),
            "The record was never there, was deleted at the end of its retention, or is another merchant's.",
            "Check the identifier. If it is right, check for which merchant the token was issued.",
        ),
        sample(ApiError::NotFound, "The same, where no more can be said.", "Check the identifiers in the request."),
        sample(ApiError::NoSuchRoute, "The path is misspelt, or is not part of this version.", "Compare it with the reference."),
        sample(ApiError::NoSuchOperation, "Operator API: there is no such command.", "Compare it with its own document."),
        sample(ApiError::MethodNotAllowed, "The path exists, but not with this method.", "Use one of those in the header `Allow`."),
        sample(
            ApiError::Gone("The message was erased with the data of a shopper, so it cannot be sent again."),
            "Personal data was erased, and with it what the request is about.",
            "Nothing. Treat it as deleted.",
        ),
    ]
}

/// What does not go with the state of things.
fn conflicting() -> Vec<Sample> {
    vec![
        sample(
            ApiError::Conflict("The return R-F779-W5W2 cannot be cancelled: the carrier has scanned it. Refund it instead.".to_owned()),
            "The record is in a state that does not allow it, or was sent before with other content.",
            "Read the record, and do what the message says. The same request gets the same answer.",
        ),
        sample(
            ApiError::ImportRunning,
            "One request at a time reads an import.",
            "Wait for the other request. After 15 silent seconds it counts as lost.",
        ),
    ]
}

/// Too much at once.
fn limited() -> Vec<Sample> {
    let limited = |exceeded, limit, why, next| sample(ApiError::TooManyRequests { exceeded, limit, retry_after: 12 }, why, next);
    vec![
        limited(
            Exceeded::Requests,
            5_000,
            "More requests came from the address within 60 seconds than are allowed.",
            "Wait as many seconds as `Retry-After` says. Put several orders into one message.",
        ),
        limited(Exceeded::RequestsInFlight, 4_096, "The node works on as many requests as it can.", "Wait, and try again with backoff."),
        limited(
            Exceeded::RequestsOfAddressInFlight,
            1_024,
            "One address has too many requests under way.",
            "Send fewer at a time. A request counts until its work is done, even if you hang up.",
        ),
        limited(Exceeded::RequestsOfToken, 300, "Operator API: one token sends too much.", "Wait as long as `Retry-After` says."),
        limited(
            Exceeded::SecretsOfClient,
            10,
            "Wrong secrets were sent for one client.",
            "Stop, and put the right secret in place. Right secrets are refused as well until then.",
        ),
        limited(Exceeded::SecretsOfAddress, 100, "Wrong secrets were sent from one address.", "Look for the system that sends them."),
        limited(
            Exceeded::MessagesInFlight,
            512,
            "The node works on as many order messages as it can.",
            "Wait, and try again with backoff.",
        ),
        limited(Exceeded::MessagesOfMerchant, 128, "One merchant has too many order messages under way.", "Send fewer at a time."),
        limited(
            Exceeded::BodyMemory,
            256,
            "The bodies of all requests take as much memory as the node gives them.",
            "Wait, and try again.",
        ),
        limited(Exceeded::BodyMemoryOfCaller, 64, "The bodies of one merchant's requests are too large together.", "Send fewer at a time."),
        limited(Exceeded::Imports, 2, "The node runs as many imports as it can.", "Try again when another one has ended."),
        limited(Exceeded::ImportsOfMerchant, 1, "The merchant runs an import already.", "Wait for it, or send the file afterwards."),
        limited(
            Exceeded::AttemptsAtMessage,
            20,
            "The message was retried by hand very often within an hour.",
            "Mend the endpoint first; `GET /v1/messages/{message_id}` shows its answers.",
        ),
        limited(Exceeded::Followers, 200, "The node serves as many live feeds as it can.", "Read the feed by pages, or try again later."),
        limited(Exceeded::FollowersOfMerchant, 10, "The merchant follows the feed too many times.", "Let one reader follow it, and share."),
    ]
}

/// What went wrong on this side, or at the merchant's.
fn broken() -> Vec<Sample> {
    vec![
        sample(
            ApiError::Internal(String::new()),
            "The service has met something that it did not expect.",
            "Try again a few times. Then tell the operator the `request_id`, which is in the log.",
        ),
        sample(
            ApiError::MerchantErred,
            "The merchant's list of variants was asked while the shopper waits, and gave no usable answer.",
            "Offer a refund or a gift card. `GET /v1/endpoints` shows how the endpoint answers.",
        ),
        sample(
            ApiError::Unavailable(String::new()),
            "The database cannot be reached at the moment, or the node is about to end.",
            "Try again after `Retry-After`, with exponential backoff. Nothing is stored twice.",
        ),
        sample(
            ApiError::MerchantTooSlow,
            "The merchant's list of variants did not answer within 3 seconds.",
            "Offer a refund or a gift card.",
        ),
        sample(
            ApiError::Interrupted(Uuid::nil(), Box::new(ApiError::Unavailable(String::new()))),
            "An import stopped half way.",
            "Send the same file again, with `resume`. Lines that were read are skipped.",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The place of an error in the enum; a new one does not compile until it has a place, and a sample.
    fn place(error: &ApiError) -> usize {
        match error {
            ApiError::Malformed(_) => 0,
            ApiError::BodyTooSlow => 1,
            ApiError::BadQuery(_) => 2,
            ApiError::BadHeader(_) => 3,
            ApiError::MalformedHead => 4,
            ApiError::AmbiguousHead => 5,
            ApiError::UriTooLong => 6,
            ApiError::HeadTooLarge => 7,
            ApiError::UnknownVersion => 8,
            ApiError::IncompleteTokenRequest(_) => 9,
            ApiError::MalformedTokenRequest(_) => 10,
            ApiError::TwoCredentials => 11,
            ApiError::UnsupportedGrant => 12,
            ApiError::InvalidScope(_) => 13,
            ApiError::Unauthorized { .. } => 14,
            ApiError::NoPersonalToken { .. } => 15,
            ApiError::RoleTooLow { .. } => 16,
            ApiError::NoSuchOperation => 17,
            ApiError::NotSigned => 18,
            ApiError::InvalidClient => 19,
            ApiError::MissingScope(_) => 20,
            ApiError::ForeignNetwork => 21,
            ApiError::Paused => 22,
            ApiError::NotFound => 23,
            ApiError::Absent(_) => 24,
            ApiError::NoSuchRoute => 25,
            ApiError::MethodNotAllowed => 26,
            ApiError::TooLarge(_) => 27,
            ApiError::UnsupportedMediaType(_) => 28,
            ApiError::ImportRunning => 29,
            ApiError::Conflict(_) => 30,
            ApiError::Gone(_) => 31,
            ApiError::Faulty(_) => 32,
            ApiError::TooManyRequests { .. } => 33,
            ApiError::Interrupted(..) => 34,
            ApiError::MerchantErred => 35,
            ApiError::MerchantTooSlow => 36,
            ApiError::Unavailable(_) => 37,
            ApiError::Internal(_) => 38,
        }
    }

    #[test]
    fn every_error_has_a_sample_that_says_why_and_what_to_do() {
        let samples = all();
        let places: BTreeSet<usize> = samples.iter().map(|sample| place(&sample.error)).collect();
        assert_eq!(places, (0..39).collect());
        for sample in &samples {
            assert!(!sample.error.message().is_empty() && sample.why.ends_with('.') && sample.next.ends_with('.'), "{:?}", sample.error);
        }
    }
}
