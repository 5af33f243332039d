//! The cache of access tokens' grants, so that most requests are authorised without the database.

use std::time::Duration;

use domain::id::MerchantId;
use store::Failed;
use store::merchants::tokens::{self, Grant};

use crate::node::Node;
use crate::platform::keys::bearer::Hash;

/// The time for which a look-up is trusted. Revocation takes effect within 5 seconds on every node; the rest is for the look-up.
const TRUSTED_FOR: Duration = Duration::from_secs(4);
/// The most tokens that are remembered.
const MOST_REMEMBERED: usize = 100_000;

/// Grants that were looked up a moment ago, by the token's hash.
pub struct GrantCache(quick_cache::sync::Cache<Hash, Remembered>);

#[derive(Clone)]
struct Remembered {
    grant: Grant,
    looked_up: Duration,
}

impl Default for GrantCache {
    fn default() -> Self {
        Self(quick_cache::sync::Cache::new(MOST_REMEMBERED))
    }
}

impl GrantCache {
    /// The grant of a token, from the cache or the database. Unknown tokens are not remembered.
    pub(crate) async fn look_up(&self, node: &Node, merchant: MerchantId, token: Hash) -> Result<Option<Grant>, Failed> {
        let now = node.clock.uptime();
        if let Some(Remembered { grant, looked_up }) = self.0.get(&token)
            && now.saturating_sub(looked_up) < TRUSTED_FOR
        {
            return Ok(Some(grant));
        }
        let grant = tokens::find(node.store(merchant), merchant, &token).await?;
        if let Some(grant) = &grant {
            self.0.insert(token, Remembered { grant: grant.clone(), looked_up: now });
        }
        Ok(grant)
    }
}
