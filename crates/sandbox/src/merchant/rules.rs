//! The answers configured for each path.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::answer::Answer;
use super::paths::{TOKEN_PATH, key, upwards};
use super::received::Received;

/// Computes the answer to a request.
type Decide = Arc<dyn Fn(&Received) -> Answer + Send + Sync>;

/// The source of the answer to a request.
#[derive(Clone)]
pub(super) enum Choice {
    Fixed(Answer),
    By(Decide),
}

/// The configuration of one path.
#[derive(Default)]
struct Rule {
    queued: VecDeque<Answer>,
    standing: Option<Choice>,
    requires_token: bool,
}

/// The configuration of all paths.
#[derive(Default)]
pub(super) struct Rules(Mutex<HashMap<String, Rule>>);

impl Rules {
    pub(super) fn stand(&self, path: &str, answer: Answer) {
        self.lock().entry(key(path).to_owned()).or_default().standing = Some(Choice::Fixed(answer));
    }

    pub(super) fn decide(&self, path: &str, decide: impl Fn(&Received) -> Answer + Send + Sync + 'static) {
        self.lock().entry(key(path).to_owned()).or_default().standing = Some(Choice::By(Arc::new(decide)));
    }

    pub(super) fn queue(&self, path: &str, answers: impl IntoIterator<Item = Answer>) {
        let answers: Vec<Answer> = answers.into_iter().collect();
        self.lock().entry(key(path).to_owned()).or_default().queued.extend(answers);
    }

    pub(super) fn require_token(&self, path: &str) {
        self.lock().entry(key(path).to_owned()).or_default().requires_token = true;
    }

    /// Returns whether this path requires a token.
    pub(super) fn requires_token(&self, path: &str) -> bool {
        let rules = self.lock();
        path != TOKEN_PATH && upwards(path).any(|path| rules.get(path).is_some_and(|rule| rule.requires_token))
    }

    /// Chooses the answer for a request at this path, and removes it if it was queued.
    pub(super) fn choose(&self, path: &str) -> Choice {
        let mut rules = self.lock();
        for at in upwards(path) {
            if let Some(rule) = rules.get_mut(at) {
                if let Some(next) = rule.queued.pop_front() {
                    return Choice::Fixed(next);
                }
                if let Some(standing) = &rule.standing {
                    return standing.clone();
                }
            }
            // Rules for paths above do not affect the token endpoint.
            if at == TOKEN_PATH {
                break;
            }
        }
        Choice::Fixed(Answer::usual())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Rule>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
