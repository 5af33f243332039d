-- Personal tokens, with which operators' scripts call the operator API. Of a token, only a keyed hash is stored.
create table operator_token (
    token_id uuid not null primary key,
    token_hash bytea not null
        constraint operator_token_is_unique unique
        constraint operator_token_hash_is_an_hmac check (length(token_hash) = 32),
    operator_id uuid not null references operator,
    name text not null,
    -- The most that the token may do. It never may do more than its operator.
    role text not null constraint operator_token_role_is_known check (role in ('viewer', 'support', 'manager', 'admin')),
    made_at timestamptz not null,
    expires_at timestamptz not null,
    used_at timestamptz,
    revoked_at timestamptz,
    constraint operator_token_lives_a_year_at_most check (expires_at > made_at and expires_at <= made_at + interval '365 days')
);
create index operator_token_by_operator on operator_token (operator_id, made_at desc);
create index operator_token_by_age on operator_token (expires_at);
