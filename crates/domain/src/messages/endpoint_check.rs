//! The check of an endpoint before its merchant goes live: what trial calls have shown, and what follows from it.
//!
//! The calls themselves are made elsewhere, and the findings are put into words elsewhere. [`judge`] decides between the two.

mod finding;

use std::time::Duration;

pub use self::finding::{Blocked, Check, Finding, InvalidToken, State};
use super::delivery::Outcome;
use super::message::Interface;

/// The first call, which is right in every respect: how far it got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum First {
    /// It was not made: the stored settings cannot be used.
    Unusable(String),
    /// It was not made: there is no token.
    NoToken(String),
    /// It was not made: we do not call this address.
    NotAllowed(String),
    Unreachable(String),
    BadTls(String),
    /// No answer in time. True if there was a connection.
    Silent(bool),
    Answered {
        status: u16,
        took: Duration,
        /// The version of TLS.
        tls: Option<&'static str>,
        body: Body,
    },
    OutOfTime,
}

/// The body of the answer to the first call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// Nobody reads it.
    Unread,
    /// It can be read, but for this many entries.
    Read(usize),
    Malformed,
}

/// The way our calls authenticate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credentials {
    None,
    /// A fixed secret.
    Fixed,
    /// A token that is fetched.
    Fetched,
}

/// The settings of an endpoint as far as they matter, and the outcomes of the trial calls. Those after the first are made only if
/// it was accepted, and are `None` if the time was up.
#[derive(Clone, Debug)]
pub struct Trials {
    pub interface: Interface,
    pub credentials: Credentials,
    pub is_https: bool,
    pub is_sandbox: bool,
    /// The time that a call has.
    pub deadline: Duration,
    pub first: First,
    /// The first message once more.
    pub repeated: Option<Outcome>,
    /// A message with a wrong signature.
    pub forged: Option<Outcome>,
    /// A call without credentials.
    pub nobody: Option<Outcome>,
    /// A call with credentials, or a token, that we made up.
    pub made_up: Option<Outcome>,
    /// A call with an expired token, if we have one.
    pub expired: Option<Outcome>,
    /// A call with a fresh token, after those.
    pub fresh: Option<Outcome>,
}

/// The findings, one for each check, in their order.
#[must_use]
pub fn judge(trials: &Trials) -> [Finding; 9] {
    [
        trials.reached(),
        trials.secure(),
        trials.in_time(),
        trials.accepted(),
        trials.credentials(),
        trials.signature(),
        trials.repeated(),
        trials.token(),
        trials.answer(),
    ]
}

const fn is_refusal(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Answered { status: 400..=499, .. })
}

fn accepted(outcome: &Outcome) -> Option<u16> {
    match outcome {
        Outcome::Answered { status, .. } if outcome.is_success() => Some(*status),
        Outcome::Answered { .. } | Outcome::TimedOut | Outcome::Unreachable(_) | Outcome::Refused(_) => None,
    }
}

impl Trials {
    /// The check that keeps those after the first call from being made, if one does.
    fn stopped(&self) -> Option<Blocked> {
        match &self.first {
            First::Unusable(_) | First::NotAllowed(_) | First::Unreachable(_) => Some(Blocked::By(Check::Reached)),
            First::NoToken(_) | First::Answered { status: 401 | 403, .. } => Some(Blocked::By(Check::Credentials)),
            First::BadTls(_) => Some(Blocked::By(Check::Secure)),
            First::Silent(_) => Some(Blocked::By(Check::InTime)),
            First::Answered { status: 200..=299, .. } => None,
            First::Answered { .. } => Some(Blocked::By(Check::Accepted)),
            First::OutOfTime => Some(Blocked::OutOfTime),
        }
    }

    /// The finding that a check was not made.
    fn not_checked(&self, check: Check) -> Finding {
        Finding::NotChecked(check, self.stopped().unwrap_or(Blocked::OutOfTime))
    }

    fn reached(&self) -> Finding {
        match &self.first {
            First::Unusable(why) => Finding::Unusable(why.clone()),
            First::NotAllowed(why) => Finding::NotAllowed(why.clone()),
            First::Unreachable(why) => Finding::Unreachable(why.clone()),
            First::BadTls(_) | First::Silent(true) | First::Answered { .. } => Finding::Reached,
            First::Silent(false) | First::NoToken(_) | First::OutOfTime => self.not_checked(Check::Reached),
        }
    }

    fn secure(&self) -> Finding {
        match &self.first {
            First::BadTls(why) => Finding::BadTls(why.clone()),
            _ if !self.is_https && self.is_sandbox => Finding::PlainInSandbox,
            _ if !self.is_https => Finding::Plain,
            First::Answered { tls: Some(version), .. } => Finding::Secure(version),
            First::Silent(true) | First::Answered { tls: None, .. } => Finding::Handshaken,
            First::Unusable(_)
            | First::NotAllowed(_)
            | First::Unreachable(_)
            | First::Silent(false)
            | First::NoToken(_)
            | First::OutOfTime => self.not_checked(Check::Secure),
        }
    }

    fn in_time(&self) -> Finding {
        let deadline = self.deadline;
        match self.first {
            First::Answered { took, .. } if took > deadline / 3 => Finding::Slow { took, deadline },
            First::Answered { took, .. } => Finding::InTime { took, deadline },
            First::Silent(_) => Finding::Silent(deadline),
            First::Unusable(_) | First::NotAllowed(_) | First::Unreachable(_) | First::BadTls(_) | First::NoToken(_) | First::OutOfTime => {
                self.not_checked(Check::InTime)
            }
        }
    }

