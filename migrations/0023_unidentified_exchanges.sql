-- An exchange order is placed by any answer of success, with or without its identifier, which may come later.
alter table exchange_order
    drop constraint placed_with_its_identifier,
    -- A merchant may name the order even after the exchange was converted: then both exist, and people decide.
    add constraint pending_without_an_identifier check (state <> 'pending' or order_identifier is null),
    -- When an order without an identifier comes on the operator's work list; null once it has, and with an identifier.
    add column listed_from timestamptz,
    add constraint listed_without_an_identifier check (listed_from is null or (state = 'placed' and order_identifier is null));

create index exchange_order_to_list on exchange_order (listed_from) where listed_from is not null;
