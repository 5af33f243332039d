//! CPU time and memory of processes, from /proc, and the statistics of measurements.

use std::fs;

/// Clock ticks per second; 100 on every platform that matters here.
const TICKS: f64 = 100.0;

/// The fields of /proc/PID/stat after the name.
fn stat(pid: u32) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    Some(rest.split(' ').map(ToOwned::to_owned).collect())
}

fn ticks(stat: &[String], fields: &[usize]) -> f64 {
    fields.iter().filter_map(|field| stat.get(*field)?.parse::<f64>().ok()).sum()
}

/// CPU seconds used by a process so far.
pub(crate) fn cpu(pid: u32) -> f64 {
    // utime and stime are the fields 14 and 15 of the file, which are 11 and 12 after the name.
    stat(pid).map_or(0.0, |stat| ticks(&stat, &[11, 12]) / TICKS)
}

/// CPU seconds used by a process and its children, including ended ones.
pub(crate) fn cpu_of_family(pid: u32) -> f64 {
    let own = stat(pid).map_or(0.0, |stat| ticks(&stat, &[11, 12, 13, 14]) / TICKS);
    own + children(pid).filter_map(stat).map(|stat| ticks(&stat, &[11, 12]) / TICKS).sum::<f64>()
}

/// The children of a process.
pub(crate) fn children(pid: u32) -> impl Iterator<Item = u32> {
    let processes =
        fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    processes.filter(move |child| stat(*child).and_then(|stat| stat.get(1)?.parse::<u32>().ok()) == Some(pid))
}

/// Returns whether a process is running. A zombie is not.
pub(crate) fn is_alive(pid: u32) -> bool {
    stat(pid).is_some_and(|stat| stat.first().is_some_and(|state| state != "Z"))
}

/// A value of /proc/PID/status in MB, such as `VmHWM`, the peak memory.
pub(crate) fn memory(pid: u32, name: &str) -> f64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).unwrap_or_default() / 1024.0
}

/// CPU seconds used so far by this process, the service and the database. A measurement compares two readings.
pub(crate) fn cpu_of_all(service: Option<u32>, database: u32) -> [f64; 3] {
    [cpu(std::process::id()), service.map_or(0.0, cpu), cpu_of_family(database)]
}

/// CPU seconds per 1,000 of `count` between two readings.
pub(crate) fn per_thousand<const PROCESSES: usize>(before: [f64; PROCESSES], after: [f64; PROCESSES], count: usize) -> [f64; PROCESSES] {
    std::array::from_fn(|at| after.get(at).zip(before.get(at)).map_or(0.0, |(after, before)| (after - before) / of(count) * 1_000.0))
}

/// Converts a count for calculations.
#[expect(clippy::cast_precision_loss, reason = "counts of a run are small")]
pub(crate) fn of(count: usize) -> f64 {
    count as f64
}

/// The median.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// The value below which `share` of the sorted `values` lie.
pub(crate) fn percentile(sorted: &[u32], share: f64) -> f64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "an index within the list")]
    let at = ((sorted.len() as f64 * share) as usize).min(sorted.len().saturating_sub(1));
    sorted.get(at).map_or(0.0, |micros| f64::from(*micros) / 1_000.0)
}

/// Rounds for output.
pub(crate) fn round(value: f64, digits: i32) -> f64 {
    let unit = 10_f64.powi(digits);
    (value * unit).round() / unit
}
