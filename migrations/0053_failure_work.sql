-- What people did about a message in the failure queue, in order. One action on many messages has one `note_id`.
create table failure_note (
    merchant_id uuid not null,
    message_id uuid not null,
    note_id uuid not null,
    made_at timestamptz not null,
    actor text not null,
    kind text not null constraint failure_note_kind_is_known check (kind in ('owner', 'note', 'contacted', 'discarded')),
    -- The owner or the note; null for what needs no words, and when the message was erased.
    text text,
    primary key (merchant_id, message_id, note_id),
    -- The history ends with its entry.
    constraint failure_note_is_about_an_entry foreign key (merchant_id, message_id) references failure (merchant_id, message_id)
        on delete cascade
);

-- Part of the queue can be retried too: what failed for one reason, or messages that a person has selected. Those are in the order
-- in which they are released, and `gone_through` says how far the job has come.
alter table retry_job
    add column reason text,
    -- Only what failed at this endpoint, which may have been removed since.
    add column from_endpoint_id uuid,
    add column selected uuid[],
    add column gone_through integer not null default 0,
    add constraint retry_selection_is_bounded check (cardinality(selected) between 1 and 1000),
    add constraint retry_is_of_a_selection_or_a_reason check (selected is null or (reason is null and failed_since is null and from_endpoint_id is null));
