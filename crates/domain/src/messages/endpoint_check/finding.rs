//! The checks of an endpoint, and everything that they can find.

use std::time::Duration;

/// One of the questions that a check answers, in the order in which people read them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// The name resolves and the address takes connections.
    Reached,
    /// The certificate is valid.
    Secure,
    /// The answer comes well before the deadline.
    InTime,
    /// A right call is answered with 2xx.
    Accepted,
    /// Our credentials are accepted, and nobody else's are.
    Credentials,
    /// A wrong signature is refused.
    Signature,
    /// The same message twice is accepted twice.
    Repeated,
    /// A token that is not valid is refused, and a fresh one accepted.
    Token,
    /// The body of the answer can be read.
    Answer,
}

impl Check {
    /// Every check.
    pub const ALL: [Self; 9] = [
        Self::Reached,
        Self::Secure,
        Self::InTime,
        Self::Accepted,
        Self::Credentials,
        Self::Signature,
        Self::Repeated,
        Self::Token,
        Self::Answer,
    ];
}

/// The result of a check, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    Failed,
    Warned,
    /// Another check has to pass first, or the time was up.
    NotChecked,
    Passed,
    NotApplicable,
}

/// The reason a check was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// This one did not pass.
    By(Check),
    /// The time for all checks was up.
    OutOfTime,
}

/// A token that is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidToken {
    /// Nobody ever issued it.
    MadeUp,
    /// It was issued, and its lifetime has ended.
    Expired,
}

/// One finding: each is told by a sentence of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    Reached,
    /// The stored settings cannot be used.
    Unusable(String),
    /// We do not call this address.
    NotAllowed(String),
    Unreachable(String),
    /// TLS, with its version.
    Secure(&'static str),
    /// TLS of a version that is not known, because no answer came.
    Handshaken,
    BadTls(String),
    /// Without TLS, in a sandbox.
    PlainInSandbox,
    /// Without TLS, in production.
    Plain,
    InTime {
        took: Duration,
        deadline: Duration,
    },
    Slow {
        took: Duration,
        deadline: Duration,
    },
    /// No answer within this time.
    Silent(Duration),
    Accepted(u16),
    Redirected(u16),
    /// 5xx.
    Broken(u16),
    /// 4xx.
    Rejected(u16),
    /// A query was answered with 404, which may be right.
    UnknownVariant,
    CredentialsChecked,
    /// None are set.
    NoCredentials,
    CredentialsRefused(u16),
    /// No token could be fetched.
    NoToken(String),
    /// A call without credentials was accepted.
    Anybody(u16),
    /// A call with wrong credentials was accepted.
    WrongCredentials(u16),
    /// A call without our credentials was neither accepted nor refused with 4xx.
    OddRefusal(String),
    SignatureChecked(u16),
    /// Queries are not signed.
    Unsigned,
    /// A wrong signature was accepted.
    ForgeryAccepted(u16),
    /// A wrong signature was neither accepted nor refused with 4xx.
    OddForgery(String),
    RepeatAccepted,
    RepeatRefused(String),
    /// A query changes nothing.
    NothingRepeated,
    TokenReplaced(InvalidToken),
    /// No OAuth.
    NoTokens,
    InvalidTokenAccepted(InvalidToken, u16),
    /// An invalid token was not accepted, but not refused with 401 either.
    OddToken(InvalidToken, String),
    FreshTokenRefused(String),
    AnswerRead,
    /// Nobody reads the body.
    AnswerUnread,
    AnswerMalformed,
    /// This many variants cannot be read.
    VariantsSkipped(usize),
    NotChecked(Check, Blocked),
}

impl Finding {
    /// The check that it belongs to.
    #[must_use]
    pub const fn check(&self) -> Check {
        match self {
            Self::Reached | Self::Unusable(_) | Self::NotAllowed(_) | Self::Unreachable(_) => Check::Reached,
            Self::Secure(_) | Self::Handshaken | Self::BadTls(_) | Self::PlainInSandbox | Self::Plain => Check::Secure,
            Self::InTime { .. } | Self::Slow { .. } | Self::Silent(_) => Check::InTime,
            Self::Accepted(_) | Self::Redirected(_) | Self::Broken(_) | Self::Rejected(_) | Self::UnknownVariant => Check::Accepted,
            Self::CredentialsChecked
            | Self::NoCredentials
            | Self::CredentialsRefused(_)
            | Self::NoToken(_)
            | Self::Anybody(_)
            | Self::WrongCredentials(_)
            | Self::OddRefusal(_) => Check::Credentials,
            Self::SignatureChecked(_) | Self::Unsigned | Self::ForgeryAccepted(_) | Self::OddForgery(_) => Check::Signature,
            Self::RepeatAccepted | Self::RepeatRefused(_) | Self::NothingRepeated => Check::Repeated,
            Self::TokenReplaced(_) | Self::NoTokens | Self::InvalidTokenAccepted(..) | Self::OddToken(..) | Self::FreshTokenRefused(_) => {
                Check::Token
            }
            Self::AnswerRead | Self::AnswerUnread | Self::AnswerMalformed | Self::VariantsSkipped(_) => Check::Answer,
            Self::NotChecked(check, _) => *check,
        }
    }

    /// The result of its check.
    #[must_use]
    pub const fn state(&self) -> State {
        match self {
            Self::Reached
            | Self::Secure(_)
            | Self::Handshaken
            | Self::InTime { .. }
            | Self::Accepted(_)
            | Self::CredentialsChecked
            | Self::SignatureChecked(_)
            | Self::RepeatAccepted
            | Self::TokenReplaced(_)
            | Self::AnswerRead => State::Passed,
            Self::Plain
            | Self::Slow { .. }
            | Self::UnknownVariant
            | Self::OddRefusal(_)
            | Self::OddForgery(_)
            | Self::OddToken(..)
            | Self::VariantsSkipped(_) => State::Warned,
            Self::Unusable(_)
            | Self::NotAllowed(_)
            | Self::Unreachable(_)
            | Self::BadTls(_)
            | Self::Silent(_)
            | Self::Redirected(_)
            | Self::Broken(_)
            | Self::Rejected(_)
            | Self::CredentialsRefused(_)
            | Self::NoToken(_)
            | Self::Anybody(_)
            | Self::WrongCredentials(_)
            | Self::ForgeryAccepted(_)
            | Self::RepeatRefused(_)
            | Self::InvalidTokenAccepted(..)
            | Self::FreshTokenRefused(_)
            | Self::AnswerMalformed => State::Failed,
            Self::PlainInSandbox | Self::NoCredentials | Self::Unsigned | Self::NothingRepeated | Self::NoTokens | Self::AnswerUnread => {
                State::NotApplicable
            }
            Self::NotChecked(..) => State::NotChecked,
        }
    }
}
