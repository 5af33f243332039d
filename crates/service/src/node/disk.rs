//! The check of the disk under the database, where this machine has it.

use std::path::Path;

use store::Protection;

use crate::node::Node;
use crate::node::health::Check;

const NAME: &str = "disk";

/// The least free space: a twentieth of the file system, and a gibibyte.
const LEAST_PART: u64 = 20;
const LEAST_BYTES: u64 = 1 << 30;

/// Checks that the database has room to grow. Nothing if its data directory is on another machine, or its role may not know where it is.
pub async fn examine(node: &Node) -> Option<Check> {
    if node.cell().protection() != Protection::Local {
        return None;
    }
    let directory = node.cell().data_directory().await.ok()??;
    let found = rustix::fs::statvfs(Path::new(&directory)).ok()?;
    Some(judge(found.f_bavail.saturating_mul(found.f_frsize), found.f_blocks.saturating_mul(found.f_frsize)))
}

fn judge(free: u64, whole: u64) -> Check {
    let gibibytes = |bytes: u64| format!("{}.{} GiB", bytes >> 30, ((bytes >> 20) & 1023) * 10 / 1024);
    let found = format!("{} of {} are free under the data directory", gibibytes(free), gibibytes(whole));
    if free < LEAST_BYTES || free < whole / LEAST_PART {
        Check::bad(
            NAME,
            found,
            "make room or enlarge the file system: PostgreSQL stops when it is full, and accepts nothing until there is room",
        )
    } else {
        Check::good(NAME, found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_is_nearly_full_is_told() {
        const GIB: u64 = 1 << 30;
        for (free, whole, ok) in
            [(37 * GIB, 252 * GIB, true), (12 * GIB, 252 * GIB, false), (GIB - 1, 4 * GIB, false), (GIB, 4 * GIB, true)]
        {
            let check = judge(free, whole);
            assert_eq!((check.ok, check.mend.is_none()), (ok, ok), "{}", check.found);
        }
        assert!(judge(3 * GIB / 2, 4 * GIB).found.starts_with("1.5 GiB of 4.0 GiB"));
    }
}
