//! The baseline for intake: pgbench with prepared upserts of the same order into the same table.

use std::fmt::Write as _;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail};
use uuid::Uuid;

use crate::orders::order;
use crate::stage::Stage;

/// The table of a cell, and its merchants.
struct Part {
    table: String,
    merchants: Vec<Uuid>,
}

impl Part {
    /// The part of each cell that has merchants.
    fn all(stage: &Stage) -> Vec<Self> {
        let cells = stage.cells();
        if cells.is_empty() {
            return vec![Self { table: "customer_order".to_owned(), merchants: stage.merchants.clone() }];
        }
        // Merchants are in the cells in turn.
        let of = |place: usize| stage.merchants.iter().skip(place).step_by(cells.len()).copied().collect::<Vec<Uuid>>();
        cells.iter().enumerate().map(|(place, cell)| Self { table: format!("{cell}.customer_order"), merchants: of(place) }).collect()
    }
}

/// The service's upsert of `rows` orders as a pgbench script. Order numbers are drawn from 0 up to `numbers`.
fn script(part: &Part, rows: usize, numbers: u64) -> String {
    let (table, count) = (&part.table, part.merchants.len());
    let merchants = part.merchants.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let text = order::text(0, 0).replace('\'', "''");
    let mut script = String::new();
    let mut values = Vec::new();
    for row in 0..rows {
        let _ = writeln!(script, "\\set n{row} random(0, {})\n\\set d{row} random(0, 1000000000)", numbers - 1);
        values.push(format!(
            "(('{{{merchants}}}'::uuid[])[1 + :n{row}::bigint % {count}], lpad(:n{row}::bigint::text, 12, '0'), 'Shipped', timestamptz '2026-01-05T10:00:00Z', timestamptz '2026-01-06T10:00:00Z', timestamptz '2026-03-01T12:00:00Z', 1, decode(lpad(to_hex(:d{row}::bigint), 64, '0'), 'hex'), '\\x00112233445566778899aabbccddeeff'::bytea, '\\x00112233445566778899aabbccddeeff'::bytea, null, '{text}')"
        ));
    }
    // The rows of a statement are sorted, as in the service, and a number drawn twice is used once.
    let source = if rows == 1 {
        format!("values {}", values.join(", "))
    } else {
        format!(
            "select distinct on (merchant_id, identifier) * from (values {}) as drawn (merchant_id, identifier, status, placed_at, updated_at, received_at, revision, digest, email_fingerprint, zip_fingerprint, warnings, snapshot) order by merchant_id, identifier",
            values.join(", ")
        )
    };
    let _ = writeln!(
        script,
        "insert into {table} as stored (merchant_id, identifier, status, placed_at, updated_at, received_at, revision, digest, email_fingerprint, zip_fingerprint, warnings, snapshot) {source} on conflict (merchant_id, identifier) do update set status = excluded.status, placed_at = excluded.placed_at, updated_at = excluded.updated_at, received_at = excluded.received_at, revision = stored.revision + 1, digest = excluded.digest, email_fingerprint = excluded.email_fingerprint, zip_fingerprint = excluded.zip_fingerprint, warnings = excluded.warnings, snapshot = excluded.snapshot where excluded.digest <> stored.digest and excluded.updated_at >= stored.updated_at;"
    );
    script
}

/// Measures orders per second with statements of `rows` orders, to each cell as many as it has merchants.
pub(crate) fn rate(stage: &Stage, rows: usize, clients: usize, duration: Duration, numbers: u64) -> anyhow::Result<f64> {
    let mut command = Command::new("pgbench");
    command.args(["-n", "-M", "prepared", "-j", "2", "-c", &clients.to_string(), "-T", &duration.as_secs().to_string()]);
    let mut files = Vec::new();
    for (at, part) in Part::all(stage).iter().enumerate() {
        let file = std::env::temp_dir().join(format!("backhaul-pgbench-{}-{at}.sql", std::process::id()));
        std::fs::write(&file, script(part, rows, numbers))?;
        command.arg("-f").arg(format!("{}@{}", file.display(), part.merchants.len()));
        files.push(file);
    }
    let output = command.arg(stage.cluster()?.url("postgres")).output().context("pgbench could not be started")?;
    for file in files {
        std::fs::remove_file(file)?;
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let rate = text.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse::<f64>().ok());
    let Some(rate) = rate.filter(|_| output.status.success()) else {
        bail!("pgbench failed: {text}{}", String::from_utf8_lossy(&output.stderr));
    };
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    Ok(rate * rows as f64)
}
