//! The steps on a merchant's way to live.

use chrono::{DateTime, Utc};

/// The facts that decide how far a merchant is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    pub added_at: DateTime<Utc>,
    /// The first credential was issued.
    pub credential_at: Option<DateTime<Utc>>,
    /// The first access token was fetched.
    pub token_at: Option<DateTime<Utc>>,
    /// The first order was received.
    pub order_at: Option<DateTime<Utc>>,
    pub endpoints: Vec<EndpointTest>,
    pub live_at: Option<DateTime<Utc>>,
}

/// An endpoint that is set, and its last successful test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointTest {
    pub interface: String,
    pub tested_at: Option<DateTime<Utc>>,
}

/// A step on the way to live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    Credential,
    Token,
    Order,
    /// Every endpoint that is set has been tested, and at least one is set.
    Endpoints,
    Live,
}

impl Step {
    /// Every step, in order.
    pub const ALL: [Self; 5] = [Self::Credential, Self::Token, Self::Order, Self::Endpoints, Self::Live];

    /// The step in a few words.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Credential => "credential issued",
            Self::Token => "first access token",
            Self::Order => "first order",
            Self::Endpoints => "endpoints tested",
            Self::Live => "live",
        }
    }
}

impl Facts {
    /// The time at which the step was done.
    #[must_use]
    pub fn done_at(&self, step: Step) -> Option<DateTime<Utc>> {
        match step {
            Step::Credential => self.credential_at,
            Step::Token => self.token_at,
            Step::Order => self.order_at,
            Step::Endpoints => {
                let tested: Option<Vec<_>> = self.endpoints.iter().map(|endpoint| endpoint.tested_at).collect();
                tested.and_then(|tested| tested.into_iter().max())
            }
            Step::Live => self.live_at,
        }
    }

    /// The steps that are not done, in order. A merchant that is live has none.
    #[must_use]
    pub fn open(&self) -> Vec<Step> {
        if self.live_at.is_some() {
            return Vec::new();
        }
        Step::ALL.into_iter().filter(|step| self.done_at(*step).is_none()).collect()
    }

    /// The step that the merchant is at, and since when: since the last of the steps before it was done. A merchant that is live is
    /// at none.
    #[must_use]
    pub fn current(&self) -> Option<(Step, DateTime<Utc>)> {
        let current = self.open().into_iter().next()?;
        let before = Step::ALL.into_iter().filter(|step| *step < current).filter_map(|step| self.done_at(step));
        Some((current, before.fold(self.added_at, DateTime::max)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hour(hour: u32) -> DateTime<Utc> {
        format!("2026-03-01T{hour:02}:00:00Z").parse().expect("a time")
    }

    fn new() -> Facts {
        Facts { added_at: hour(1), credential_at: None, token_at: None, order_at: None, endpoints: Vec::new(), live_at: None }
    }

    fn endpoint(tested_at: Option<DateTime<Utc>>) -> EndpointTest {
        EndpointTest { interface: "rma".to_owned(), tested_at }
    }

    #[test]
    fn a_merchant_is_at_its_first_open_step_since_the_step_before_it() {
        let mut facts = new();
        assert_eq!(facts.current(), Some((Step::Credential, hour(1))));
        facts.credential_at = Some(hour(2));
        assert_eq!(facts.current(), Some((Step::Token, hour(2))));
        facts.token_at = Some(hour(3));
        facts.order_at = Some(hour(4));
        assert_eq!(facts.current(), Some((Step::Endpoints, hour(4))));
        facts.endpoints = vec![endpoint(Some(hour(5))), endpoint(Some(hour(6)))];
        assert_eq!(facts.current(), Some((Step::Live, hour(6))));
        facts.live_at = Some(hour(7));
        assert_eq!(facts.current(), None);
    }

    #[test]
    fn a_step_that_was_done_early_does_not_hide_an_earlier_one() {
        let facts = Facts { order_at: Some(hour(9)), credential_at: Some(hour(2)), ..new() };
        assert_eq!(facts.current(), Some((Step::Token, hour(2))));
        assert_eq!(facts.open(), [Step::Token, Step::Endpoints, Step::Live]);
    }

    #[test]
    fn endpoints_are_tested_when_there_is_one_and_each_has_passed() {
        let with = |endpoints| Facts { endpoints, ..new() }.done_at(Step::Endpoints);
        assert_eq!(with(Vec::new()), None);
        assert_eq!(with(vec![endpoint(Some(hour(5))), endpoint(None)]), None);
        assert_eq!(with(vec![endpoint(Some(hour(5))), endpoint(Some(hour(3)))]), Some(hour(5)));
    }

    #[test]
    fn a_live_merchant_has_no_open_step_whatever_was_skipped() {
        let facts = Facts { live_at: Some(hour(2)), ..new() };
        assert_eq!((facts.open(), facts.current()), (Vec::new(), None));
    }
}
