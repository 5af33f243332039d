//! The client's counterparts: peers with scripted behaviour, a certificate authority, and a name server.

use std::collections::HashMap;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// A connection as a peer sees it.
pub trait Io: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}
pub type Wire = Box<dyn Io>;

/// Counts its connections, and handles them as scripted.
pub struct Peer {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
    served: JoinHandle<()>,
}

impl Peer {
    /// A peer at `address` that does `what` with every connection.
    pub async fn at<F, Done>(address: &str, what: F) -> Self
    where
        F: Fn(TcpStream) -> Done + Send + 'static,
        Done: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        let served = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(what(stream));
            }
        });
        Self { address, connections, served }
    }

    /// A peer that reads a request, writes `answer`, and closes.
    pub async fn answering(address: &str, answer: &str) -> Self {
        let answer: Arc<str> = answer.into();
        Self::at(address, move |stream| answer_once(Box::new(stream), Arc::clone(&answer))).await
    }

    /// The same behind TLS.
    pub async fn secure(config: Arc<ServerConfig>, answer: &str) -> Self {
        let answer: Arc<str> = answer.into();
        let what = move |stream| {
            let (acceptor, answer) = (TlsAcceptor::from(Arc::clone(&config)), Arc::clone(&answer));
            async move {
                if let Ok(stream) = acceptor.accept(stream).await {
                    answer_once(Box::new(stream), answer).await;
                }
            }
        };
        Self::at("127.0.0.1:0", what).await
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.served.abort();
    }
}

async fn answer_once(mut wire: Wire, answer: Arc<str>) {
    if read_request(&mut wire).await.is_some() {
        _ = wire.write_all(answer.as_bytes()).await;
        _ = wire.shutdown().await;
    }
}

/// A whole request as text; none if the caller hangs up first.
pub async fn read_request(wire: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut read = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&read).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
            if body.len() >= length {
                return Some(text);
            }
        }
        let mut more = [0; 4_096];
        match wire.read(&mut more).await {
            Ok(0) | Err(_) => return None,
            Ok(bytes) => read.extend_from_slice(&more[..bytes]),
        }
    }
}

/// A 200 with this body.
pub fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

/// A certificate authority that only the test's settings trust.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    pub file: PathBuf,
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "Example Root");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("root-{:032x}.pem", rand::random::<u128>()));
        std::fs::write(&file, issuer.pem()).unwrap();
        Self { issuer, file }
    }

    /// A certificate for a server called `name`, and its key, in PEM.
    pub fn pair(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &self.issuer).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    /// The same, with a certificate that is valid until the beginning of this year.
    pub fn pair_until(&self, name: &str, year: i32) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_after = date_time_ymd(year, 1, 1);
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }

    /// The TLS configuration of a server called `name`.
    pub fn server(&self, name: &str, versions: &[&'static SupportedProtocolVersion]) -> Arc<ServerConfig> {
        self.configured(name, versions, WebPkiClientVerifier::no_client_auth())
    }

    /// The same for a server that asks for a client certificate of this authority, and may insist on it.
    pub fn guarded(&self, name: &str, versions: &[&'static SupportedProtocolVersion], insists: bool) -> Arc<ServerConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.issuer.der().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        let verifier = if insists { verifier } else { verifier.allow_unauthenticated() };
        self.configured(name, versions, verifier.build().unwrap())
    }

    fn configured(
        &self,
        name: &str,
        versions: &[&'static SupportedProtocolVersion],
        verifier: Arc<dyn ClientCertVerifier>,
    ) -> Arc<ServerConfig> {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &self.issuer).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .unwrap()
            .with_client_cert_verifier(verifier)
            .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
            .unwrap();
        config.ticketer = rustls::crypto::aws_lc_rs::Ticketer::new().unwrap();
        Arc::new(config)
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        _ = std::fs::remove_file(&self.file);
    }
}

/// The addresses of each name at each lookup; the last answer repeats.
type Names = HashMap<&'static str, Vec<Vec<&'static str>>>;

/// A name server on this machine. Its answers have a time to live of zero.
pub struct NameServer {
    pub address: SocketAddr,
    served: JoinHandle<()>,
}

impl NameServer {
    pub async fn knowing(names: impl IntoIterator<Item = (&'static str, Vec<Vec<&'static str>>)>) -> Self {
        let names: Names = names.into_iter().collect();
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let asked: Mutex<HashMap<(String, u16), usize>> = Mutex::default();
        let served = tokio::spawn(async move {
            let mut question = [0; 512];
            while let Ok((length, from)) = socket.recv_from(&mut question).await {
                let answer = answer(&question[..length], &names, &mut asked.lock().unwrap());
                _ = socket.send_to(&answer, from).await;
            }
        });
        Self { address, served }
    }

    /// A name server that never answers.
    pub async fn silent() -> (UdpSocket, SocketAddr) {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        (socket, address)
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        self.served.abort();
    }
}

const A: u16 = 1;
const AAAA: u16 = 28;

/// The answer to a question about a name (RFC 1035, section 4).
fn answer(question: &[u8], names: &Names, asked: &mut HashMap<(String, u16), usize>) -> Vec<u8> {
    let (mut labels, mut at) = (Vec::new(), 12);
    while question[at] != 0 {
        let end = at + 1 + usize::from(question[at]);
        labels.push(String::from_utf8_lossy(&question[at + 1..end]).to_lowercase());
        at = end;
    }
    let (name, end) = (labels.join("."), at + 5);
    let kind = u16::from_be_bytes([question[at + 1], question[at + 2]]);
    let count = asked.entry((name.clone(), kind)).or_default();
    let known = names.get(name.as_str());
    let addresses: Vec<IpAddr> = known
        .and_then(|answers| answers.get(*count).or(answers.last()))
        .map(|texts| texts.iter().map(|text| text.parse().unwrap()).collect())
        .unwrap_or_default();
    *count += 1;
    let records: Vec<Vec<u8>> = addresses
        .into_iter()
        .filter_map(|address| match (address, kind) {
            (IpAddr::V4(address), A) => Some(address.octets().to_vec()),
            (IpAddr::V6(address), AAAA) => Some(address.octets().to_vec()),
            _ => None,
        })
        .collect();
    let mut reply = question[..2].to_vec();
    // An answer with recursion; an unknown name does not exist.
    reply.extend([0x81, if known.is_some() { 0x80 } else { 0x83 }, 0, 1, 0, u8::try_from(records.len()).unwrap(), 0, 0, 0, 0]);
    reply.extend(&question[12..end]);
    for record in records {
        // The name from the question; then type, class, a zero time to live, and the length.
        reply.extend([0xc0, 12]);
        reply.extend(kind.to_be_bytes());
        reply.extend([0, 1, 0, 0, 0, 0]);
        reply.extend(u16::try_from(record.len()).unwrap().to_be_bytes());
        reply.extend(record);
    }
    reply
}
