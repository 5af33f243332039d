//! The process itself, as the system sees it: memory, processor, files, threads.

use std::fs;
use std::sync::atomic::AtomicU64;

use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// The units of time in `/proc`: hundredths of a second on every Linux.
const TICKS: f64 = 100.0;

/// Gauges of the process. Where there is no `/proc` they stay 0.
#[derive(Clone, Default)]
pub(super) struct ProcessGauges {
    resident_bytes: Gauge,
    threads: Gauge,
    open_files: Gauge,
    cpu_seconds: Gauge<f64, AtomicU64>,
    started_at: Gauge<f64, AtomicU64>,
}

impl ProcessGauges {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register("process_resident_memory_bytes", "Memory of this process", self.resident_bytes.clone());
        registry.register("process_threads", "Threads of this process", self.threads.clone());
        registry.register("process_open_files", "Files and connections that this process has open", self.open_files.clone());
        registry.register("process_cpu_seconds", "Processor time that this process has used", self.cpu_seconds.clone());
        registry.register("process_start_time_seconds", "Start of this process, in seconds since 1970", self.started_at.clone());
    }

    /// Reads the current values.
    pub(super) fn update(&self) {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let field = |name: &str| -> Option<i64> {
            status.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
        };
        if let Some(kibibytes) = field("VmRSS:") {
            self.resident_bytes.set(kibibytes.saturating_mul(1024));
        }
        if let Some(threads) = field("Threads:") {
            self.threads.set(threads);
        }
        if let Ok(files) = fs::read_dir("/proc/self/fd") {
            self.open_files.set(i64::try_from(files.count()).unwrap_or(i64::MAX));
        }
        let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        if let Some((cpu, started)) = times(&stat) {
            self.cpu_seconds.set(cpu / TICKS);
            let booted = fs::read_to_string("/proc/stat").unwrap_or_default();
            let booted = booted.lines().find_map(|line| line.strip_prefix("btime ")?.parse::<f64>().ok());
            if let Some(booted) = booted {
                self.started_at.set(booted + started / TICKS);
            }
        }
    }
}

/// The processor time that was used, and the start after the machine's own, in ticks.
fn times(stat: &str) -> Option<(f64, f64)> {
    // The name of the program is in parentheses and may hold anything. The state follows as the third field.
    let (_, rest) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    let number = |field: usize| fields.get(field - 3)?.parse::<f64>().ok();
    Some((number(14)? + number(15)?, number(22)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_program_does_not_matter() {
        let stat = "7 (odd ) name) S 1 7 7 0 -1 4194560 1 0 0 0 250 50 0 0 20 0 4 0 12345 1 1";
        assert_eq!(times(stat), Some((300.0, 12_345.0)));
        assert_eq!(times(""), None);
    }

    #[test]
    fn this_process_takes_memory_and_files() {
        let gauges = ProcessGauges::default();
        gauges.update();
        assert!(gauges.resident_bytes.get() > 0 && gauges.open_files.get() > 0 && gauges.threads.get() > 0);
        assert!(gauges.started_at.get() > 1_600_000_000.0, "{}", gauges.started_at.get());
    }
}
