-- Shoppers who were erased do not come back with the next snapshot of their order. An order that was erased says so, and what arrives
-- for it is stored without anything personal.
alter table customer_order add column erased_at timestamptz;
