-- no-transaction
-- The failure queue over all merchants: its groups and their counts. Keys that repeat are stored once, so counting 10,000 entries
-- of a group reads about ten pages.
create index concurrently if not exists failure_to_count on failure (merchant_id, endpoint_id, reason, state, owner)
    where state in ('open', 'contacted');

-- The entries of a group, oldest first.
create index concurrently if not exists failure_by_reason on failure (merchant_id, endpoint_id, reason, failed_at, message_id)
    where state in ('open', 'contacted');

-- Entries that can no longer be sent.
create index concurrently if not exists failure_erased on failure (merchant_id, endpoint_id, reason)
    where state in ('open', 'contacted') and erased;
