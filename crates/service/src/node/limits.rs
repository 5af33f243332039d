//! The limits in force: those of the settings, or lower ones while the operator has lowered them.

use std::sync::atomic::{AtomicU32, Ordering};

use domain::node::mode::Mode;
use store::Store;

use crate::platform::config::Settings;

/// Requests per minute that the contract allows an address.
const fn of_mode(mode: Mode) -> u32 {
    match mode {
        Mode::Production => 5_000,
        Mode::Sandbox => 2_500,
    }
}

/// A limit that the operator can lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// Requests of one address within a minute.
    RequestsPerMinute,
    /// Order messages that a node works on at once.
    MessagesInFlight,
}

impl Name {
    /// Every limit.
    pub const ALL: [Self; 2] = [Self::MessagesInFlight, Self::RequestsPerMinute];

    /// The name on the command line and in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RequestsPerMinute => "requests-per-minute",
            Self::MessagesInFlight => "messages-in-flight",
        }
    }

    /// The setting with its default.
    #[must_use]
    pub const fn setting(self) -> &'static str {
        match self {
            Self::RequestsPerMinute => "limits.requests_per_minute",
            Self::MessagesInFlight => "intake.messages_in_flight",
        }
    }
}

/// The limits in force on this node.
pub struct Limits {
    requests_per_minute: Limit,
    messages_in_flight: Limit,
}

struct Limit {
    default: u32,
    in_force: AtomicU32,
}

impl Limit {
    fn new(default: u32) -> Self {
        Self { default, in_force: AtomicU32::new(default) }
    }

    fn get(&self) -> u32 {
        self.in_force.load(Ordering::Relaxed)
    }
}

impl Limits {
    /// The limits of the settings.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let requests_per_minute = match settings.limits.requests_per_minute {
            0 => of_mode(settings.mode),
            set => set,
        };
        Self {
            requests_per_minute: Limit::new(requests_per_minute),
            messages_in_flight: Limit::new(settings.intake.messages_in_flight.get()),
        }
    }

    /// Requests that one address may send within a minute.
    #[must_use]
    pub fn requests_per_minute(&self) -> u32 {
        self.requests_per_minute.get()
    }

    /// Order messages that this node works on at once.
    #[must_use]
    pub fn messages_in_flight(&self) -> u32 {
        self.messages_in_flight.get()
    }

    /// The value of a limit that the operator has not lowered.
    #[must_use]
    pub fn default_of(&self, name: Name) -> u32 {
        self.limit(name).default
    }

    /// The value of a limit that the operator has set to `set`, or not at all. A node never allows more than its settings.
    #[must_use]
    pub fn value_of(&self, name: Name, set: Option<i64>) -> u32 {
        let default = self.default_of(name);
        set.map_or(default, |set| u32::try_from(set).unwrap_or(u32::MAX).min(default))
    }

    /// Applies the operator's value, or the default if there is none.
    fn enforce(&self, name: Name, set: Option<i64>) {
        let (limit, value) = (self.limit(name), self.value_of(name, set));
        let before = limit.in_force.swap(value, Ordering::Relaxed);
        if before != value {
            tracing::info!(limit = name.as_str(), before, value, "a limit has changed");
        }
    }

    /// Reads the operator's values and applies them.
    pub async fn renew(&self, store: &Store) -> Result<(), store::Failed> {
        let set = store::node::limits::list(store).await?;
        for name in Name::ALL {
            let value = set.iter().find(|set| set.name == name.as_str()).and_then(|set| set.value);
            self.enforce(name, value);
        }
        Ok(())
    }

    fn limit(&self, name: Name) -> &Limit {
        match name {
            Name::RequestsPerMinute => &self.requests_per_minute,
            Name::MessagesInFlight => &self.messages_in_flight,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(variables: &[(&str, &str)]) -> Limits {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Limits::new(&Settings::load(None, variables).expect("settings"))
    }

    #[test]
    fn the_contract_allows_5000_requests_a_minute_in_production_and_2500_in_a_sandbox() {
        assert_eq!(limits(&[]).requests_per_minute(), 5_000);
        assert_eq!(limits(&[("BACKHAUL__MODE", "sandbox")]).requests_per_minute(), 2_500);
        assert_eq!(limits(&[("BACKHAUL__LIMITS__REQUESTS_PER_MINUTE", "1000000")]).requests_per_minute(), 1_000_000);
        assert_eq!(limits(&[]).messages_in_flight(), 512);
    }

    #[test]
    fn the_operator_lowers_and_never_raises() {
        let limits = limits(&[]);
        for (set, in_force) in [(Some(100), 100), (Some(5_001), 5_000), (Some(i64::MAX), 5_000), (Some(1), 1), (None, 5_000)] {
            limits.enforce(Name::RequestsPerMinute, set);
            assert_eq!(limits.requests_per_minute(), in_force);
        }
        assert_eq!(limits.messages_in_flight(), 512, "the other limit is not concerned");
    }
}
