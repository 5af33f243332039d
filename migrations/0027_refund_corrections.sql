-- A refund belongs to its order: an identifier that comes under another order, too, is another refund. A refund line counts once
-- for each line of an order. Both keys let what merchants send in error be recorded with a warning.
alter table refund_line drop constraint refund_line_merchant_id_refund_identifier_fkey;
alter table refund drop constraint refund_pkey;
alter table refund add primary key (merchant_id, order_identifier, identifier);
drop index refund_by_order;
create index refund_by_identifier on refund (merchant_id, identifier);

alter table refund_line drop constraint refund_line_pkey;
alter table refund_line add primary key (merchant_id, order_identifier, order_line, identifier);
alter table refund_line add foreign key (merchant_id, order_identifier, refund_identifier) references refund;
drop index refund_line_by_order;
create index refund_line_by_identifier on refund_line (merchant_id, identifier);

-- The units that were refunded outside of any return.
alter table refund_line add column outside integer not null default 0
    constraint units_outside_are_covered check (outside between 0 and quantity);
update refund_line set outside = greatest(
    0,
    refund_line.quantity - (
        select count(*) from rma_item as item
        where item.merchant_id = refund_line.merchant_id and item.refund_identifier = refund_line.refund_identifier
        and item.order_line = refund_line.order_line
    )
);

-- A refund that came while the exchange order was owed, when the exchange was converted afterwards: it does not count as the
-- shopper's until somebody confirms it.
alter table rma_item add column refund_in_question boolean not null default false
    constraint only_a_refund_is_in_question check (not refund_in_question or refund_identifier is not null);

-- Whether the first refund for a return settles all its units that are to be refunded, or each unit needs its own.
alter table return_policy add column refund_closes text not null default 'all'
    constraint refund_closes_is_known check (refund_closes in ('any', 'all'));
