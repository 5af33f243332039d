//! Which answer a path gets.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::answer::Answer;
use super::received::Received;
use super::tokens::TOKEN_PATH;

/// What makes an answer of a request.
type Decide = Arc<dyn Fn(&Received) -> Answer + Send + Sync>;

/// Where the answer to a request comes from.
#[derive(Clone)]
pub(super) enum Choice {
    /// It is known already.
    Fixed(Answer),
    /// It depends on the request.
    By(Decide),
}

/// What was told about one path.
#[derive(Default)]
struct Rule {
    queued: VecDeque<Answer>,
    standing: Option<Choice>,
    requires_token: bool,
}

/// What was told about all paths.
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

    /// Whether a token must be presented at this path.
    pub(super) fn requires_token(&self, path: &str) -> bool {
        let rules = self.lock();
        path != TOKEN_PATH && upwards(path).any(|path| rules.get(path).is_some_and(|rule| rule.requires_token))
    }

    /// The answer for a request at this path; a queued one is used up.
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
            // What is told of all paths does not keep the token endpoint from working.
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

/// A path as it is looked up: without a slash at its end, so that the root is empty.
fn key(path: &str) -> &str {
    path.trim_end_matches('/')
}

/// The path, the one above it, and so on to the root.
fn upwards(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(key(path)), |path| path.rfind('/').and_then(|slash| path.get(..slash)))
}

/// Whether `path` is `above` or below it.
pub(super) fn is_at(path: &str, above: &str) -> bool {
    path.strip_prefix(key(above)).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_looked_up_from_itself_to_the_root() {
        assert_eq!(upwards("/a/b/c").collect::<Vec<_>>(), ["/a/b/c", "/a/b", "/a", ""]);
        assert_eq!(upwards("/a/").collect::<Vec<_>>(), ["/a", ""]);
        assert_eq!(upwards("/").collect::<Vec<_>>(), [""]);
    }

    #[test]
    fn a_path_stands_for_itself_and_what_is_below_it() {
        assert!(is_at("/returns", "/returns"));
        assert!(is_at("/returns/1", "/returns/"));
        assert!(is_at("/returns", "/"));
        assert!(!is_at("/returns_portal", "/returns"));
        assert!(!is_at("/return", "/returns"));
    }
}
