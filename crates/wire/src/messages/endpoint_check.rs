//! The words for the findings of a check of an endpoint: what happened, why it matters, and what to do next. Merchants' engineers read
//! them too, so they name what arrives at their systems.

use std::time::Duration;

use domain::messages::endpoint_check::{Blocked, Check, Finding, InvalidToken, State};

use super::headers;

/// The name of a check.
#[must_use]
pub const fn name(check: Check) -> &'static str {
    match check {
        Check::Reached => "Reached",
        Check::Secure => "TLS",
        Check::InTime => "In time",
        Check::Accepted => "Accepted",
        Check::Credentials => "Credentials",
        Check::Signature => "Wrong signature refused",
        Check::Repeated => "Same message twice",
        Check::Token => "Stale token refused",
        Check::Answer => "Answer's body",
    }
}

/// The key of a check, for machines.
#[must_use]
pub const fn key(check: Check) -> &'static str {
    match check {
        Check::Reached => "reached",
        Check::Secure => "tls",
        Check::InTime => "in_time",
        Check::Accepted => "accepted",
        Check::Credentials => "credentials",
        Check::Signature => "signature",
        Check::Repeated => "same_message_twice",
        Check::Token => "stale_token",
        Check::Answer => "answer_body",
    }
}

/// The word for a result.
#[must_use]
pub const fn word(state: State) -> &'static str {
    match state {
        State::Failed => "failed",
        State::Warned => "warned",
        State::NotChecked => "not checked",
        State::Passed => "passed",
        State::NotApplicable => "not applicable",
    }
}

/// The reason a check matters.
#[must_use]
pub const fn why(check: Check) -> &'static str {
    match check {
        Check::Reached => "Messages to a system that cannot be reached wait, are tried six times, and then need a person.",
        Check::Secure => "Messages hold shoppers' data. Without a valid certificate nobody knows who reads them, so no call is made.",
        Check::InTime => "A call without an answer by its deadline counts as failed, and the messages behind it wait for it.",
        Check::Accepted => "Only 2xx counts as delivered. Anything else is tried again, and after six attempts a person has to look at it.",
        Check::Credentials => "Whoever finds the address can send it messages, unless it refuses those who have no right to.",
        Check::Signature => {
            "The signature proves that a message is from Backhaul and was not changed on its way. Only a system that compares it is protected."
        }
        Check::Repeated => {
            "A message comes again when an answer is lost on its way. If the repeat fails, a message that arrived counts as failed."
        }
        Check::Token => "Tokens expire. A new one is fetched after a 401; and a system that takes any token protects nothing.",
        Check::Answer => "Backhaul reads this answer. What cannot be read cannot be offered to shoppers, or told about their exchange.",
    }
}

