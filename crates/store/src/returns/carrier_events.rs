//! Carrier events that arrived before their label. They wait until the label is there.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use crate::{Failed, Store, Tx};

/// The time for which an event waits for its label.
pub const KEPT_FOR: TimeDelta = TimeDelta::days(90);

/// The label that an event waits for.
#[derive(Clone, Copy, Debug)]
pub enum WaitsFor<'a> {
    /// The label of the return with this identifier.
    Return(&'a str),
    /// The label with this tracking number.
    Tracking(&'a str),
}

impl WaitsFor<'_> {
    fn word(self) -> String {
        match self {
            Self::Return(identifier) => format!("rma {identifier}"),
            Self::Tracking(number) => format!("tracking {number}"),
        }
    }
}

/// An event that waits for its label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingEvent {
    /// The carrier's word for the event.
    pub event: String,
    pub occurred_at: DateTime<Utc>,
    /// Lines and quantities that were handed over. `None` if it was all of them.
    pub handed_over: Option<Vec<(String, u32)>>,
}

/// Saves an event. Saving the same event again has no effect.
pub async fn keep(tx: &mut Tx, id: Uuid, waits_for: WaitsFor<'_>, event: &WaitingEvent, now: DateTime<Utc>) -> Result<(), Failed> {
    let lines: Option<Vec<&str>> = event.handed_over.as_ref().map(|units| units.iter().map(|(line, _)| line.as_str()).collect());
    let quantities: Option<Vec<i32>> =
        event.handed_over.as_ref().map(|units| units.iter().map(|(_, quantity)| i32::try_from(*quantity).unwrap_or(i32::MAX)).collect());
    sqlx::query!(
        r#"
        insert into carrier_event (merchant_id, event_id, received_at, occurred_at, event, waits_for, lines, quantities)
        values ($1, $2, $3, $4, $5, $6, $7, $8)
        on conflict (merchant_id, waits_for, event, occurred_at) do nothing
        "#,
        tx.merchant().0,
        id,
        now,
        event.occurred_at,
        event.event,
        waits_for.word(),
        lines.as_deref() as Option<&[&str]>,
        quantities.as_deref(),
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Removes and returns the events that waited for this label, in the order in which they happened.
pub async fn take(tx: &mut Tx, rma_identifier: &str, tracking_number: &str) -> Result<Vec<WaitingEvent>, Failed> {
    let waited_for = [WaitsFor::Return(rma_identifier).word(), WaitsFor::Tracking(tracking_number).word()];
    let rows = sqlx::query!(
        r#"
        delete from carrier_event
        where merchant_id = $1 and waits_for = any($2)
        returning event_id, occurred_at, event, lines, quantities
        "#,
        tx.merchant().0,
        &waited_for[..],
    )
    .fetch_all(tx.connection())
    .await?;
    let mut rows = rows;
    rows.sort_unstable_by_key(|row| (row.occurred_at, row.event_id));
    let handed_over = |lines: Vec<String>, quantities: Vec<i32>| {
        lines.into_iter().zip(quantities).map(|(line, quantity)| (line, u32::try_from(quantity).unwrap_or_default())).collect()
    };
    Ok(rows
        .into_iter()
        .map(|row| WaitingEvent {
            event: row.event,
            occurred_at: row.occurred_at,
            handed_over: row.lines.zip(row.quantities).map(|(lines, quantities)| handed_over(lines, quantities)),
        })
        .collect())
}

/// The events that wait for the label of the return `rma_identifier`, oldest first.
pub async fn list_waiting(
    store: &Store,
    merchant: MerchantId,
    rma_identifier: &str,
    most: i64,
) -> Result<Vec<(String, DateTime<Utc>)>, Failed> {
    let rows = sqlx::query!(
        r#"
        select event, occurred_at
        from carrier_event
        where merchant_id = $1 and waits_for = $2
        order by occurred_at, event_id
        limit $3
        "#,
        merchant.0,
        WaitsFor::Return(rma_identifier).word(),
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(rows.into_iter().map(|row| (row.event, row.occurred_at)).collect())
}

/// Events of all merchants that have waited too long at `now`, oldest first.
pub async fn list_outdated(store: &Store, now: DateTime<Utc>, most: i64) -> Result<Vec<(MerchantId, Uuid)>, Failed> {
    let rows = sqlx::query!(
        "select merchant_id, event_id from carrier_event where received_at <= $1 order by received_at limit $2",
        now - KEPT_FOR,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(rows.into_iter().map(|row| (MerchantId(row.merchant_id), row.event_id)).collect())
}

/// Deletes these events, and their tracking numbers unless those belong to a return. If a number is being reserved again at
/// the same time, this waits: the row of a number only serialises events and labels that arrive together.
pub async fn forget(tx: &mut Tx, events: &[Uuid]) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        with forgotten as (
            delete from carrier_event
            where merchant_id = $1 and event_id = any($2)
            returning waits_for
        )
        delete from parcel
        where merchant_id = $1 and rma_id is null
            and tracking_number in (select substr(waits_for, 10) from forgotten where starts_with(waits_for, 'tracking '))
        "#,
        tx.merchant().0,
        events,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}
