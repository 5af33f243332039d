//! Ids as people give them: whole, or the beginning that a list shows.

use std::str::FromStr;

use anyhow::bail;
use domain::id::MerchantId;
use store::node::short_ids::{self, Identified};
use uuid::Uuid;

use crate::app::App;

/// The length of the shortest beginning.
pub(super) const SHORTEST: usize = 13;

/// An id, or the beginning of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Id {
    given: String,
    /// The ids that begin like this.
    first: Uuid,
    last: Uuid,
}

impl FromStr for Id {
    type Err = String;

    fn from_str(given: &str) -> Result<Self, String> {
        let filled = |with: &str| {
            let rest = with.get(given.len()..).filter(|_| given.len() >= SHORTEST)?;
            Uuid::try_parse(&format!("{given}{rest}")).ok()
        };
        let ends = filled("00000000-0000-0000-0000-000000000000").zip(filled("ffffffff-ffff-ffff-ffff-ffffffffffff"));
        let (first, last) = ends.ok_or("copy it from a list, whole or at least its first 13 characters")?;
        Ok(Self { given: given.to_owned(), first, last })
    }
}

impl Id {
    /// The whole id.
    pub(super) async fn of(&self, app: &App, merchant: MerchantId, kind: Identified) -> anyhow::Result<Uuid> {
        if self.first == self.last {
            return Ok(self.first);
        }
        let (one, several) = match kind {
            Identified::Message => ("message", "messages"),
            Identified::ReceivingException => ("exception", "exceptions"),
            Identified::OrderImport => ("import", "imports"),
            Identified::RetryJob | Identified::ReplayJob => ("job", "jobs"),
        };
        match short_ids::list(app.store(merchant), merchant, kind, self.first, self.last).await?.as_slice() {
            [id] => Ok(*id),
            [] => bail!("the merchant has no {one} whose id begins with {}", self.given),
            _ => bail!("several {several} have ids that begin with {}; give more of it, as `-o json` shows it", self.given),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_whole_or_begins_with_at_least_13_characters() {
        let whole: Id = "0195513c-9a00-7000-8000-000000000001".parse().expect("an id");
        assert_eq!(whole.first, whole.last);
        let short: Id = "0195513C-9a00".parse().expect("a beginning");
        assert_eq!(short.first.to_string(), "0195513c-9a00-0000-0000-000000000000");
        assert_eq!(short.last.to_string(), "0195513c-9a00-ffff-ffff-ffffffffffff");
        for wrong in ["", "0195513c-9a0", "0195513c-9a00-7000-8000-0000000000011", "0195513c-9g00", "0195513c_9a00", "ééééééé"] {
            assert!(wrong.parse::<Id>().is_err(), "{wrong}");
        }
    }
}
