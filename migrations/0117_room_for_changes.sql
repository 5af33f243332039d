-- A return and its units change a few times within weeks. With room on its page, a new version of a row stays there, and the
-- indexes whose columns have not changed are left alone.
alter table rma set (fillfactor = 80);
alter table rma_item set (fillfactor = 80);
