//! Messages that were written ahead of the commit, without a position.

use domain::id::MerchantId;
use uuid::Uuid;

use crate::connection::Connection;
use crate::failed::Failed;

/// Numbers the messages that a transaction has written early. This is its last statement.
pub(super) async fn number(connection: &mut Connection, merchant: MerchantId, messages: &[Uuid]) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        with taken as (
            update feed_counter
            set last = last + case when live then cardinality($2::uuid[]) else 0 end,
                last_message = case when live then $3 else last_message end
            where merchant_id = $1
            returning case when live then last - cardinality($2::uuid[]) end as before
        ), numbered as (
            update message
            set position = taken.before + array_position($2::uuid[], message_id)
            from taken
            where message.merchant_id = $1 and message.message_id = any($2::uuid[]) and taken.before is not null
        )
        -- From here on nobody else gets a number, so this process must not stop for long.
        select set_config('idle_in_transaction_session_timeout', '2s', true) as held_for
        "#,
        merchant.0,
        messages,
        messages.last().copied(),
    )
    .fetch_one(connection)
    .await?;
    Ok(())
}
