//! A reading: the due messages of many endpoints at once, with the settings of endpoints that are new or have changed.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::id::EndpointId;
use store::messages::deliveries::{self, DueQuery, DueRow};
use store::messages::endpoints;
use store::messages::settlements::Hold;
use uuid::Uuid;

use crate::delivery::handle::Delivery;
use crate::delivery::transports::peer::{Peer, UnusablePeer};

/// A reading that has ended.
pub(crate) struct Reading {
    /// The queries, with the hold under which each was made.
    pub(super) asked: Vec<(DueQuery, Hold)>,
    pub(super) read_at: DateTime<Utc>,
    /// True if its endpoints are being drained.
    pub(super) drains: bool,
    pub(super) outcome: Result<(Vec<DueRow>, Peers), store::Failed>,
}

/// The settings that were read, by endpoint.
pub(super) type Peers = HashMap<EndpointId, Result<Arc<Peer>, UnusablePeer>>;

/// Reads the due messages that are not `in_flight`. Settings are read only where they differ from the `known` revision.
pub(super) async fn read(
    delivery: &Delivery,
    asked: Vec<(DueQuery, Hold)>,
    in_flight: &[Uuid],
    known: HashMap<EndpointId, Arc<Peer>>,
    drains: bool,
) -> Reading {
    let read_at = delivery.now();
    let wanted: Vec<DueQuery> = asked.iter().map(|(wanted, _)| *wanted).collect();
    let outcome = async {
        let rows = deliveries::due(delivery.cell(), &wanted, in_flight, read_at).await?;
        let mut peers = Peers::new();
        for due in &rows {
            let current = known.get(&due.endpoint).is_some_and(|peer| peer.revision == due.revision);
            if current || peers.contains_key(&due.endpoint) {
                continue;
            }
            if let Some(endpoint) = endpoints::find(delivery.store(due.merchant), due.merchant, due.endpoint).await? {
                peers.insert(due.endpoint, Peer::new(delivery, due.merchant, &endpoint).map(Arc::new));
            }
        }
        Ok((rows, peers))
    };
    let outcome = outcome.await;
    Reading { asked, read_at, drains, outcome }
}
