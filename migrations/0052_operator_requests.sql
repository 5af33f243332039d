-- What one administrator asks for and another one decides.
create table operator_request (
    request_id uuid not null primary key,
    wanted text not null,
    -- The merchant whose data it is about; none if it is about the installation.
    merchant_id uuid references merchant,
    -- What it covers, as the flow that carries it out reads it.
    covers text[] not null,
    -- How many things it covers.
    things bigint not null,
    why text not null,
    asked_by uuid not null references operator,
    asked_at timestamptz not null,
    decision text constraint decision_is_known check (decision in ('approved', 'refused', 'withdrawn')),
    decided_by uuid references operator,
    decided_at timestamptz,
    reason text,
    -- What came of an approved request; none while it is carried out.
    outcome text,
    done_at timestamptz,
    constraint a_decision_has_its_person check (
        (decision is null) = (decided_by is null) and (decision is null) = (decided_at is null)
    ),
    constraint nobody_decides_their_own check (decision = 'withdrawn' or decided_by <> asked_by),
    constraint only_the_approved_are_done check (done_at is null or decision = 'approved')
);
create index operator_request_by_age on operator_request (asked_at);