/// The sentence that says what happened.
#[must_use]
pub fn happened(finding: &Finding) -> String {
    match finding {
        Finding::Reached => "The address was found and took the connection.".to_owned(),
        Finding::Unusable(why) => format!("No call was made: {why}."),
        Finding::NotAllowed(why) => format!("No call was made, because Backhaul does not call this address: {why}."),
        Finding::Unreachable(why) => format!("The system could not be reached: {why}."),
        Finding::Secure(version) => format!("TLS {version} with a valid certificate."),
        Finding::Handshaken => "The certificate is valid.".to_owned(),
        Finding::BadTls(why) => format!("No secure connection could be made: {}.", why.strip_prefix("TLS: ").unwrap_or(why)),
        Finding::PlainInSandbox => "The address is http, without TLS. A sandbox allows it; in production it has to be https.".to_owned(),
        Finding::Plain => "The address is http, without TLS. The setting outbound.allowed makes an exception for it.".to_owned(),
        Finding::InTime { took, deadline } => format!("It answered after {}; a call has {}.", seconds(*took), whole(*deadline)),
        Finding::Slow { took, deadline } => {
            format!("It answered after {}, more than a third of the {} that a call has.", seconds(*took), whole(*deadline))
        }
        Finding::Silent(deadline) => format!("It took the call and did not answer within {}.", whole(*deadline)),
        Finding::Accepted(status) => format!("A right call was answered {status}."),
        Finding::Redirected(status) => format!("A right call was answered {status}, a redirect, which is not followed."),
        Finding::Broken(status) => format!("A right call was answered {status}: the system failed while it handled it."),
        Finding::Rejected(status) => format!("A right call was answered {status}: the system does not want it."),
        Finding::UnknownVariant => {
            "The query was answered 404: the system does not know this variant, or the address is not the one for variants.".to_owned()
        }
        Finding::CredentialsChecked => "Our credentials were accepted; calls without them were refused.".to_owned(),
        Finding::NoCredentials => "No credentials are set for this endpoint.".to_owned(),
        Finding::CredentialsRefused(status) => format!("The right credentials were refused: {status}."),
        Finding::NoToken(why) => format!("No access token could be fetched: {why}."),
        Finding::Anybody(status) => format!("A call without any credentials was accepted: {status}. The system lets anybody in."),
        Finding::WrongCredentials(status) => {
            format!("A call with made-up credentials was accepted: {status}. The system does not compare them.")
        }
        Finding::OddRefusal(word) => format!("A call without our credentials was not accepted, but not refused with 401 either: {word}."),
        Finding::SignatureChecked(status) => format!("A message with a wrong signature was refused: {status}."),
        Finding::Unsigned => "Queries have no body and are not signed.".to_owned(),
        Finding::ForgeryAccepted(status) => {
            format!("A message with a wrong signature was accepted: {status}. The system does not verify signatures.")
        }
        Finding::OddForgery(word) => format!("A message with a wrong signature was not accepted, but not refused with 4xx either: {word}."),
        Finding::RepeatAccepted => format!("The same {} was sent twice and accepted twice.", headers::ID),
        Finding::RepeatRefused(word) => format!("The same {} was accepted at first, and then not: {word}.", headers::ID),
        Finding::NothingRepeated => "A query changes nothing, however often it comes.".to_owned(),
        Finding::TokenReplaced(token) => format!("{} was refused with 401, and a fresh one was accepted.", of_token(*token)),
        Finding::NoTokens => "This endpoint takes no OAuth tokens.".to_owned(),
        Finding::InvalidTokenAccepted(token, status) => {
            format!("{} was accepted: {status}. The system does not check whether a token is valid.", of_token(*token))
        }
        Finding::OddToken(token, word) => format!("{} was not accepted, but not refused with 401 either: {word}.", of_token(*token)),
        Finding::FreshTokenRefused(word) => format!("After a 401, a freshly fetched token was not accepted either: {word}."),
        Finding::AnswerRead => "The body of the answer can be read.".to_owned(),
        Finding::AnswerUnread => "Nobody reads the body of this answer.".to_owned(),
        Finding::AnswerMalformed => "The body of the answer is malformed: it cannot be read.".to_owned(),
        Finding::VariantsSkipped(1) => "1 variant in the answer cannot be read and would not be offered.".to_owned(),
        Finding::VariantsSkipped(count) => format!("{count} variants in the answer cannot be read and would not be offered."),
        Finding::NotChecked(_, Blocked::By(check)) => format!("Not checked, because “{}” did not pass.", name(*check)),
        Finding::NotChecked(_, Blocked::OutOfTime) => "Not checked: the time for all checks was up.".to_owned(),
    }
}

