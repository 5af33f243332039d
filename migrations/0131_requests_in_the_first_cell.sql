-- Requests of operators are kept in the first cell, whichever cell their merchant lives in.
alter table operator_request drop constraint if exists operator_request_merchant_id_fkey;
