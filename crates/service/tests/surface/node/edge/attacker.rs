//! A stranger who speaks HTTP by hand.

use sandbox::raw_http2 as h2;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::node::listener::site::soon;

/// The address in a URL of the world.
pub(super) fn address(base: &str) -> &str {
    base.trim_start_matches("http://")
}

/// The memory that this process takes, in bytes.
pub(super) fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// A frame of the server.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: u32,
    pub(super) payload: Vec<u8>,
}

/// A connection over which frames of HTTP/2 are written and read by hand.
pub(super) struct Attacker {
    stream: TcpStream,
    unread: Vec<u8>,
}

impl Attacker {
    pub(super) async fn connect(base: &str) -> Self {
        let mut stream = TcpStream::connect(address(base)).await.unwrap();
        stream.write_all(&h2::opening()).await.unwrap();
        Self { stream, unread: Vec::new() }
    }

    /// Sends bytes. An error only means that the server has closed the connection.
    pub(super) async fn sends(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).await.is_ok()
    }

    /// The next frame of the server; none once it has closed the connection.
    pub(super) async fn reads(&mut self) -> Option<Frame> {
        loop {
            if let Some((kind, flags, stream, payload, end)) = h2::read(&self.unread) {
                let frame = Frame { kind, flags, stream, payload: payload.to_vec() };
                self.unread.drain(..end);
                return Some(frame);
            }
            let mut buffer = vec![0; 16 * 1024];
            match soon(self.stream.read(&mut buffer)).await {
                Ok(0) | Err(_) => return None,
                Ok(read) => self.unread.extend_from_slice(&buffer[..read]),
            }
        }
    }

    /// Sends a ping and reads until it is answered. False if the connection is closed instead.
    pub(super) async fn is_answered(&mut self) -> bool {
        self.sends(&h2::frame(h2::PING, 0, 0, &[7; 8])).await;
        while let Some(frame) = self.reads().await {
            if frame.kind == h2::PING && frame.flags == h2::ACK {
                return true;
            }
        }
        false
    }
}
