//! The second person: what cannot be undone, one administrator asks for and another one decides.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, TimeDelta, Utc};

use super::{OperatorId, Role};

/// The time after which a request that nobody has decided lapses.
pub const LAPSES_AFTER: TimeDelta = TimeDelta::hours(72);

/// The most failures that one person may discard at once.
pub const MOST_DISCARDED_ALONE: i64 = 100;

/// What a second person decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Overwriting the personal data of a shopper's orders.
    EraseShopper,
    /// Discarding more than [`MOST_DISCARDED_ALONE`] failures.
    DiscardFailures,
    /// Making an operator an administrator.
    MakeAdmin,
    /// Using another key of the installation.
    RotateKeys,
}

impl Wanted {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::EraseShopper, Self::DiscardFailures, Self::MakeAdmin, Self::RotateKeys];

    /// The name in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EraseShopper => "erase_shopper",
            Self::DiscardFailures => "discard_failures",
            Self::MakeAdmin => "make_admin",
            Self::RotateKeys => "rotate_keys",
        }
    }
}

/// The text is not a [`Wanted`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nothing of this name needs a second person")]
pub struct NoWanted;

impl FromStr for Wanted {
    type Err = NoWanted;

    fn from_str(text: &str) -> Result<Self, NoWanted> {
        Self::ALL.into_iter().find(|wanted| wanted.as_str() == text).ok_or(NoWanted)
    }
}

/// A decision on a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Approved,
    Refused,
    /// The asker has taken it back.
    Withdrawn,
}

impl Decision {
    /// The name in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Refused => "refused",
            Self::Withdrawn => "withdrawn",
        }
    }
}

impl FromStr for Decision {
    type Err = NoWanted;

    fn from_str(text: &str) -> Result<Self, NoWanted> {
        [Self::Approved, Self::Refused, Self::Withdrawn].into_iter().find(|decision| decision.as_str() == text).ok_or(NoWanted)
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The state of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    pub asked_by: OperatorId,
    pub asked_at: DateTime<Utc>,
    pub decision: Option<Decision>,
}

/// The reasons that a request cannot be decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecideRefused {
    #[error("You asked for it, so somebody else decides.")]
    Own,
    #[error("Only an administrator decides.")]
    NoAdmin,
    #[error("Only the person who asked for it can take it back.")]
    NotTheirs,
    #[error("The request has lapsed: nobody decided it within 72 hours. Ask again.")]
    Lapsed,
    #[error("The request has been decided already: {0}.")]
    Decided(Decision),
}

impl Standing {
    /// The time at which it lapses.
    #[must_use]
    pub fn lapses_at(self) -> DateTime<Utc> {
        self.asked_at + LAPSES_AFTER
    }

    /// True if it waits for a decision at `now`.
    #[must_use]
    pub fn is_open(self, now: DateTime<Utc>) -> bool {
        self.decision.is_none() && now < self.lapses_at()
    }

    /// Checks that the operator `by`, who has this role, may make this decision at `now`.
    pub fn decide(self, decision: Decision, by: OperatorId, role: Role, now: DateTime<Utc>) -> Result<(), DecideRefused> {
        if !role.allows(Role::Admin) {
            return Err(DecideRefused::NoAdmin);
        }
        match (decision, by == self.asked_by) {
            (Decision::Approved | Decision::Refused, true) => return Err(DecideRefused::Own),
            (Decision::Withdrawn, false) => return Err(DecideRefused::NotTheirs),
            (Decision::Approved | Decision::Refused, false) | (Decision::Withdrawn, true) => {}
        }
        match self.decision {
            Some(made) => Err(DecideRefused::Decided(made)),
            None if now >= self.lapses_at() => Err(DecideRefused::Lapsed),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn standing() -> Standing {
        Standing { asked_by: OperatorId(Uuid::from_u128(1)), asked_at: DateTime::default(), decision: None }
    }

    const ONE: OperatorId = OperatorId(Uuid::from_u128(1));
    const TWO: OperatorId = OperatorId(Uuid::from_u128(2));

    #[test]
    fn nobody_decides_what_they_asked_for() {
        let now = DateTime::default();
        for decision in [Decision::Approved, Decision::Refused] {
            assert_eq!(standing().decide(decision, ONE, Role::Admin, now), Err(DecideRefused::Own));
            assert_eq!(standing().decide(decision, TWO, Role::Admin, now), Ok(()));
        }
        assert_eq!(standing().decide(Decision::Withdrawn, ONE, Role::Admin, now), Ok(()));
        assert_eq!(standing().decide(Decision::Withdrawn, TWO, Role::Admin, now), Err(DecideRefused::NotTheirs));
    }

    #[test]
    fn only_administrators_decide() {
        for role in [Role::Viewer, Role::Support, Role::Manager] {
            assert_eq!(standing().decide(Decision::Approved, TWO, role, DateTime::default()), Err(DecideRefused::NoAdmin));
        }
    }

    #[test]
    fn a_request_lapses_after_72_hours() {
        let end = standing().lapses_at();
        assert_eq!(end - standing().asked_at, TimeDelta::hours(72));
        let before = end - TimeDelta::seconds(1);
        assert!(standing().is_open(before) && !standing().is_open(end));
        assert_eq!(standing().decide(Decision::Approved, TWO, Role::Admin, before), Ok(()));
        assert_eq!(standing().decide(Decision::Approved, TWO, Role::Admin, end), Err(DecideRefused::Lapsed));
    }

    #[test]
    fn a_request_is_decided_once() {
        for made in [Decision::Approved, Decision::Refused, Decision::Withdrawn] {
            assert_eq!(made.as_str().parse(), Ok(made));
            let decided = Standing { decision: Some(made), ..standing() };
            assert!(!decided.is_open(DateTime::default()));
            assert_eq!(decided.decide(Decision::Approved, TWO, Role::Admin, DateTime::default()), Err(DecideRefused::Decided(made)));
        }
    }

    #[test]
    fn what_is_wanted_is_written_and_read_back() {
        for wanted in Wanted::ALL {
            assert_eq!(wanted.as_str().parse(), Ok(wanted));
        }
        assert_eq!("anything".parse::<Wanted>(), Err(NoWanted));
        assert_eq!("lapsed".parse::<Decision>(), Err(NoWanted));
    }
}
