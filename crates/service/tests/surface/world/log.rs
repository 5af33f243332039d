//! The log of the service, read back.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

use backhaul::platform::telemetry;
use serde_json::Value;

/// The log of this thread, on which the whole service of a test runs.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    /// Logs as `serve` does at this level, until the guard is dropped.
    pub fn start(level: &str) -> (Self, tracing::subscriber::DefaultGuard) {
        let log = Self::default();
        let writer = log.clone();
        let lines = tracing_subscriber::fmt().with_env_filter(telemetry::filter(level)).json().flatten_event(true);
        let guard = tracing::subscriber::set_default(lines.with_writer(move || writer.clone()).finish());
        (log, guard)
    }

    /// Every line so far.
    pub fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    /// The security events, by name.
    pub fn events(&self) -> BTreeMap<String, Vec<Value>> {
        let mut events = BTreeMap::<_, Vec<_>>::new();
        for line in self.text().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            if line["target"] == "security" {
                events.entry(line["event"].as_str().unwrap().to_owned()).or_default().push(line);
            }
        }
        events
    }
}
