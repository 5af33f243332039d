//! `with-postgres COMMAND…` runs a command with `DATABASE_URL` set to a temporary PostgreSQL.

use std::process::{Command, ExitCode};

use sandbox::postgres::{Cluster, NoPostgres};

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let Some(program) = words.next() else {
        eprintln!("usage: with-postgres COMMAND [ARGUMENT]…");
        return ExitCode::FAILURE;
    };
    match with_postgres(Command::new(program).args(words)) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("with-postgres: {error}");
            ExitCode::FAILURE
        }
    }
}

fn with_postgres(command: &mut Command) -> Result<ExitCode, NoPostgres> {
    let cluster = Cluster::start(&std::env::temp_dir().join(format!("backhaul-{}", std::process::id())))?;
    let status = command.env("DATABASE_URL", cluster.url("postgres")).status();
    cluster.stop()?;
    match status {
        Ok(status) => Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))),
        Err(error) => {
            eprintln!("with-postgres: the command could not be run: {error}");
            Ok(ExitCode::FAILURE)
        }
    }
}
