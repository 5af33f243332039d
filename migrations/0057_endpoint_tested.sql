-- When a test of the endpoint's present address and authentication last succeeded.
alter table endpoint add column tested_at timestamptz;
