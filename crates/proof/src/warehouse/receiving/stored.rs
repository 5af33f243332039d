//! The stored receipts, lines, messages and exceptions.

use std::collections::{BTreeSet, HashSet};

use sha2::{Digest as _, Sha256};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::messages::history::Digest;

/// A message about a unit.
#[derive(Clone, Debug)]
pub(super) struct StoredMessage {
    pub(super) id: Uuid,
    pub(super) unit: String,
    pub(super) digest: Digest,
}

/// A line of the ASN.
#[derive(Clone, Debug)]
pub(super) struct StoredLine {
    pub(super) name: String,
    pub(super) unit: String,
    pub(super) quantity: i32,
    pub(super) received: i32,
}

/// The stored state in the end.
#[derive(Clone, Debug, Default)]
pub(super) struct Stored {
    /// Units, each with the line it was received on.
    pub(super) receipts: Vec<(String, String)>,
    pub(super) lines: Vec<StoredLine>,
    pub(super) messages: Vec<StoredMessage>,
    /// Units listed as exceptions.
    pub(super) exceptions: BTreeSet<String>,
    /// Messages still owed.
    pub(super) waiting: HashSet<Uuid>,
    /// Messages in the failure queue.
    pub(super) failed: HashSet<Uuid>,
}

impl Stored {
    pub(super) async fn read(connection: &mut PgConnection) -> anyhow::Result<Self> {
        let receipts = sqlx::query_as("select unit_identifier, line_identifier from receipt").fetch_all(&mut *connection).await?;
        let lines: Vec<(String, String, i32, i32)> =
            sqlx::query_as("select line_identifier, unit_identifier, quantity, received from asn_line").fetch_all(&mut *connection).await?;
        let messages: Vec<(Uuid, String, String)> =
            sqlx::query_as("select message_id, subject, body from message where kind = 'inventory_receipt'")
                .fetch_all(&mut *connection)
                .await?;
        let exceptions: Vec<String> =
            sqlx::query_scalar("select unit_identifier from receiving_exception").fetch_all(&mut *connection).await?;
        let waiting: Vec<Uuid> = sqlx::query_scalar("select message_id from delivery").fetch_all(&mut *connection).await?;
        let failed: Vec<Uuid> = sqlx::query_scalar("select message_id from failure").fetch_all(connection).await?;
        let line = |(name, unit, quantity, received)| StoredLine { name, unit, quantity, received };
        let message = |(id, unit, body): (Uuid, String, String)| StoredMessage { id, unit, digest: Sha256::digest(body).into() };
        Ok(Self {
            receipts,
            lines: lines.into_iter().map(line).collect(),
            messages: messages.into_iter().map(message).collect(),
            exceptions: exceptions.into_iter().collect(),
            waiting: waiting.into_iter().collect(),
            failed: failed.into_iter().collect(),
        })
    }
}
