-- The place of a message in a trace: the trace's id (16 bytes), the id of the span that wrote the message (8), and 1 if the trace is
-- recorded (1 byte). Null if traces are off or the work that owed the message belongs to no trace. It has no default, so no row is
-- written anew.
alter table message add column trace bytea;