    fn accepted(&self) -> Finding {
        match self.first {
            First::Answered { status: status @ 200..=299, .. } => Finding::Accepted(status),
            First::Answered { status: 401 | 403, .. }
            | First::Unusable(_)
            | First::NotAllowed(_)
            | First::Unreachable(_)
            | First::BadTls(_)
            | First::Silent(_)
            | First::NoToken(_)
            | First::OutOfTime => self.not_checked(Check::Accepted),
            First::Answered { status: 404, .. } if self.interface.is_asked() => Finding::UnknownVariant,
            First::Answered { status: status @ 300..=399, .. } => Finding::Redirected(status),
            First::Answered { status: status @ 400..=499, .. } => Finding::Rejected(status),
            First::Answered { status, .. } => Finding::Broken(status),
        }
    }

    fn credentials(&self) -> Finding {
        match &self.first {
            First::Answered { status: status @ (401 | 403), .. } => return Finding::CredentialsRefused(*status),
            First::NoToken(why) => return Finding::NoToken(why.clone()),
            First::Unusable(_)
            | First::NotAllowed(_)
            | First::Unreachable(_)
            | First::BadTls(_)
            | First::Silent(_)
            | First::Answered { .. }
            | First::OutOfTime => {}
        }
        if self.credentials == Credentials::None {
            return Finding::NoCredentials;
        }
        let Some(nobody) = &self.nobody else { return self.not_checked(Check::Credentials) };
        if let Some(status) = accepted(nobody) {
            return Finding::Anybody(status);
        }
        // A token that was made up is the business of another check.
        let made_up = if self.credentials == Credentials::Fixed { self.made_up.as_ref() } else { Some(nobody) };
        let Some(made_up) = made_up else { return self.not_checked(Check::Credentials) };
        match (accepted(made_up), is_refusal(nobody) && is_refusal(made_up)) {
            (Some(status), _) => Finding::WrongCredentials(status),
            (None, true) => Finding::CredentialsChecked,
            (None, false) => Finding::OddRefusal(if is_refusal(nobody) { made_up.word() } else { nobody.word() }),
        }
    }

    fn signature(&self) -> Finding {
        if self.interface.is_asked() {
            return Finding::Unsigned;
        }
        match &self.forged {
            None => self.not_checked(Check::Signature),
            Some(Outcome::Answered { status: status @ 200..=299, .. }) => Finding::ForgeryAccepted(*status),
            Some(Outcome::Answered { status: status @ 400..=499, .. }) => Finding::SignatureChecked(*status),
            Some(odd) => Finding::OddForgery(odd.word()),
        }
    }

    fn repeated(&self) -> Finding {
        if self.interface.is_asked() {
            return Finding::NothingRepeated;
        }
        match &self.repeated {
            None => self.not_checked(Check::Repeated),
            Some(outcome) if outcome.is_success() => Finding::RepeatAccepted,
            Some(outcome) => Finding::RepeatRefused(outcome.word()),
        }
    }

    fn token(&self) -> Finding {
        if self.credentials != Credentials::Fetched {
            return Finding::NoTokens;
        }
        if self.nobody.as_ref().is_some_and(Outcome::is_success) {
            return Finding::NotChecked(Check::Token, Blocked::By(Check::Credentials));
        }
        let tried = [(InvalidToken::MadeUp, &self.made_up), (InvalidToken::Expired, &self.expired)];
        let tried = || tried.into_iter().filter_map(|(token, outcome)| Some((token, outcome.as_ref()?)));
        if let Some((token, status)) = tried().find_map(|(token, outcome)| Some((token, accepted(outcome)?))) {
            return Finding::InvalidTokenAccepted(token, status);
        }
        if let Some((token, odd)) = tried().find(|(_, outcome)| !matches!(outcome, Outcome::Answered { status: 401, .. })) {
            return Finding::OddToken(token, odd.word());
        }
        match (tried().next_back(), &self.fresh) {
            (Some((token, _)), Some(fresh)) if fresh.is_success() => Finding::TokenReplaced(token),
            (Some(_), Some(fresh)) => Finding::FreshTokenRefused(fresh.word()),
            (None, _) | (_, None) => self.not_checked(Check::Token),
        }
    }

    fn answer(&self) -> Finding {
        let is_read = matches!(self.interface, Interface::ExchangeVariants | Interface::ExchangeOrder);
        match self.first {
            _ if !is_read => Finding::AnswerUnread,
            First::Answered { status: 200..=299, body, .. } => match body {
                Body::Unread => Finding::AnswerUnread,
                Body::Read(0) => Finding::AnswerRead,
                Body::Read(skipped) => Finding::VariantsSkipped(skipped),
                Body::Malformed => Finding::AnswerMalformed,
            },
            First::Answered { .. }
            | First::Unusable(_)
            | First::NotAllowed(_)
            | First::Unreachable(_)
            | First::BadTls(_)
            | First::Silent(_)
            | First::NoToken(_)
            | First::OutOfTime => self.not_checked(Check::Answer),
        }
    }
}

#[cfg(test)]
mod tests;
