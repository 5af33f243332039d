//! The stored receipts, lines, returns, messages and exceptions.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::messages::history::Digest;

/// A received unit.
#[derive(Clone, Debug)]
pub(super) struct StoredReceipt {
    pub(super) unit: String,
    /// The line of the ASN, or of the order.
    pub(super) line: String,
    /// The return, if it was received without an ASN.
    pub(super) rma: Option<String>,
}

/// A message about a unit.
#[derive(Clone, Debug)]
pub(super) struct StoredMessage {
    pub(super) id: Uuid,
    pub(super) unit: String,
    pub(super) digest: Digest,
}

/// A message about a return.
#[derive(Clone, Debug)]
pub(super) struct StoredReturnMessage {
    pub(super) id: Uuid,
    pub(super) rma: String,
    pub(super) sequence: i64,
    /// The number of units that it reports as received.
    pub(super) received: i64,
    pub(super) digest: Digest,
}

/// A return.
#[derive(Clone, Debug)]
pub(super) struct StoredReturn {
    pub(super) name: String,
    pub(super) units: i64,
    pub(super) received: i64,
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
    pub(super) receipts: Vec<StoredReceipt>,
    pub(super) lines: Vec<StoredLine>,
    pub(super) returns: Vec<StoredReturn>,
    pub(super) messages: Vec<StoredMessage>,
    pub(super) return_messages: Vec<StoredReturnMessage>,
    /// Units listed as exceptions.
    pub(super) exceptions: BTreeSet<String>,
    /// Messages still owed.
    pub(super) waiting: HashSet<Uuid>,
    /// Messages in the failure queue.
    pub(super) failed: HashSet<Uuid>,
}

impl Stored {
    pub(super) async fn read(connection: &mut PgConnection) -> anyhow::Result<Self> {
        let receipts: Vec<(String, String, Option<String>)> = sqlx::query_as(
            "select unit_identifier, line_identifier, (select identifier from rma where rma.rma_id = receipt.rma_id) from receipt",
        )
        .fetch_all(&mut *connection)
        .await?;
        let lines: Vec<(String, String, i32, i32)> =
            sqlx::query_as("select line_identifier, unit_identifier, quantity, received from asn_line").fetch_all(&mut *connection).await?;
        let returns: Vec<(String, i64, i64)> = sqlx::query_as(
            "select rma.identifier, count(*), count(*) filter (where receiving = 'RECEIVED') from rma join rma_item using (merchant_id, rma_id) \
             group by rma.identifier",
        )
        .fetch_all(&mut *connection)
        .await?;
        let messages: Vec<(Uuid, String, String)> =
            sqlx::query_as("select message_id, subject, body from message where kind = 'inventory_receipt'")
                .fetch_all(&mut *connection)
                .await?;
        let return_messages: Vec<(Uuid, String, i64, String)> =
            sqlx::query_as("select message_id, subject, sequence, body from message where kind = 'rma'")
                .fetch_all(&mut *connection)
                .await?;
        let exceptions: Vec<String> =
            sqlx::query_scalar("select unit_identifier from receiving_exception").fetch_all(&mut *connection).await?;
        let waiting: Vec<Uuid> = sqlx::query_scalar("select message_id from delivery").fetch_all(&mut *connection).await?;
        let failed: Vec<Uuid> = sqlx::query_scalar("select message_id from failure").fetch_all(connection).await?;
        let line = |(name, unit, quantity, received)| StoredLine { name, unit, quantity, received };
        let message = |(id, unit, body): (Uuid, String, String)| StoredMessage { id, unit, digest: Sha256::digest(body).into() };
        Ok(Self {
            receipts: receipts.into_iter().map(|(unit, line, rma)| StoredReceipt { unit, line, rma }).collect(),
            lines: lines.into_iter().map(line).collect(),
            returns: returns.into_iter().map(|(name, units, received)| StoredReturn { name, units, received }).collect(),
            messages: messages.into_iter().map(message).collect(),
            return_messages: return_messages.into_iter().map(return_message).collect::<Result<_, _>>()?,
            exceptions: exceptions.into_iter().collect(),
            waiting: waiting.into_iter().collect(),
            failed: failed.into_iter().collect(),
        })
    }
}

fn return_message((id, rma, sequence, body): (Uuid, String, i64, String)) -> serde_json::Result<StoredReturnMessage> {
    let told: Value = serde_json::from_str(&body)?;
    let items = told.get("items").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let received = items.iter().filter(|item| item.get("receiving_status").and_then(Value::as_str) == Some("RECEIVED")).count();
    let received = i64::try_from(received).unwrap_or(i64::MAX);
    Ok(StoredReturnMessage { id, rma, sequence, received, digest: Sha256::digest(body).into() })
}
