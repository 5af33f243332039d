//! Tests of the proxy in front of a server that echoes.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{sleep, timeout};

use super::*;

/// Long enough for any answer of a healthy network.
const SOON: Duration = Duration::from_secs(5);
/// Long enough for an answer that would come at once.
const SHORT: Duration = Duration::from_millis(150);

/// A server that echoes, and the number of its connections that have ended.
async fn echo() -> (SocketAddr, watch::Receiver<usize>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let (address, (ends, ended)) = (listener.local_addr().unwrap(), watch::channel(0));
    let ends = Arc::new(ends);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let ends = Arc::clone(&ends);
            tokio::spawn(async move {
                let (mut from, mut to) = stream.split();
                let _ = tokio::io::copy(&mut from, &mut to).await;
                ends.send_modify(|ended| *ended += 1);
            });
        }
    });
    (address, ended)
}

async fn proxy() -> (FaultProxy, watch::Receiver<usize>) {
    let (address, ended) = echo().await;
    (FaultProxy::start(address).await.unwrap(), ended)
}

/// Sends `word` and returns whether its echo arrived within `patience`.
async fn echoes(stream: &mut TcpStream, word: &[u8], patience: Duration) -> bool {
    let mut heard = vec![0; word.len()];
    if stream.write_all(word).await.is_err() {
        return false;
    }
    let read = timeout(patience, stream.read_exact(&mut heard)).await;
    matches!(read, Ok(Ok(_))) && heard == word
}

async fn connect(proxy: &FaultProxy) -> TcpStream {
    timeout(SOON, TcpStream::connect(proxy.address())).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_healthy_network_passes_everything_on() {
    let (proxy, mut ended) = proxy().await;
    let mut stream = connect(&proxy).await;
    assert!(echoes(&mut stream, &vec![7; 100_000], SOON).await);
    drop(stream);
    timeout(SOON, ended.wait_for(|ended| *ended == 1)).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_unix_socket_can_be_the_upstream() {
    let socket = std::env::temp_dir().join(format!("backhaul-fault-proxy-{}", std::process::id()));
    let listener = tokio::net::UnixListener::bind(&socket).unwrap();
    let proxy = FaultProxy::start(socket.clone()).await.unwrap();
    let mut stream = connect(&proxy).await;
    stream.write_all(b"hello").await.unwrap();
    let (mut upstream, _) = listener.accept().await.unwrap();
    let mut heard = [0; 5];
    upstream.read_exact(&mut heard).await.unwrap();
    std::fs::remove_file(socket).unwrap();
    assert_eq!(&heard, b"hello");
}

#[tokio::test]
async fn a_delay_applies_in_each_direction() {
    let (proxy, _) = proxy().await;
    let mut stream = connect(&proxy).await;
    proxy.inject(Fault::Delay(SHORT));
    assert!(!echoes(&mut stream, b"late", SHORT * 3 / 2).await);
    let mut late = [0; 4];
    timeout(SOON, stream.read_exact(&mut late)).await.unwrap().unwrap();
    assert_eq!(&late, b"late");
}

#[tokio::test]
async fn what_a_black_hole_swallowed_never_arrives() {
    let (proxy, mut ended) = proxy().await;
    let (mut used, mut idle) = (connect(&proxy).await, connect(&proxy).await);
    assert!(echoes(&mut used, b"before", SOON).await && echoes(&mut idle, b"before", SOON).await);
    proxy.inject(Fault::BlackHole);
    let mut new = connect(&proxy).await;
    assert!(!echoes(&mut used, b"lost", SHORT).await && !echoes(&mut new, b"lost", SHORT).await);
    drop(new);
    sleep(SHORT).await;
    assert_eq!(*ended.borrow(), 0, "the end of a connection vanishes too");
    proxy.heal();
    timeout(SOON, ended.wait_for(|ended| *ended == 1)).await.unwrap().unwrap();
    assert!(!echoes(&mut used, b"after", SHORT).await, "a stream with a gap stays silent");
    assert!(echoes(&mut idle, b"after", SOON).await, "an idle connection has lost nothing");
    assert!(echoes(&mut connect(&proxy).await, b"after", SOON).await);
}

#[tokio::test]
async fn half_open_means_that_one_direction_still_works() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let proxy = FaultProxy::start(listener.local_addr().unwrap()).await.unwrap();
    let mut client = connect(&proxy).await;
    let (mut upstream, _) = listener.accept().await.unwrap();
    proxy.inject(Fault::HalfOpen(Direction::ToUpstream));
    let mut heard = [0; 4];
    upstream.write_all(b"down").await.unwrap();
    timeout(SOON, client.read_exact(&mut heard)).await.unwrap().unwrap();
    client.write_all(b"up").await.unwrap();
    assert!(timeout(SHORT, upstream.read(&mut heard)).await.is_err());
}

#[tokio::test]
async fn a_partition_lets_handshakes_hang_and_loses_nothing() {
    let (proxy, _) = proxy().await;
    let mut open = connect(&proxy).await;
    assert!(echoes(&mut open, b"before", SOON).await);
    proxy.inject(Fault::Partition);
    sleep(SHORT).await;
    assert!(!echoes(&mut open, b"held", SHORT).await);
    let mut hanging = Box::pin(TcpStream::connect(proxy.address()));
    assert!(timeout(SHORT * 2, &mut hanging).await.is_err());
    proxy.heal();
    let mut held = [0; 4];
    timeout(SOON, open.read_exact(&mut held)).await.unwrap().unwrap();
    assert_eq!(&held, b"held");
    let mut connected = timeout(SOON, hanging).await.unwrap().unwrap();
    assert!(echoes(&mut connected, b"after", SOON).await);
}

#[tokio::test]
async fn a_reset_breaks_open_and_new_connections() {
    let (proxy, _) = proxy().await;
    let mut open = connect(&proxy).await;
    assert!(echoes(&mut open, b"before", SOON).await);
    proxy.inject(Fault::Reset);
    let broken = timeout(SOON, open.read_u8()).await.unwrap().unwrap_err();
    assert_eq!(broken.kind(), io::ErrorKind::ConnectionReset);
    assert!(!echoes(&mut connect(&proxy).await, b"new", SOON).await);
    proxy.heal();
    assert!(echoes(&mut connect(&proxy).await, b"after", SOON).await);
}

#[tokio::test]
async fn a_trickle_passes_one_byte_per_second_until_it_is_healed() {
    let (proxy, _) = proxy().await;
    let mut stream = connect(&proxy).await;
    proxy.inject(Fault::Trickle);
    assert!(!echoes(&mut stream, b"slow", SHORT * 2).await);
    proxy.heal();
    let mut rest = [0; 4];
    timeout(SOON, stream.read_exact(&mut rest)).await.unwrap().unwrap();
    assert_eq!(&rest, b"slow");
}

#[tokio::test]
async fn a_dropped_proxy_ends_its_connections() {
    let (proxy, mut ended) = proxy().await;
    let mut stream = connect(&proxy).await;
    assert!(echoes(&mut stream, b"before", SOON).await);
    let address = proxy.address();
    drop(proxy);
    timeout(SOON, ended.wait_for(|ended| *ended == 1)).await.unwrap().unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}
