-- On what terms shoppers have something else than the money.
alter table return_policy
    -- The SKU that was agreed for gift cards; null where there are none.
    add column gift_card_sku text,
    add column gift_card_bonus_cents bigint not null default 0 constraint bonus_is_not_negative check (gift_card_bonus_cents >= 0),
    -- The merchant's word for what it sells, for lines that have none.
    add column concept text,
    -- Whether 409 and 422 are the merchant's last word on an exchange order.
    add column refusals_are_final boolean not null default false;

-- Whether the fee is taken off the refunds: units that become refunds later share it too.
alter table rma add column fee_deducted boolean not null default false;

-- How far its exchange has come, for lists; null when nothing is exchanged.
alter table rma add column exchange text constraint exchange_of_a_return_is_known check (exchange in ('pending', 'placed'));

-- The variant that the shopper takes instead of the money.
alter table rma_item add column exchange_sku text;

-- Orders that merchants are asked to place for what shoppers have instead of the money: one for each order, for ever.
create table exchange_order (
    merchant_id uuid not null,
    rma_id uuid not null,
    message_id uuid not null,
    created_at timestamptz not null,
    -- When it was placed or converted.
    ended_at timestamptz,
    -- What a gift card in it is worth, and what the merchant adds to that; null where there is none.
    gift_card_cents bigint,
    bonus_cents bigint,
    -- What the merchant answered.
    total_cents bigint,
    product_cents bigint,
    tax_cents bigint,
    state text not null constraint exchange_state_is_known check (state in ('pending', 'placed', 'converted')),
    original_order_identifier text collate "C" not null,
    order_identifier text collate "C",
    constraint one_exchange_order_for_each_order primary key (merchant_id, original_order_identifier),
    foreign key (merchant_id, rma_id) references rma,
    constraint placed_with_its_identifier check ((state = 'placed') = (order_identifier is not null)),
    constraint ended_unless_pending check ((state = 'pending') = (ended_at is null))
);

create unique index exchange_order_by_message on exchange_order (merchant_id, message_id);
create index exchange_order_by_identifier on exchange_order (merchant_id, order_identifier) where order_identifier is not null;
