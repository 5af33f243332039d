//! Checks of the way to the database: its protection, and whatever is in between.

use domain::node::mode::Mode;
use store::messages::leases::Listener;
use store::node::{cells, sessions};
use store::{Failed, Protection};

use crate::node::Node;
use crate::node::cell::Cell;
use crate::node::health::Check;
use crate::platform::config::Settings;

/// The name of the check of the connection's protection.
const PROTECTION: &str = "database connection";

/// Checks that nobody can read or answer what is sent to the database.
#[must_use]
pub fn protection(settings: &Settings, cell: &Cell) -> Check {
    let found = match cell.store.protection() {
        Protection::Local => return Check::good(PROTECTION, "to this machine"),
        Protection::Verified => return Check::good(PROTECTION, "TLS to a verified server"),
        Protection::Unverified => "TLS to a server that is not verified",
        Protection::Plaintext => "plaintext to another machine",
    };
    if settings.database.allow_insecure {
        return Check::good(PROTECTION, format!("{found}, as database.allow_insecure permits"));
    }
    Check::bad(
        PROTECTION,
        found,
        "use sslmode=verify-full in DATABASE_URL, or, if the network is protected otherwise, set database.allow_insecure = true",
    )
}

/// The database that this process talks to: where it is, its name, its user and its version, never its password. What only the server
/// can tell is left out if it is unreachable.
pub async fn named(node: &Node) -> String {
    let identity = node.cell().identity().await;
    let target = node.cell().target();
    match identity {
        Ok((name, user, version)) => format!("PostgreSQL {version} at {}, database {name}, user {user}", target.host),
        Err(_) => format!("{}, database {}, user {}", target.host, target.database, target.user),
    }
}

/// Checks that what is sent to callers is encrypted. Nothing in a sandbox.
#[must_use]
pub fn plain_http(settings: &Settings) -> Option<Check> {
    const NAME: &str = "encryption";
    if settings.mode != Mode::Production {
        return None;
    }
    Some(if settings.http.behind_tls_proxy {
        Check::good(NAME, "a proxy terminates TLS, as http.behind_tls_proxy says")
    } else if !settings.portal.public_certificates(&settings.tls).is_empty() {
        Check::good(NAME, "callers are served over TLS")
    } else {
        Check::bad(
            NAME,
            "callers would be served over plain HTTP, which `backhaul serve` refuses in production",
            "set tls.certificate and tls.private_key, or, if a proxy in front of this process terminates TLS, http.behind_tls_proxy = true",
        )
    })
}

/// The way out of every trouble with a pooler.
const SESSION_MODE: &str = "set the pooler in between to pool_mode = session, or connect directly";

/// Checks the sessions behind the connections. Nothing if the database is unreachable, which another check reports.
pub async fn examine(node: &Node) -> Vec<Check> {
    let shared = |why: &str| Check::bad("sessions", format!("connections share sessions: {why}"), SESSION_MODE);
    let sessions = match sessions::examine(node.cell()).await {
        Ok(sessions) => sessions,
        Err(Failed::Unreachable(_)) => return Vec::new(),
        // A statement that one connection has prepared is known to another one, or is not known any more.
        Err(failed) => return vec![shared(&failed.to_string())],
    };
    let session = if sessions.is_kept {
        Check::good("sessions", "every connection has its own, with its settings")
    } else {
        shared("settings get lost")
    };
    let notifications = match Listener::new(node.cell()).await {
        Ok(_) => Check::good("notifications", "arrive"),
        Err(failed) => Check::bad("notifications", format!("{failed}; messages for other processes wait up to 3 seconds"), SESSION_MODE),
    };
    let warnings = if sessions.recognises_warnings {
        Check::good("commit warnings", "recognised")
    } else {
        Check::bad(
            "commit warnings",
            "commits wait for a standby, and the server does not speak English: a cancelled wait would not be noticed",
            "set lc_messages = 'C' in postgresql.conf",
        )
    };
    [session, notifications, warnings].into_iter().chain(local_views(node).await).collect()
}

/// Checks the local views of a cell. Nothing for one that has none.
async fn local_views(node: &Node) -> Option<Check> {
    const NAME: &str = "local views";
    match cells::missing_views(node.cell()).await {
        Ok(missing) => missing.map(|missing| match missing {
            0 => Check::good(NAME, "complete"),
            _ => Check::bad(NAME, format!("{missing} are missing, so statements cost several times as much"), "run `backhaul migrate`"),
        }),
        Err(failed) => Some(Check::bad(NAME, failed.to_string(), "repeat this once the cluster's nodes can be reached")),
    }
}
