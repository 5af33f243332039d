//! The installation, limits, the size of tables, and rates shared between nodes.

pub mod cells;
pub mod directory;
pub mod grants;
pub mod installation;
pub mod keys;
pub mod limits;
pub mod migrations;
pub mod rates;
pub mod sessions;
pub mod short_ids;
pub mod tables;
