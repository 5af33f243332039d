-- The index of 0114 begins with the same columns.
drop index customer_order_by_last_change;
