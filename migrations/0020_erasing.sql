-- A shopper's data can be erased: bodies are overwritten where they stand, and a message whose body was is never sent again.
alter table message add column erased boolean not null default false;
alter table failure add column erased boolean not null default false;

-- What was done for a return, and what was given up of a subject: by these it is found when it is to be erased. Because they are
-- not for all rows, no plan that was made for an empty table takes them for the key.
create index message_of_work on message (merchant_id, subject) where internal;
create index failure_to_erase on failure (merchant_id, subject) where not erased;
