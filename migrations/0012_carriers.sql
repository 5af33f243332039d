-- How a merchant's labels are bought. The API key and the secret of the carrier's webhooks are sealed with the key `key_id`,
-- which is outside the database.
create table carrier_account (
    merchant_id uuid primary key,
    changed_at timestamptz not null,
    -- Of goods whose weight nobody knows, in thousandths of a pound.
    usual_weight integer not null constraint usual_weight_is_positive check (usual_weight > 0),
    carrier text not null constraint carrier_is_known check (carrier in ('easypost')),
    url text not null,
    key_id text not null,
    api_key bytea not null,
    webhook_secret bytea not null,
    -- Where parcels go, as JSON.
    destination text not null
);

-- The labels of returns.
create table label (
    merchant_id uuid not null,
    rma_id uuid not null,
    bought_at timestamptz not null,
    tracking_number text not null,
    carrier text not null,
    -- The carrier's name for the shipment.
    shipment text not null,
    pdf bytea not null,
    primary key (merchant_id, rma_id),
    foreign key (merchant_id, rma_id) references rma
);

-- Events of carriers' webhooks that were taken, so that one that is sent again has no effect.
create table carrier_webhook (
    merchant_id uuid not null,
    received_at timestamptz not null,
    event text collate "C" not null,
    primary key (merchant_id, event)
);

create index carrier_webhook_by_age on carrier_webhook (received_at);
