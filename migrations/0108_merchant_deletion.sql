-- Since when everything of the merchant is being deleted.
alter table merchant add column deleting_at timestamptz;
