//! A small TCP load balancer: it sends each new connection to a node that is ready, and asks `/readyz` which ones are.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::stage::is_ready;

/// The interval at which every node is asked whether it is ready.
const ASK_EVERY: Duration = Duration::from_millis(100);

/// A running balancer.
pub(crate) struct Balancer {
    pub(crate) address: SocketAddr,
    nodes: Arc<[Behind]>,
    tasks: Vec<JoinHandle<()>>,
}

/// A node behind the balancer.
struct Behind {
    address: SocketAddr,
    admin: SocketAddr,
    ready: AtomicBool,
}

impl Balancer {
    /// Starts a balancer in front of the nodes at these addresses, each with the one of its `/readyz`.
    pub(crate) async fn start(nodes: &[(SocketAddr, SocketAddr)]) -> anyhow::Result<Self> {
        let behind =
            |(address, admin): &(SocketAddr, SocketAddr)| Behind { address: *address, admin: *admin, ready: AtomicBool::default() };
        let nodes: Arc<[Behind]> = nodes.iter().map(behind).collect();
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let mut tasks = vec![tokio::spawn(accept(listener, nodes.clone()))];
        for at in 0..nodes.len() {
            tasks.push(tokio::spawn(ask(nodes.clone(), at)));
        }
        Ok(Self { address, nodes, tasks })
    }

    /// Waits until it sends connections to every node.
    pub(crate) async fn knows_all(&self) {
        while !self.nodes.iter().all(|node| node.ready.load(Ordering::SeqCst)) {
            tokio::time::sleep(ASK_EVERY / 4).await;
        }
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// Asks a node again and again whether it is ready.
async fn ask(nodes: Arc<[Behind]>, at: usize) {
    let Some(node) = nodes.get(at) else { return };
    loop {
        node.ready.store(is_ready(node.admin).await, Ordering::SeqCst);
        tokio::time::sleep(ASK_EVERY).await;
    }
}

/// Sends connections to the nodes that are ready, in turn. Without one, a connection is closed.
async fn accept(listener: TcpListener, nodes: Arc<[Behind]>) {
    let turn = Arc::new(AtomicUsize::new(0));
    while let Ok((mut caller, _)) = listener.accept().await {
        let (nodes, turn) = (nodes.clone(), turn.clone());
        tokio::spawn(async move {
            let first = turn.fetch_add(1, Ordering::SeqCst);
            let in_turn = nodes.iter().cycle().skip(first % nodes.len().max(1)).take(nodes.len());
            for node in in_turn.filter(|node| node.ready.load(Ordering::SeqCst)) {
                if let Ok(mut stream) = TcpStream::connect(node.address).await {
                    let _ = (stream.set_nodelay(true), caller.set_nodelay(true));
                    let _ = tokio::io::copy_bidirectional(&mut caller, &mut stream).await;
                    return;
                }
            }
        });
    }
}
