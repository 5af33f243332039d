//! PostgreSQL's programs: where they are installed, and the account they run under.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::error::NoPostgres;

/// A user account on this machine.
#[derive(Clone, Copy)]
pub(crate) struct Account {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl Account {
    /// Finds the account to switch to. `None` if this process is already unprivileged.
    pub(crate) fn unprivileged() -> Result<Option<Self>, NoPostgres> {
        if !is_root() {
            return Ok(None);
        }
        let accounts = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let find = |name: &str| {
            let line = accounts.lines().find(|line| line.split(':').next() == Some(name))?;
            let mut fields = line.split(':').skip(2);
            Some(Self { uid: fields.next()?.parse().ok()?, gid: fields.next()?.parse().ok()? })
        };
        find("postgres").or_else(|| find("nobody")).map(Some).ok_or(NoPostgres::NoAccount)
    }
}

/// Returns whether this process runs as root. Falls back to `id` where there is no /proc.
fn is_root() -> bool {
    if let Ok(me) = fs::metadata("/proc/self") {
        return me.uid() == 0;
    }
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Checks that a temporary cluster can be started, and returns the path of `initdb`.
pub fn installed() -> Result<PathBuf, NoPostgres> {
    Account::unprivileged()?;
    locate("pg_ctl")?;
    locate("initdb")
}

/// Finds a PostgreSQL program on the PATH, or else the newest version in Debian's directory.
pub(crate) fn locate(program: &'static str) -> Result<PathBuf, NoPostgres> {
    locate_in(program, std::env::var_os("PATH").unwrap_or_default().as_os_str(), Path::new("/usr/lib/postgresql"))
}

fn locate_in(program: &'static str, path: &OsStr, debian: &Path) -> Result<PathBuf, NoPostgres> {
    let on_path = std::env::split_paths(path);
    let mut debian: Vec<PathBuf> = fs::read_dir(debian).into_iter().flatten().flatten().map(|entry| entry.path().join("bin")).collect();
    debian.sort_by_key(|dir| dir.parent().and_then(Path::file_name).and_then(|version| version.to_str()?.parse::<u32>().ok()));
    let found = on_path.chain(debian.into_iter().rev()).map(|dir| dir.join(program)).find(|path| path.is_file());
    found.ok_or(NoPostgres::NotInstalled(program))
}

pub(super) fn run<const N: usize>(program: &'static str, account: Option<Account>, args: [&OsStr; N]) -> Result<(), NoPostgres> {
    let path = locate(program)?;
    let mut command = Command::new(&path);
    // The output goes into a file, because a started server would keep this process' pipes open.
    let output = std::env::temp_dir().join(format!("backhaul-{program}-{}.out", std::process::id()));
    let out = File::create(&output).map_err(|error| NoPostgres::Io(output.clone(), error))?;
    let err = out.try_clone().map_err(|error| NoPostgres::Io(output.clone(), error))?;
    command.args(args).current_dir("/").stdin(Stdio::null()).stdout(out).stderr(err).process_group(0);
    if let Some(Account { uid, gid }) = account {
        command.uid(uid).gid(gid);
    }
    let status = command.status().map_err(|error| NoPostgres::Io(path, error));
    let text = fs::read_to_string(&output).unwrap_or_default();
    let _ = fs::remove_file(&output);
    if status?.success() { Ok(()) } else { Err(NoPostgres::Failed { program, said: text.trim().to_owned() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_postgresql_the_error_says_what_to_install() {
        let missing = locate_in("initdb", OsStr::new("/nowhere"), Path::new("/nowhere")).unwrap_err().to_string();
        for word in ["`initdb` is not installed", "PostgreSQL 15 or newer", "apt-get install postgresql", "brew install", "DATABASE_URL"] {
            assert!(missing.contains(word), "{missing}");
        }
    }
}
