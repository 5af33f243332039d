-- The reasons for which shoppers are offered an exchange, of those that they choose from. The default lets a version of the
-- program that does not know the column go on beside one that does.
alter table return_policy add column exchange_reasons text[] not null default '{}';

-- Merchants with a policy of their own are offered what those without one are.
update return_policy
set exchange_reasons = array(select reason from unnest(reasons) as reason where reason in ('TOO_SMALL', 'TOO_LARGE'));
