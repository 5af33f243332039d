-- The version of each process that delivers, so that people see how far a deploy has come.
alter table deliverer add column version text;
