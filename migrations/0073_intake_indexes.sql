-- no-transaction
-- The refused messages and the imports of all merchants, newest first.
create index concurrently if not exists intake_refusal_newest on intake_refusal (refusal_id);

create index concurrently if not exists order_import_newest on order_import (import_id);
