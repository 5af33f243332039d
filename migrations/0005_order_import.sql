-- History imports: how far each has come, so that one that broke off goes on where it was.
create table order_import (
    merchant_id uuid not null,
    import_id uuid not null,
    -- Who reads its lines at the moment, and until when nobody else may.
    owner uuid,
    leased_until timestamptz,
    started_at timestamptz not null,
    updated_at timestamptz not null,
    lines_done bigint not null,
    created bigint not null,
    updated bigint not null,
    unchanged bigint not null,
    stale bigint not null,
    refused bigint not null,
    state text not null constraint import_state_is_known check (state in ('running', 'interrupted', 'done')),
    primary key (merchant_id, import_id),
    constraint leased_iff_owned check ((owner is null) = (leased_until is null)),
    constraint owned_iff_running check ((owner is null) = (state <> 'running')),
    constraint every_outcome_has_its_line check (created + updated + unchanged + stale + refused <= lines_done)
) with (fillfactor = 50);

-- The lines that were refused and why. It holds no part of an order beside its identifier.
create table order_import_refusal (
    merchant_id uuid not null,
    import_id uuid not null,
    line bigint not null constraint lines_count_from_one check (line >= 1),
    order_identifier text,
    faults text not null,
    primary key (merchant_id, import_id, line),
    foreign key (merchant_id, import_id) references order_import
);
