-- Receiving exceptions are a work list: who looks into one, what they found out, and why a person resolved it.
alter table receiving_exception
    -- The e-mail address of the operator who looks into it; empty if nobody does.
    add column owner text collate "C" not null default '',
    -- The reason for which a person resolved it; null while it is open, and when the unit arrived after all.
    add column resolution text;

-- What people did about an exception, in order.
create table exception_note (
    merchant_id uuid not null,
    exception_id uuid not null,
    note_id uuid not null,
    made_at timestamptz not null,
    actor text not null,
    kind text not null constraint exception_note_kind_is_known check (kind in ('owner', 'note', 'resolved')),
    -- The owner's e-mail address, the note, or the reason; empty when an owner was taken off.
    text text not null,
    primary key (merchant_id, exception_id, note_id),
    constraint exception_note_is_about_an_exception foreign key (merchant_id, exception_id)
        references receiving_exception (merchant_id, exception_id) on delete cascade
);
create index exception_note_by_age on exception_note (made_at);
