//! Everything that is stored about a shopper's order, row by row, for the shopper who asks for it.

use uuid::Uuid;

use crate::{Failed, Tx};

/// A row, as JSON, and its table.
pub struct ExportedRow {
    pub table: String,
    pub row: String,
}

/// The rows about the order `order`, its returns `returns` and the messages `messages`, without hashes and fingerprints.
pub async fn rows(tx: &mut Tx, order: &str, returns: &[Uuid], messages: &[Uuid]) -> Result<Vec<ExportedRow>, Failed> {
    let rows = sqlx::query_as!(
        ExportedRow,
        r#"
        select listed.name as "table!", (listed.row - array['session_hash', 'digest', 'email_fingerprint', 'zip_fingerprint'])::text as "row!"
        from (
            select 'customer_order' as name, to_jsonb(stored) || jsonb_build_object('snapshot', stored.snapshot::jsonb) as row
            from customer_order as stored where stored.merchant_id = $1 and stored.identifier = $2
            union all
            select 'refund', to_jsonb(stored) from refund as stored where stored.merchant_id = $1 and stored.order_identifier = $2
            union all
            select 'refund_line', to_jsonb(stored) from refund_line as stored where stored.merchant_id = $1 and stored.order_identifier = $2
            union all
            select 'rma', to_jsonb(stored) from rma as stored where stored.merchant_id = $1 and stored.rma_id = any($3)
            union all
            select 'rma_item', to_jsonb(stored) from rma_item as stored where stored.merchant_id = $1 and stored.rma_id = any($3)
            union all
            select 'rma_event', to_jsonb(stored) from rma_event as stored where stored.merchant_id = $1 and stored.rma_id = any($3)
            union all
            select 'label', to_jsonb(stored) from label as stored where stored.merchant_id = $1 and stored.rma_id = any($3)
            union all
            select 'exchange_order', to_jsonb(stored)
            from exchange_order as stored where stored.merchant_id = $1 and stored.original_order_identifier = $2
            union all
            select 'return_draft', to_jsonb(stored) from return_draft as stored where stored.merchant_id = $1 and stored.order_identifier = $2
            union all
            select 'withdrawal', to_jsonb(stored) from withdrawal as stored where stored.merchant_id = $1 and stored.order_identifier = $2
            union all
            select 'withdrawal_draft', to_jsonb(stored)
            from withdrawal_draft as stored where stored.merchant_id = $1 and stored.order_identifier = $2
            union all
            select 'message', jsonb_build_object(
                'message_id', stored.message_id, 'kind', stored.kind, 'event', stored.event, 'subject', stored.subject,
                'sequence', stored.sequence, 'body', stored.body)
            from message as stored where stored.merchant_id = $1 and stored.message_id = any($4)
            union all
            select 'attempt', jsonb_build_object('message_id', stored.message_id, 'answer', stored.answer)
            from attempt as stored where stored.merchant_id = $1 and stored.message_id = any($4) and stored.answer is not null
            union all
            select 'failure', jsonb_build_object('message_id', stored.message_id, 'body', stored.body, 'note', stored.note)
            from failure as stored where stored.merchant_id = $1 and stored.message_id = any($4)
            union all
            select 'failure_note', to_jsonb(stored) from failure_note as stored where stored.merchant_id = $1 and stored.message_id = any($4)
        ) as listed
        "#,
        tx.merchant().0,
        order,
        returns,
        messages,
    );
    Ok(rows.fetch_all(tx.connection()).await?)
}