/// The sentence that says what to do next; none if nothing is to be done.
#[must_use]
pub fn next(finding: &Finding) -> Option<String> {
    let next = match finding {
        Finding::Unusable(_) => "Set the endpoint's address and authentication again.",
        Finding::NotAllowed(_) => "Set an https address on port 443 that is public, or let the operator allow this one.",
        Finding::Unreachable(_) => {
            "Compare the address with the system's. Look at DNS and the firewall: it has to take connections from outside."
        }
        Finding::BadTls(_) => {
            "Install a certificate of a public authority for this host name, with its intermediate certificates, that has not expired. TLS 1.2 or 1.3."
        }
        Finding::Plain => "Give the endpoint an https address.",
        Finding::Slow { .. } => "Store the message, answer, and work on it afterwards. Answer queries from a cache.",
        Finding::Silent(_) => "Store the message, answer, and work on it afterwards. Look for what the system waits for.",
        Finding::Redirected(_) => "Set the address that it redirects to, or answer at this one.",
        Finding::Broken(_) => {
            "Look at the system's log. A test message has the event endpoint.test and is to be answered 2xx, without any effect."
        }
        Finding::Rejected(_) => {
            "Compare path and method with the documentation. A test message has the event endpoint.test and is to be answered 2xx, without any effect."
        }
        Finding::UnknownVariant => "Check again with a variant that the system knows.",
        Finding::CredentialsRefused(_) => {
            "Compare the credentials on both sides, and the signing secret: a system that has another secret refuses every message. Set them anew if in doubt."
        }
        Finding::NoToken(_) => "Compare the token URL, the client id and the secret with those of the system.",
        Finding::Anybody(_) | Finding::WrongCredentials(_) => {
            "Compare the credentials of every call, and answer 401 if they are missing or wrong."
        }
        Finding::OddRefusal(_) => "Answer 401 if credentials are missing or wrong.",
        Finding::ForgeryAccepted(_) => {
            "Compute the signature over id, timestamp and raw body before anything parses it, and answer 401 if it differs."
        }
        Finding::OddForgery(_) => "Answer 401 if the signature differs.",
        Finding::RepeatRefused(_) => "Answer 2xx to an id that is known already, and do nothing.",
        Finding::InvalidTokenAccepted(..) => {
            "Verify every token: that it was issued, for this system, and has not expired. Answer 401 otherwise."
        }
        Finding::OddToken(..) => "Answer 401 if a token is not valid, because only then a new one is fetched.",
        Finding::FreshTokenRefused(_) => "Accept a token as soon as it is issued, on every machine of the system.",
        Finding::AnswerMalformed => "Answer with JSON as documented: a list of variants, or an object with the order's identifier.",
        Finding::VariantsSkipped(_) => "Send SKU, price in cents and stock with every variant; stock is 0 if it is sold out.",
        Finding::NotChecked(_, Blocked::By(_)) => "Mend that first, and check again.",
        Finding::NotChecked(_, Blocked::OutOfTime) => "Check this endpoint on its own.",
        Finding::Reached
        | Finding::Secure(_)
        | Finding::Handshaken
        | Finding::PlainInSandbox
        | Finding::InTime { .. }
        | Finding::Accepted(_)
        | Finding::CredentialsChecked
        | Finding::NoCredentials
        | Finding::SignatureChecked(_)
        | Finding::Unsigned
        | Finding::RepeatAccepted
        | Finding::NothingRepeated
        | Finding::TokenReplaced(_)
        | Finding::NoTokens
        | Finding::AnswerRead
        | Finding::AnswerUnread => return None,
    };
    Some(next.to_owned())
}

const fn of_token(token: InvalidToken) -> &'static str {
    match token {
        InvalidToken::MadeUp => "A token that was never issued",
        InvalidToken::Expired => "A token that has expired",
    }
}

/// A time as people read it, such as `0.31 s`.
#[must_use]
pub fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}

fn whole(time: Duration) -> String {
    let text = format!("{:.3}", time.as_secs_f64());
    format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_failed_or_was_warned_about_has_a_next_step() {
        let deadline = Duration::from_secs(20);
        let word = || "500".to_owned();
        for finding in [
            Finding::Unusable(word()),
            Finding::NotAllowed(word()),
            Finding::Unreachable(word()),
            Finding::BadTls(word()),
            Finding::Plain,
            Finding::Slow { took: deadline, deadline },
            Finding::Silent(deadline),
            Finding::Redirected(302),
            Finding::Broken(500),
            Finding::Rejected(400),
            Finding::UnknownVariant,
            Finding::CredentialsRefused(401),
            Finding::NoToken(word()),
            Finding::Anybody(200),
            Finding::WrongCredentials(200),
            Finding::OddRefusal(word()),
            Finding::ForgeryAccepted(200),
            Finding::OddForgery(word()),
            Finding::RepeatRefused(word()),
            Finding::InvalidTokenAccepted(InvalidToken::Expired, 200),
            Finding::OddToken(InvalidToken::MadeUp, word()),
            Finding::FreshTokenRefused(word()),
            Finding::AnswerMalformed,
            Finding::VariantsSkipped(2),
        ] {
            assert!(matches!(finding.state(), State::Failed | State::Warned), "{finding:?}");
            assert!(next(&finding).is_some() && happened(&finding).ends_with('.'), "{finding:?}");
        }
    }

    #[test]
    fn times_are_told_as_people_read_them() {
        assert_eq!((seconds(Duration::from_millis(312)), whole(Duration::from_secs(20))), ("0.31 s".to_owned(), "20 s".to_owned()));
        assert_eq!(whole(Duration::from_millis(1_500)), "1.5 s");
    }
}
