//! A careful receiver: it checks credentials, signatures and repeats before it accepts a message. It can be given one flaw on purpose.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use hyper::Method;

use super::answer::Answer;
use super::received::Received;
use super::tokens::Issuer;

/// The credentials that a careful receiver demands.
#[derive(Clone, Debug)]
pub enum Demand {
    Nothing,
    /// A header with this value.
    Header(String, String),
    /// The newest token of its token endpoint.
    Token,
}

/// A flaw of a receiver that is careful otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// Never answers.
    Hangs,
    /// Answers 500.
    Fails,
    Redirects,
    /// Refuses the right credentials too.
    RefusesCredentials,
    /// Asks nobody for credentials.
    AcceptsAnybody,
    /// Asks for credentials and does not compare them.
    AcceptsAnyCredentials,
    /// Accepts every token that it has ever issued.
    KeepsTokens,
    IgnoresSignatures,
    /// Answers 409 to an id that it knows.
    RefusesRepeats,
    /// Answers with a page instead of JSON.
    AnswersMalformed,
}

/// Tells the receiver's time when a request arrived.
type TimeOf = Box<dyn Fn(&Received) -> SystemTime + Send + Sync>;

/// A careful receiver.
pub struct Careful {
    secret: String,
    demand: Demand,
    time_of: TimeOf,
    flaw: Option<Flaw>,
    accepted: Mutex<HashSet<String>>,
}

impl Careful {
    /// A receiver that verifies messages with this signing secret and demands these credentials.
    #[must_use]
    pub fn new(secret: &str, demand: Demand) -> Self {
        Self { secret: secret.to_owned(), demand, time_of: Box::new(Received::arrived_at), flaw: None, accepted: Mutex::default() }
    }

    /// Gives it another clock than the machine's.
    #[must_use]
    pub fn at(self, time_of: impl Fn(&Received) -> SystemTime + Send + Sync + 'static) -> Self {
        Self { time_of: Box::new(time_of), ..self }
    }

    /// Gives it a flaw, or takes it.
    #[must_use]
    pub fn with(self, flaw: Option<Flaw>) -> Self {
        Self { flaw, ..self }
    }

    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == Some(flaw)
    }

    pub(super) fn decide(&self, issuer: &Issuer, received: &Received) -> Answer {
        match self.flaw {
            Some(Flaw::Hangs) => return Answer::hang(),
            Some(Flaw::Fails) => return Answer::status(500).body("Internal Server Error"),
            Some(Flaw::Redirects) => return Answer::redirect("https://elsewhere.example.com/"),
            Some(
                Flaw::RefusesCredentials
                | Flaw::AcceptsAnybody
                | Flaw::AcceptsAnyCredentials
                | Flaw::KeepsTokens
                | Flaw::IgnoresSignatures
                | Flaw::RefusesRepeats
                | Flaw::AnswersMalformed,
            )
            | None => {}
        }
        if !self.admits(issuer, received) || !self.trusts(received) {
            return Answer::unauthorized();
        }
        let is_new =
            received.message_id().is_none_or(|id| self.accepted.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned()));
        if !is_new && self.has(Flaw::RefusesRepeats) {
            return Answer::status(409).body("duplicate key");
        }
        if self.has(Flaw::AnswersMalformed) { Answer::ok().body("<html>") } else { Answer::usual() }
    }

    /// True if the caller's credentials are right.
    fn admits(&self, issuer: &Issuer, received: &Received) -> bool {
        let (given, right) = match &self.demand {
            Demand::Nothing => (true, true),
            Demand::Header(name, value) => (received.header(name).is_some(), received.header(name) == Some(value)),
            Demand::Token if self.has(Flaw::KeepsTokens) => (true, issuer.has_issued(received.bearer())),
            Demand::Token => (received.bearer().is_some(), issuer.accepts(received.bearer())),
        };
        let right = right || self.has(Flaw::AcceptsAnyCredentials) && given || self.has(Flaw::AcceptsAnybody);
        right && !self.has(Flaw::RefusesCredentials)
    }

    /// True if the signature is right. Queries have none.
    fn trusts(&self, received: &Received) -> bool {
        let is_signed = received.method() == Method::POST && !self.has(Flaw::IgnoresSignatures);
        !is_signed || received.verify(&self.secret, (self.time_of)(received)).is_ok()
    }
}
