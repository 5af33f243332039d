-- no-transaction
-- The feed, page by page. The condition also keeps the planner from finding single messages by this index, as it would while a week is
-- still empty.
create index concurrently if not exists message_by_position on message (merchant_id, position) where position is not null;

-- What is not numbered yet, in the order of the version before. Normally this is empty.
create index concurrently if not exists message_unnumbered on message (merchant_id, feed_epoch, transaction, message_id)
    where position is null and kind <> 'endpoint_test' and not internal;
