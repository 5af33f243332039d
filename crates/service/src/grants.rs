//! The cache of access tokens' grants, so that most requests are authorised without the database, and the notes of which credentials
//! were used.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::merchants::access::Scopes;
use store::Failed;
use store::merchants::{credentials, tokens};

use crate::node::Node;
use crate::platform::client_certificate::Binding;
use crate::platform::keys::bearer::Hash;
use crate::platform::networks::Networks;

/// The time for which a look-up is trusted. Revocation takes effect within 5 seconds on every node; the rest is for the look-up.
const TRUSTED_FOR: Duration = Duration::from_secs(4);
/// The most tokens that are remembered.
const MOST_REMEMBERED: usize = 100_000;
/// The most credentials whose use waits to be noted. Beyond that, uses are noted with a later call.
const MOST_NOTED: usize = 10_000;

/// Grants that were looked up a moment ago, by the token's hash.
pub struct GrantCache {
    looked_up: quick_cache::sync::Cache<Hash, Remembered>,
    /// When calls were last answered, by credential, since the last note in the database.
    used: Mutex<HashMap<Arc<str>, DateTime<Utc>>>,
}

/// The rights that a token grants, from where, and with which client certificates.
#[derive(Clone)]
pub(crate) struct Grant {
    pub(crate) client_id: Arc<str>,
    /// The merchant's handle.
    pub(crate) handle: Arc<str>,
    pub(crate) scopes: Scopes,
    pub(crate) expires_at: DateTime<Utc>,
    /// True if its credential has been revoked.
    pub(crate) revoked: bool,
    /// True if its merchant is paused.
    pub(crate) paused: bool,
    networks: Networks,
    /// The client certificates with which it may be used.
    pub(crate) binding: Binding,
}

#[derive(Clone)]
struct Remembered {
    /// None if there is no such token any more.
    grant: Option<Grant>,
    looked_up: Duration,
}

impl Default for GrantCache {
    fn default() -> Self {
        Self { looked_up: quick_cache::sync::Cache::new(MOST_REMEMBERED), used: Mutex::default() }
    }
}

impl Grant {
    /// Whether the token may be used from this address.
    pub(crate) fn allows(&self, address: IpAddr) -> bool {
        self.networks.allow(address)
    }
}

impl TryFrom<tokens::Grant> for Grant {
    type Error = Failed;

    fn try_from(kept: tokens::Grant) -> Result<Self, Failed> {
        let networks = Networks::parse(&kept.networks).map_err(|_| Failed::Internal("a stored network is unreadable"))?;
        let binding = Binding::parse(&kept.certificates).map_err(|_| Failed::Internal("a stored fingerprint is unreadable"))?;
        let tokens::Grant { client_id, handle, scopes, expires_at, revoked, paused, networks: _, certificates: _ } = kept;
        Ok(Self { client_id: client_id.into(), handle: handle.into(), scopes, expires_at, revoked, paused, networks, binding })
    }
}

impl GrantCache {
    /// The grant of a token, from the cache or the database, and whether it is fresh from there. Only tokens that we issued come here,
    /// so those that are gone are remembered too, and strangers cannot fill the cache.
    pub(crate) async fn look_up(&self, node: &Node, merchant: MerchantId, token: Hash) -> Result<Option<(Grant, bool)>, Failed> {
        let now = node.clock.uptime();
        if let Some(Remembered { grant, looked_up }) = self.looked_up.get(&token)
            && now.saturating_sub(looked_up) < TRUSTED_FOR
        {
            return Ok(grant.map(|grant| (grant, false)));
        }
        let grant = tokens::find(node.store(merchant), merchant, &token).await?.map(Grant::try_from).transpose()?;
        self.looked_up.insert(token, Remembered { grant: grant.clone(), looked_up: now });
        Ok(grant.map(|grant| (grant, true)))
    }

    /// Remembers that a call is answered for a credential. It costs no statement; [`GrantCache::note_uses`] writes it down later.
    pub(crate) fn used(&self, client_id: &Arc<str>, now: DateTime<Utc>) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if used.len() < MOST_NOTED || used.contains_key(client_id) {
            used.insert(Arc::clone(client_id), now);
        }
    }

    /// Writes down which credentials were used, in one statement. What cannot be written is noted with a later call.
    pub(crate) async fn note_uses(&self, node: &Node) -> Result<(), Failed> {
        let used = std::mem::take(&mut *self.used.lock().unwrap_or_else(PoisonError::into_inner));
        if used.is_empty() {
            return Ok(());
        }
        let (client_ids, at): (Vec<String>, Vec<_>) = used.into_iter().map(|(client_id, at)| (client_id.to_string(), at)).unzip();
        credentials::note_calls(node.cell(), &client_ids, &at, node.now()).await?;
        Ok(())
    }
}
