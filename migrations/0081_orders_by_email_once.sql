-- customer_order_of_shopper does its work.
drop index customer_order_by_email;
