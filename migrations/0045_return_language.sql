-- The language of the mails about a return, by its code. Null: the default.
alter table rma add column language text;
