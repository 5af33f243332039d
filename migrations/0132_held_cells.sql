-- Whoever works in a cell of a cluster holds it on its node. Where the cell has its local views, a function of this name in their schema
-- does that (docs/adr/0078-a-cell-is-used-through-its-local-views.md). Elsewhere the cluster does, and on a single PostgreSQL there is
-- nothing to hold.
create function hold_cell() returns void language plpgsql as $$
begin
end
$$;
