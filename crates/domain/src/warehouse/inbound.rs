//! Inbound ASNs: the goods that a merchant announces to a warehouse.
//!
//! An ASN has one state machine, its [`State`]. A unit is scanned for a [`Target`]: an ASN, or a return that needs none.
//! [`matching`] matches it to a line. A unit is either received against a line or recorded as an exception for people to look
//! into; no scan is dropped.

pub mod matching;
mod target;

use std::fmt;

pub use target::Target;

use crate::returns::rma::word::words;

words! {
    /// The state of an ASN.
    State, "state of an inbound ASN" {
        /// Announced, and nothing has arrived. It can still be changed.
        Open = "open",
        /// Some units have arrived.
        Receiving = "receiving",
        /// Nothing more is expected; units that still arrive are received late.
        Closed = "closed",
        Cancelled = "canceled",
    }
}

words! {
    /// The kinds of receiving exceptions.
    Exception, "receiving exception" {
        UnknownAsn = "unknown_asn",
        CancelledAsn = "canceled_asn",
        UnknownReturn = "unknown_return",
        CancelledReturn = "canceled_return",
        /// No line of the ASN or the return expects the unit.
        UnexpectedUnit = "unexpected_unit",
        /// The line was already complete.
        OverReceived = "over_received",
        /// Units of the line had not arrived when the ASN was closed.
        Short = "short",
    }
}

/// An action on an ASN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Replace the content.
    Change,
    Cancel,
    /// Receive a unit.
    Receive,
    /// Expect nothing more.
    Close,
}

/// An action that the state of the ASN does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the ASN is {0} and can no longer be {1}")]
pub struct Refused(pub State, pub Act);

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Change => "changed",
            Self::Cancel => "cancelled",
            Self::Receive => "received",
            Self::Close => "closed",
        })
    }
}

impl State {
    /// The state after `act`. Repeats change nothing. An ASN of which units have arrived cannot be cancelled.
    pub const fn on(self, act: Act) -> Result<Self, Refused> {
        match (self, act) {
            (Self::Open, Act::Change) => Ok(Self::Open),
            (Self::Open | Self::Cancelled, Act::Cancel) => Ok(Self::Cancelled),
            (Self::Open | Self::Receiving, Act::Receive) => Ok(Self::Receiving),
            // Units that arrive late are still received.
            (Self::Closed, Act::Receive) | (Self::Open | Self::Receiving | Self::Closed, Act::Close) => Ok(Self::Closed),
            (Self::Receiving | Self::Closed, Act::Cancel) | (Self::Receiving | Self::Closed | Self::Cancelled, Act::Change) => {
                Err(Refused(self, act))
            }
            (Self::Cancelled, Act::Receive | Act::Close) => Err(Refused(self, act)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_asn_goes_from_open_over_receiving_to_closed_or_is_cancelled_before() {
        assert_eq!(State::Open.on(Act::Receive), Ok(State::Receiving));
        assert_eq!(State::Receiving.on(Act::Close), Ok(State::Closed));
        assert_eq!(State::Open.on(Act::Cancel), Ok(State::Cancelled));
        assert_eq!(State::Receiving.on(Act::Cancel), Err(Refused(State::Receiving, Act::Cancel)));
        assert_eq!(State::Closed.on(Act::Receive), Ok(State::Closed));
        assert!(State::Cancelled.on(Act::Receive).is_err());
    }

    #[test]
    fn it_can_be_changed_until_the_first_reception_only() {
        let changeable: Vec<_> = State::ALL.iter().filter(|state| state.on(Act::Change).is_ok()).collect();
        assert_eq!(changeable, [&State::Open]);
    }

    #[test]
    fn what_can_be_done_can_be_done_again() {
        for state in State::ALL {
            for act in [Act::Cancel, Act::Receive, Act::Close, Act::Change] {
                if let Ok(next) = state.on(act) {
                    assert_eq!(next.on(act), Ok(next));
                }
            }
        }
    }

    #[test]
    fn a_refusal_says_what_stands_against_it() {
        assert_eq!(Refused(State::Closed, Act::Change).to_string(), "the ASN is closed and can no longer be changed");
        let acts = [Act::Change, Act::Cancel, Act::Receive, Act::Close].map(|act| act.to_string());
        assert_eq!(acts, ["changed", "cancelled", "received", "closed"]);
    }
}
