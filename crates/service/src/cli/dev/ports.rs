//! The ports of `backhaul dev`, taken before anything else happens: what cannot run is said before there is anything to clean up, and
//! every link has the true port.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use anyhow::{Context as _, anyhow};

use crate::cli::node::serve::Bound;

/// The ports that are tried to find two that are free.
const TRIED: u16 = 100;

/// The listeners of the service and of the console.
pub(super) struct Ports {
    public: TcpListener,
    console: TcpListener,
}

/// The listener that could not be had.
enum Taken {
    Public(u16, io::Error),
    Console(u16, io::Error),
}

impl Ports {
    /// Takes `port` for the service and the next one for the console; 0 stands for any two.
    pub(super) fn take(port: u16) -> anyhow::Result<Self> {
        Self::bind(port).map_err(|taken| explain(port, &taken))
    }

    fn bind(port: u16) -> Result<Self, Taken> {
        let listen = |port: u16| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let next = if port == 0 { 0 } else { port.checked_add(1).unwrap_or_default() };
        let public = listen(port).map_err(|error| Taken::Public(port, error))?;
        let console = listen(next).map_err(|error| Taken::Console(next, error))?;
        Ok(Self { public, console })
    }

    /// The addresses of the service and of the console.
    pub(super) fn addresses(&self) -> anyhow::Result<(SocketAddr, SocketAddr)> {
        Ok((self.public.local_addr()?, self.console.local_addr()?))
    }

    /// Hands the listeners over to the service.
    pub(super) fn hand_over(self) -> anyhow::Result<Bound> {
        let asynchronous = |listener: TcpListener| {
            listener.set_nonblocking(true)?;
            tokio::net::TcpListener::from_std(listener)
        };
        let failed = "preparing the listeners failed";
        Ok(Bound { public: Some(asynchronous(self.public).context(failed)?), console: Some(asynchronous(self.console).context(failed)?) })
    }
}

/// Says which port is not free, whose it would be, and the command that does without it.
fn explain(asked: u16, taken: &Taken) -> anyhow::Error {
    let (port, whose, error) = match taken {
        Taken::Public(port, error) => (*port, String::new(), error),
        Taken::Console(port, error) => (*port, format!(", which the console takes beside {asked},"), error),
    };
    match error.kind() {
        ErrorKind::AddrInUse => {
            let mut others = (1..=TRIED).filter_map(|by| asked.checked_add(by));
            let other = others.find(|port| Ports::bind(*port).is_ok()).unwrap_or_default();
            anyhow!(
                "port {port}{whose} is in use by another program: stop it, or choose other ports with `backhaul dev --port {other}` \
                 (the console takes the next one; 0 picks free ones)"
            )
        }
        ErrorKind::PermissionDenied => {
            anyhow!("port {port}{whose} needs privileges: choose one above 1023, such as `backhaul dev --port 8080`")
        }
        _ => anyhow!("cannot listen on port {port}{whose}: {error}; choose another one with `backhaul dev --port`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_says_what_to_do() {
        let told = |kind: ErrorKind| explain(8080, &Taken::Console(8081, kind.into())).to_string();
        let privileged = told(ErrorKind::PermissionDenied);
        assert!(privileged.starts_with("port 8081, which the console takes beside 8080, needs privileges"), "{privileged}");
        assert!(told(ErrorKind::AddrNotAvailable).contains("choose another one with `backhaul dev --port`"));
        let last = explain(u16::MAX, &Taken::Public(u16::MAX, ErrorKind::AddrInUse.into())).to_string();
        assert!(last.contains("`backhaul dev --port 0`"), "{last}");
    }
}
