//! The installation's keys: compared with those that were used before, and used as the database says.
//!
//! A new key in the settings changes nothing by itself. It is used from the moment at which somebody rotates the keys, on every node
//! at once; until then, and until whatever the old key made has been renewed, both must be in the settings.

use store::Failed;
use store::node::keys::{self, UsedKey};

use super::loaded_keys::NodeKeys;
use crate::node::Parts;
use crate::platform::keys::{Kind, Known};

impl NodeKeys {
    /// Uses the keys that the database names.
    fn follow(&self, used: &[UsedKey]) {
        for kind in Kind::ALL {
            if let Some(active) = active(used, kind) {
                match kind {
                    Kind::Sealing => self.sealing.activate(&active.id),
                    Kind::Fingerprint => self.fingerprints.activate(&active.id),
                }
            }
        }
    }
}

/// The key of this kind that is in use, according to the database.
#[must_use]
pub fn active(used: &[UsedKey], kind: Kind) -> Option<&UsedKey> {
    used.iter().filter(|key| key.kind == kind.as_str() && key.activated_at.is_some()).max_by_key(|key| key.activated_at)
}

/// A key of the settings that is wrong, or one that is not in them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrongKey {
    #[error("the key `{id}` of keys.{kind} is not the one that this installation used under that name")]
    Other { kind: &'static str, id: String },
    #[error("keys.{kind} lacks the key `{id}`, which this installation still needs")]
    Missing { kind: &'static str, id: String },
}

/// The way out of a wrong key.
pub const MEND: &str = "restore the key from your vault or backup; `backhaul keys status` shows which ones are needed";

/// Compares the keys of the settings with those that were used before.
#[must_use]
pub fn compare(known: &[Known], used: &[UsedKey]) -> Vec<WrongKey> {
    let mut wrong = Vec::new();
    for key in used {
        let Ok(kind) = key.kind.parse::<Kind>() else { continue };
        let (kind, found) = (kind.as_str(), known.iter().find(|known| known.kind == kind && known.id == key.id));
        match found {
            Some(found) if found.check.as_slice() == key.check_value => {}
            Some(_) => wrong.push(WrongKey::Other { kind, id: key.id.clone() }),
            None if key.retired_at.is_none() => wrong.push(WrongKey::Missing { kind, id: key.id.clone() }),
            None => {}
        }
    }
    wrong
}

impl Parts {
    /// Compares the keys with those that were used before, keeps the check values of new ones, and uses what the database names.
    pub async fn confirm_keys(&self) -> Result<Vec<WrongKey>, Failed> {
        let known = self.keys.known();
        let mut used = keys::list(self.home()).await?;
        let wrong = compare(&known, &used);
        if !wrong.is_empty() {
            return Ok(wrong);
        }
        let is_used = |key: &Known, used: &[UsedKey]| used.iter().any(|one| one.kind == key.kind.as_str() && one.id == key.id);
        if known.iter().any(|key| !is_used(key, &used)) {
            for key in known.iter().filter(|key| !is_used(key, &used)) {
                keys::insert(self.home(), key.kind.as_str(), &key.id, &key.check, self.now()).await?;
            }
            used = keys::list(self.home()).await?;
        }
        self.keys.follow(&used);
        Ok(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::config::Settings;

    #[test]
    fn a_key_with_another_value_and_a_missing_one_are_wrong_and_a_retired_one_is_not_missed() {
        let sandbox = [("BACKHAUL__MODE".to_owned(), "sandbox".to_owned())];
        let keys = NodeKeys::load(&Settings::load(None, sandbox.into_iter()).expect("settings")).expect("keys").known();
        let now = chrono::DateTime::default();
        let used = |kind: Kind, id: &str, check: &[u8], retired: bool| UsedKey {
            kind: kind.as_str().to_owned(),
            id: id.to_owned(),
            check_value: check.to_vec(),
            first_used_at: now,
            activated_at: Some(now),
            retired_at: retired.then_some(now),
        };
        let right: Vec<UsedKey> = keys.iter().map(|key| used(key.kind, &key.id, &key.check, false)).collect();
        assert_eq!(compare(&keys, &right), []);
        let other = used(Kind::Sealing, "sandbox", &[0; 16], false);
        assert_eq!(compare(&keys, &[other]), [WrongKey::Other { kind: "sealing", id: "sandbox".to_owned() }]);
        let missing = used(Kind::Fingerprint, "k1", &[0; 16], false);
        assert_eq!(compare(&keys, &[missing]), [WrongKey::Missing { kind: "fingerprint", id: "k1".to_owned() }]);
        assert_eq!(compare(&keys, &[used(Kind::Fingerprint, "k1", &[0; 16], true)]), []);
    }
}
