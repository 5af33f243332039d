//! The tables that a move copies, as the schema has them.

use crate::merchants::deletions::EMPTIED;
use crate::{Failed, Store};

/// Tables with rows of merchants that stay where they are: what operators ask each other for, where merchants live, and the moves
/// themselves. The audit trail is copied by [`super::copy_audit`].
pub const STAYING: [&str; 4] = ["operator_request", "merchant_cell", "merchant_move", "moved_merchant"];

/// A table whose rows of a merchant move with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub name: String,
    pub(super) columns: Vec<String>,
    /// Their types; two cells of the same version have the same.
    pub(super) types: Vec<String>,
    /// The columns of the primary key.
    pub(super) key: Vec<String>,
    /// True if its rows refer to those of another table that moves, and none to them.
    pub(super) refers: bool,
}

impl Table {
    /// The type of a column.
    pub(super) fn type_of(&self, column: &str) -> &str {
        self.columns.iter().position(|name| name == column).and_then(|at| self.types.get(at)).map_or("text", String::as_str)
    }
}

/// The tables that a move copies, in the order in which it does: rows come after those that they refer to. Two cells can exchange
/// merchants if these are equal.
pub async fn tables(store: &Store) -> Result<Vec<Table>, Failed> {
    let names: Vec<&str> = ["merchant"].into_iter().chain(EMPTIED.iter().rev().copied().filter(|name| !STAYING.contains(name))).collect();
    let mut connection = store.pool.begin_on_tables().await?;
    let found = sqlx::query_as!(
        Table,
        r#"
        select
            class.relname::text as "name!",
            array(
                select attname::text from pg_attribute where attrelid = class.oid and attnum > 0 and not attisdropped order by attnum
            ) as "columns!",
            array(
                select format_type(atttypid, atttypmod)
                from pg_attribute
                where attrelid = class.oid and attnum > 0 and not attisdropped
                order by attnum
            ) as "types!",
            array(
                select attname::text
                from pg_attribute
                where attrelid = class.oid and attnum = any (key.indkey::smallint[])
                order by attnum
            ) as "key!",
            (
                exists (select from pg_constraint where contype = 'f' and conrelid = class.oid and confrelid <> 'merchant'::regclass)
                and not exists (select from pg_constraint where contype = 'f' and confrelid = class.oid)
            ) as "refers!"
        from unnest($1::text[]) with ordinality as wanted (name, number)
        join pg_class as class on class.oid = to_regclass(wanted.name)
        join pg_index as key on key.indrelid = class.oid and key.indisprimary
        order by wanted.number
        "#,
        &names as &[&str],
    )
    .fetch_all(&mut connection)
    .await?;
    connection.rollback().await?;
    if found.len() != names.len() {
        return Err(Failed::Internal("a table that a move copies is missing"));
    }
    Ok(found)
}
