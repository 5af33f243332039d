-- A proxy in front of a node that http.trusted_proxies does not name, for `backhaul doctor`.
alter table node_pulse add column undeclared_proxy text;
