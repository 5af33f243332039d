//! The connector: looks up the name, asks the guard about the addresses, and connects with TCP and TLS.

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolveHosts, ResolverConfig};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hyper::Uri;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use rustls::ProtocolVersion;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tower::Service;

use super::error::NoClient;
use super::failure::{NoConnection, explain_io};
use super::identity::Identity;
use super::roots;
use crate::delivery::guard::{Guard, Host, Target};
use crate::platform::config::Outbound;

/// The time after which a query to a name server is repeated.
const QUERY_TIMEOUT: Duration = Duration::from_secs(2);
/// The maximum time for which an answer of a name server is cached.
const CACHED: Duration = Duration::from_mins(5);
/// The maximum time for which the absence of a name is cached.
const CACHED_ABSENT: Duration = Duration::from_secs(10);
/// The number of addresses per name that are tried.
const TRIED: usize = 4;

/// Connects to hosts that the guard allows.
#[derive(Clone)]
pub(super) struct Connector(Arc<Parts>);

#[derive(Clone)]
struct Parts {
    guard: Arc<Guard>,
    resolver: TokioResolver,
    tls: TlsConnector,
    deadline: Duration,
}

/// A connection, with or without TLS.
pub(super) type Stream = TokioIo<Box<dyn Duplex>>;

/// A stream in both directions.
pub(super) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {
    /// The version of TLS, if there is one.
    fn tls(&self) -> Option<&'static str>;
}

impl Duplex for TcpStream {
    fn tls(&self) -> Option<&'static str> {
        None
    }
}

impl Duplex for TlsStream<TcpStream> {
    fn tls(&self) -> Option<&'static str> {
        match self.get_ref().1.protocol_version()? {
            ProtocolVersion::TLSv1_2 => Some("1.2"),
            ProtocolVersion::TLSv1_3 => Some("1.3"),
            _ => None,
        }
    }
}

/// The version of TLS of the connection that an answer came over.
#[derive(Clone, Copy, Debug)]
pub(super) struct OverTls(pub(super) &'static str);

impl Connection for Box<dyn Duplex> {
    fn connected(&self) -> Connected {
        match self.tls() {
            Some(version) => Connected::new().extra(OverTls(version)),
            None => Connected::new(),
        }
    }
}

impl Connector {
    pub(super) fn new(settings: &Outbound, guard: Arc<Guard>) -> Result<Self, NoClient> {
        let tls = roots::client_config(settings.extra_roots().as_deref())?;
        Ok(Self(Arc::new(Parts {
            guard,
            resolver: resolver(&settings.name_servers).map_err(|error| NoClient::Resolver(error.to_string()))?,
            tls: TlsConnector::from(Arc::new(tls)),
            deadline: settings.connect_timeout(),
        })))
    }

    /// The same, presenting a client certificate.
    pub(super) fn presenting(&self, identity: &Identity) -> Self {
        let tls = TlsConnector::from(Arc::new(identity.tls(self.0.tls.config())));
        Self(Arc::new(Parts { tls, ..Parts::clone(&self.0) }))
    }
}

/// A resolver that queries `servers`, or those of the system if there are none.
fn resolver(servers: &[SocketAddr]) -> Result<TokioResolver, NetError> {
    let mut builder = match TokioResolver::builder_tokio() {
        Ok(builder) if servers.is_empty() => builder,
        // If the system names no server, ask this machine, as the C library does.
        Err(_) if servers.is_empty() => with_servers(&[SocketAddr::from(([127, 0, 0, 1], 53))]),
        Ok(_) | Err(_) => with_servers(servers),
    };
    let options = builder.options_mut();
    if !servers.is_empty() {
        options.use_hosts_file = ResolveHosts::Never;
    }
    // Look up both address families, so that the guard sees all addresses of a name.
    options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
    options.timeout = QUERY_TIMEOUT;
    options.positive_max_ttl = Some(CACHED);
    options.negative_max_ttl = Some(CACHED_ABSENT);
    builder.build()
}

fn with_servers(servers: &[SocketAddr]) -> hickory_resolver::ResolverBuilder<TokioRuntimeProvider> {
    let server = |address: &SocketAddr| {
        let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
            connection.port = address.port();
            connection
        });
        NameServerConfig::new(address.ip(), true, connections.into())
    };
    let config = ResolverConfig::from_name_servers(servers.iter().map(server).collect());
    TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = NoConnection;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, NoConnection>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), NoConnection>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let parts = Arc::clone(&self.0);
        Box::pin(async move {
            let connected = timeout(parts.deadline, parts.connect(&uri)).await;
            connected.unwrap_or(Err(NoConnection::Unreachable("connecting timed out")))
        })
    }
}

impl Parts {
    async fn connect(&self, uri: &Uri) -> Result<Stream, NoConnection> {
        // Check again here, so that no caller can bypass the guard.
        let target = self.guard.check_url(&uri.to_string())?;
        let addresses = self.resolve(&target).await?;
        let stream = self.reach(&addresses, target.port()).await?;
        if target.is_https() {
            let name =
                server_name(target.host()).ok_or(NoConnection::Unreachable("TLS: the host is not a valid name for a certificate"))?;
            let stream = self.tls.connect(name, stream).await.map_err(|error| NoConnection::Unreachable(explain_io(&error)))?;
            Ok(TokioIo::new(Box::new(stream)))
        } else {
            Ok(TokioIo::new(Box::new(stream)))
        }
    }

    /// The addresses of the target. If the guard refuses one of them, it refuses all: a name with public and internal addresses has
    /// no other purpose than to get past a check.
    async fn resolve(&self, target: &Target) -> Result<Vec<IpAddr>, NoConnection> {
        let addresses: Vec<IpAddr> = match target.host() {
            Host::Address(address) => vec![*address],
            // The trailing dot makes the name absolute, so the search list of this machine does not apply.
            Host::Name(name) => self.resolver.lookup_ip(format!("{name}.")).await.map_err(|error| no_address(&error))?.iter().collect(),
        };
        for address in &addresses {
            self.guard.check_address(target, *address)?;
        }
        Ok(addresses)
    }

    /// Tries the addresses in turn, each for its share of the time.
    async fn reach(&self, addresses: &[IpAddr], port: u16) -> Result<TcpStream, NoConnection> {
        let tried = addresses.len().clamp(1, TRIED);
        let share = self.deadline / u32::try_from(tried).unwrap_or(1);
        let mut why = "the name has no address";
        for address in addresses.iter().take(tried) {
            match timeout(share, TcpStream::connect((*address, port))).await {
                Ok(Ok(stream)) => {
                    // A request is written in one piece, so waiting for more data would only delay it.
                    _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Ok(Err(error)) => why = explain_io(&error),
                Err(_) => why = "connecting timed out",
            }
        }
        Err(NoConnection::Unreachable(why))
    }
}

fn server_name(host: &Host) -> Option<ServerName<'static>> {
    match host {
        Host::Name(name) => ServerName::try_from(name.clone()).ok(),
        Host::Address(address) => Some(ServerName::from(*address)),
    }
}

fn no_address(error: &NetError) -> NoConnection {
    if error.is_nx_domain() || error.is_no_records_found() {
        NoConnection::Unreachable("the name has no address")
    } else {
        NoConnection::Unreachable("the name could not be looked up")
    }
}
