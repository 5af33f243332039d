//! The sources of keys: a setting, which may come from the environment, a file, or a command that asks a vault.

use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};

/// The time within which a command has to end.
const DEADLINE: Duration = Duration::from_secs(10);
/// The interval at which a command is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// The most bytes that a file or a command may give.
const MOST_BYTES: u64 = 64 * 1024;

/// The sources of one kind of key, of which the first that is set counts.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub value: &'a SecretString,
    /// The path of a file.
    pub file: &'a str,
    /// A program and its arguments, which prints the keys.
    pub command: &'a [String],
}

/// The reasons a source gives no keys. What it gave is not quoted.
#[derive(Debug, thiserror::Error)]
pub enum NoSource {
    #[error("the file {0} cannot be read: {1}")]
    File(String, std::io::Error),
    #[error("the command {0} cannot be run: {1}")]
    Unstarted(String, std::io::Error),
    #[error("the command {0} did not end within {1} seconds; check that it asks for no input")]
    TooSlow(String, u64),
    #[error("the command {0} failed ({1}); run it by hand to see why")]
    Failed(String, String),
    #[error("{0} gave more than {MOST_BYTES} bytes, or no text; it has to print the keys and nothing else")]
    NoText(String),
}

impl Source<'_> {
    /// Reads the keys. `None` if no source is set.
    pub fn read(&self) -> Result<Option<SecretString>, NoSource> {
        if !self.value.expose_secret().is_empty() {
            return Ok(Some(self.value.clone()));
        }
        if !self.file.is_empty() {
            return read_file(self.file).map(Some);
        }
        match self.command {
            [] => Ok(None),
            [program, arguments @ ..] => run(program, arguments, DEADLINE).map(Some),
        }
    }
}

fn read_file(path: &str) -> Result<SecretString, NoSource> {
    let read = || {
        let mut bytes = Vec::new();
        std::fs::File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
        std::io::Result::Ok(bytes)
    };
    text(&format!("the file {path}"), read().map_err(|error| NoSource::File(path.to_owned(), error))?)
}

fn text(of: &str, bytes: Vec<u8>) -> Result<SecretString, NoSource> {
    let fits = u64::try_from(bytes.len()).is_ok_and(|length| length <= MOST_BYTES);
    let text = String::from_utf8(bytes).ok().filter(|_| fits);
    text.map(SecretString::from).ok_or_else(|| NoSource::NoText(of.to_owned()))
}

/// Runs a command and returns what it prints. A command that takes too long is killed.
fn run(program: &str, arguments: &[String], deadline: Duration) -> Result<SecretString, NoSource> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| NoSource::Unstarted(program.to_owned(), error))?;
    let printed = wait(&mut child, deadline);
    if !matches!(printed, Ok(Some(_))) {
        // It may have ended by itself meanwhile.
        let _ = child.kill();
        let _ = child.wait();
    }
    match printed {
        // One that prints too much may fail because nobody reads the rest.
        Ok(Some((succeeded, bytes))) if succeeded || u64::try_from(bytes.len()).is_ok_and(|length| length > MOST_BYTES) => {
            text(&format!("the command {program}"), bytes)
        }
        Ok(Some(_)) => Err(NoSource::Failed(program.to_owned(), "it reported a failure".to_owned())),
        Ok(None) => Err(NoSource::TooSlow(program.to_owned(), deadline.as_secs())),
        Err(error) => Err(NoSource::Failed(program.to_owned(), error.to_string())),
    }
}

/// Waits until the command has ended. Returns whether it succeeded, and what it printed; `None` if it takes too long.
fn wait(child: &mut Child, deadline: Duration) -> std::io::Result<Option<(bool, Vec<u8>)>> {
    let Some(output) = child.stdout.take() else { return Err(std::io::ErrorKind::BrokenPipe.into()) };
    let (sender, receiver) = mpsc::channel();
    // A command that never closes its output must not hold up this process, so another thread reads it.
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = output.take(MOST_BYTES + 1).read_to_end(&mut bytes);
        let _ = sender.send(read.map(|_| bytes));
    });
    let mut printed = None;
    for _ in 0..deadline.as_millis() / LOOK_EVERY.as_millis() {
        match receiver.recv_timeout(LOOK_EVERY) {
            Ok(read) => printed = Some(read?),
            Err(RecvTimeoutError::Timeout) => {}
            // Everything is read, and only the end is awaited.
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(LOOK_EVERY),
        }
        if printed.is_some()
            && let Some(status) = child.try_wait()?
        {
            return Ok(printed.map(|bytes| (status.success(), bytes)));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, deadline: Duration) -> Result<String, String> {
        let ran = run("/bin/sh", &["-c".to_owned(), script.to_owned()], deadline);
        ran.map(|text| text.expose_secret().to_owned()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_command_gives_what_it_prints() {
        assert_eq!(shell("printf 'k1:abc'", DEADLINE), Ok("k1:abc".to_owned()));
        assert_eq!(shell("printf x; exec >&-; sleep 0.05", DEADLINE), Ok("x".to_owned()), "its end is awaited");
        let command = ["/bin/echo".to_owned(), "k1:abc".to_owned()];
        let source = Source { value: &SecretString::default(), file: "", command: &command };
        assert_eq!(source.read().unwrap().unwrap().expose_secret(), "k1:abc\n");
        let unset = Source { value: &SecretString::default(), file: "", command: &[] };
        assert!(unset.read().unwrap().is_none());
    }

    #[test]
    fn a_command_that_hangs_fails_or_talks_too_much_gives_nothing() {
        let short = Duration::from_millis(100);
        assert!(shell("sleep 60", short).unwrap_err().contains("did not end within"));
        assert!(shell("printf canary; sleep 60", short).unwrap_err().contains("did not end within"));
        let failed = shell("printf canary; exit 3", DEADLINE).unwrap_err();
        assert!(failed.contains("failed") && !failed.contains("canary"), "{failed}");
        assert!(shell("yes", DEADLINE).unwrap_err().contains("/bin/sh"));
        assert!(shell("head -c 70000 /dev/zero | tr '\\0' a", DEADLINE).unwrap_err().contains("more than 65536 bytes"));
        assert!(shell("printf '\\377'", DEADLINE).unwrap_err().contains("no text"));
        assert!(run("/nowhere/vault", &[], DEADLINE).unwrap_err().to_string().contains("cannot be run"));
    }

    #[test]
    fn a_file_is_read_within_bounds() {
        assert!(read_file("/nowhere/key").unwrap_err().to_string().contains("/nowhere/key"));
        assert!(read_file("/dev/zero").unwrap_err().to_string().contains("more than 65536 bytes"));
    }
}
