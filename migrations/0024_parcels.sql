-- Goods can be handed over before there is a label: then they are somewhere, and have no tracking number yet.
alter table rma_item drop constraint tracked_iff_labelled;
alter table rma_item add constraint tracked_unless_handed_over_before_the_label check (
    (parcel is null) = (tracking_number is null) or (tracking_number is null and parcel in ('ACCEPTED', 'NOT_DROPPED_OFF'))
);

-- Whether a scan that names the return waits for its label: the goods are with the carrier, so nobody calls the return off.
alter table rma add column scanned_early boolean not null default false;
update rma set scanned_early = true, wakes_at = null
from carrier_event
where carrier_event.merchant_id = rma.merchant_id and carrier_event.waits_for = 'rma ' || rma.identifier;

-- Partial drop-offs that took effect, so that one that is reported again takes no other units.
create table drop_off (
    merchant_id uuid not null,
    rma_id uuid not null,
    -- SHA-256 of what was reported: the event, its time, and the units.
    report_hash bytea not null constraint drop_off_hash_is_a_sha256 check (length(report_hash) = 32),
    primary key (merchant_id, rma_id, report_hash),
    foreign key (merchant_id, rma_id) references rma
);

-- How far the purchase of a return's label has come. It is bought under the return's identifier, and after a refusal, when
-- somebody asks again, as the next number.
create table label_order (
    merchant_id uuid not null,
    rma_id uuid not null,
    changed_at timestamptz not null,
    number integer not null constraint label_orders_count_from_one check (number >= 1),
    state text not null
        constraint label_order_state_is_known check (state in ('ordered', 'bought', 'refused', 'withdrawn')),
    primary key (merchant_id, rma_id),
    foreign key (merchant_id, rma_id) references rma
);

insert into label_order (merchant_id, rma_id, changed_at, number, state)
select merchant_id, rma_id, bought_at, 1, 'bought' from label;

insert into label_order (merchant_id, rma_id, changed_at, number, state)
select rma.merchant_id, rma.rma_id, rma.created_at, 1, 'ordered'
from delivery
join message on message.merchant_id = delivery.merchant_id and message.message_id = delivery.message_id and message.kind = 'label'
join rma on rma.merchant_id = delivery.merchant_id and rma.identifier = delivery.lane
where not delivery.discard
on conflict (merchant_id, rma_id) do nothing;

-- Cases of a return are overwritten when its shopper is erased, whether they are open or closed.
create index work_item_by_subject on work_item (merchant_id, subject, kind);
