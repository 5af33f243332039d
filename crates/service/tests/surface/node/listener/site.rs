//! A listener on its own port with its own certificate, and the clients that call it.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::{get, post};
use backhaul::http::listener::{self, Door};
use backhaul::platform::config::Settings;
use backhaul::platform::entropy::Entropy;
use backhaul::platform::metrics::{Connections, ReasonLabels};
use backhaul::platform::tls::{self, Certificates, ClientCertificates};
use bytes::Bytes;
use http_body_util::Empty;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// A response too large for the buffers on the way.
pub const LARGE: usize = 64 * 1024 * 1024;

/// The size of an ordinary response.
const PAGE: usize = 64 * 1024;

/// Waits with a generous timeout, which only a failing test reaches.
pub async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), what).await.unwrap_or_else(|_| panic!("it did not happen"))
}

/// An untrusted certificate authority, and the files of the certificate that it issued last.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    directory: PathBuf,
}

impl Authority {
    pub fn new() -> Self {
        let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("certificate-{:032x}", rand::random::<u128>()));
        std::fs::create_dir_all(&directory).unwrap();
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "Example Root");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        Self { issuer, directory }
    }

    pub fn certificate(&self) -> PathBuf {
        self.directory.join("certificate.pem")
    }

    pub fn private_key(&self) -> PathBuf {
        self.directory.join("key.pem")
    }

    /// Issues a certificate into the files, and returns it as callers will see it.
    pub fn issue(&self) -> CertificateDer<'static> {
        let key = KeyPair::generate().unwrap();
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &self.issuer).unwrap();
        std::fs::write(self.certificate(), certificate.pem() + &self.issuer.pem()).unwrap();
        std::fs::write(self.private_key(), key.serialize_pem()).unwrap();
        certificate.der().clone()
    }

    /// Issues a certificate for `host` into files of its own. Returns it as callers will see it.
    pub fn issue_for(&self, host: &str) -> CertificateDer<'static> {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(vec![host.to_owned()]).unwrap().signed_by(&key, &self.issuer).unwrap();
        let [certificate_file, key_file] = self.pair_for(host);
        std::fs::write(certificate_file, certificate.pem() + &self.issuer.pem()).unwrap();
        std::fs::write(key_file, key.serialize_pem()).unwrap();
        certificate.der().clone()
    }

    /// The files of the certificate for `host` and of its key.
    pub fn pair_for(&self, host: &str) -> [PathBuf; 2] {
        [format!("{host}.pem"), format!("{host}-key.pem")].map(|file| self.directory.join(file))
    }

    /// Puts a key of this authority next to the other one's certificate.
    pub fn copy_key_to(&self, other: &Self) {
        self.issue();
        std::fs::copy(self.private_key(), other.private_key()).unwrap();
    }

    /// A client that trusts this authority and speaks these versions.
    pub fn client(&self, versions: &[&'static SupportedProtocolVersion]) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(self.issuer.der().clone()).unwrap();
        ClientConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth()
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// A listener with routes for a small, an ordinary and a large response.
pub struct Site {
    pub address: SocketAddr,
    pub authority: Authority,
    pub certificates: Option<Arc<Certificates>>,
    counts: Connections,
    leave: Option<oneshot::Sender<()>>,
    served: tokio::task::JoinHandle<io::Result<()>>,
}

impl Site {
    /// A listener that speaks plain HTTP, with these settings changed.
    pub async fn plain(changed: &[(&str, &str)]) -> Self {
        Self::open(changed, false).await
    }

    /// A listener that speaks TLS, with these settings changed.
    pub async fn secure(changed: &[(&str, &str)]) -> Self {
        Self::open(changed, true).await
    }

    async fn open(changed: &[(&str, &str)], secure: bool) -> Self {
        let authority = Authority::new();
        authority.issue();
        let file = |path: PathBuf| path.to_str().unwrap().to_owned();
        let files = [("TLS__CERTIFICATE", file(authority.certificate())), ("TLS__PRIVATE_KEY", file(authority.private_key()))];
        let changed = changed.iter().map(|(name, value)| (*name, (*value).to_owned())).chain(files.into_iter().filter(|_| secure));
        let settings = Settings::load(None, changed.map(|(name, value)| (format!("BACKHAUL__{name}"), value))).unwrap();
        let certificates = settings.tls.files().map(|files| Arc::new(Certificates::load(vec![files]).unwrap()));
        let configured = |certificates| tls::server_config(certificates, settings.tls.allow_1_3, ClientCertificates::NotAsked).unwrap();
        let tls = certificates.clone().map(configured);
        let counts = Connections::default();
        let door = Door::public(&settings.http, &Entropy::seeded(1), tls, counts.clone());
        let page = get(async || vec![b'x'; PAGE]);
        let read = post(async |body: Bytes| format!("read {}", body.len()));
        let router = Router::new().route("/", get(async || "here")).route("/page", page).route("/large", get(async || vec![b'x'; LARGE]));
        let router = router.route("/read", read).route("/hidden", get(async || "hidden"));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (leave, leaving) = oneshot::channel();
        let served = tokio::spawn(listener::serve_through(door, listener, router, async { _ = leaving.await }));
        Self { address, authority, certificates, counts, leave: Some(leave), served }
    }

    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// A client that speaks TLS 1.2.
    pub async fn connect_securely(&self) -> TlsStream<TcpStream> {
        self.connect_with(self.authority.client(&[&rustls::version::TLS12])).await.unwrap()
    }

    pub async fn connect_with(&self, client: impl Into<Arc<ClientConfig>>) -> io::Result<TlsStream<TcpStream>> {
        handshake(self.address, client).await
    }

    pub fn dropped(&self, reason: &'static str) -> u64 {
        self.counts.dropped.get_or_create(&ReasonLabels { reason }).get()
    }

    pub fn refused(&self, reason: &'static str) -> u64 {
        self.counts.refused.get_or_create(&ReasonLabels { reason }).get()
    }

    pub fn handshake_failures(&self) -> u64 {
        self.counts.handshake_failures.get()
    }

    /// Waits until this many connections are open.
    pub async fn holds(&self, open: i64) {
        soon(async {
            while self.counts.open.get() != open {
                tokio::task::yield_now().await;
            }
        })
        .await;
    }

    /// Starts the shutdown.
    pub fn leaves(&mut self) {
        self.leave.take().unwrap().send(()).unwrap();
    }

    /// Waits until it has shut down.
    pub async fn left(self) {
        soon(self.served).await.unwrap().unwrap();
    }
}

/// Performs a TLS handshake with the server at `address`.
pub async fn handshake(address: SocketAddr, client: impl Into<Arc<ClientConfig>>) -> io::Result<TlsStream<TcpStream>> {
    handshake_with("localhost", address, client).await
}

/// The same with a server that the client takes for `host`.
pub async fn handshake_with(
    host: &'static str,
    address: SocketAddr,
    client: impl Into<Arc<ClientConfig>>,
) -> io::Result<TlsStream<TcpStream>> {
    let stream = TcpStream::connect(address).await?;
    soon(TlsConnector::from(client.into()).connect(ServerName::try_from(host).unwrap(), stream)).await
}

/// An HTTP/2 client.
pub async fn http2(site: &Site, shape: impl FnOnce(&mut http2::Builder<TokioExecutor>)) -> http2::SendRequest<Empty<Bytes>> {
    let mut client = site.authority.client(&[&rustls::version::TLS12]);
    client.alpn_protocols = vec![b"h2".to_vec()];
    let stream = site.connect_with(client).await.unwrap();
    let mut builder = http2::Builder::new(TokioExecutor::new());
    shape(&mut builder);
    let (caller, connection) = builder.handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    caller
}

/// The certificate that the server presented.
pub fn shown(stream: &TlsStream<TcpStream>) -> CertificateDer<'static> {
    stream.get_ref().1.peer_certificates().unwrap()[0].clone().into_owned()
}

/// Sends a small request and reads the response.
pub async fn ask<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S) -> String {
    ask_with(stream, "Host: localhost\r\n").await
}

/// The same with these headers.
pub async fn ask_with<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S, headers: &str) -> String {
    stream.write_all(format!("GET / HTTP/1.1\r\n{headers}\r\n").as_bytes()).await.unwrap();
    let mut answer = String::new();
    let mut buffer = [0; 1024];
    while !answer.ends_with("here") {
        let read = soon(stream.read(&mut buffer)).await.unwrap();
        assert_ne!(read, 0, "closed after {answer:?}");
        answer.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
    }
    answer
}

/// Reads until the other end closes, cleanly or not, and returns what was read.
pub async fn closes<S: AsyncRead + Unpin>(stream: &mut S) -> Vec<u8> {
    let mut rest = Vec::new();
    let _ = soon(stream.read_to_end(&mut rest)).await;
    rest
}
