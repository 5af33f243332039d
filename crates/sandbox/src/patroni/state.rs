//! The members' states, from Patroni's REST API.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A member's part in the replication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Primary,
    SynchronousStandby,
    Standby,
}

/// A member's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberState {
    pub number: usize,
    pub role: Role,
    pub is_running: bool,
}

/// Asks the Patroni at `rest` for the states of all members.
pub(super) async fn ask(rest: SocketAddr) -> Option<Vec<MemberState>> {
    let mut stream = TcpStream::connect(rest).await.ok()?;
    stream.write_all(b"GET /cluster HTTP/1.0\r\n\r\n").await.ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.ok()?;
    read(answer.split_once("\r\n\r\n")?.1)
}

fn read(body: &str) -> Option<Vec<MemberState>> {
    let cluster: Value = serde_json::from_str(body).ok()?;
    cluster.get("members")?.as_array()?.iter().map(read_member).collect()
}

fn read_member(member: &Value) -> Option<MemberState> {
    let text = |field| member.get(field).and_then(Value::as_str);
    let role = match text("role")? {
        "leader" | "primary" | "master" => Role::Primary,
        "sync_standby" => Role::SynchronousStandby,
        _ => Role::Standby,
    };
    // Newer versions say that a standby is streaming.
    let is_running = matches!(text("state")?, "running" | "streaming");
    Some(MemberState { number: text("name")?.parse().ok()?, role, is_running })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_and_states_are_read_from_patronis_answer() {
        let body = r#"{"members": [
            {"name": "0", "role": "leader", "state": "running", "api_url": "http://127.0.0.1:1/patroni", "timeline": 2},
            {"name": "1", "role": "sync_standby", "state": "streaming", "lag": 0},
            {"name": "2", "role": "replica", "state": "creating replica", "lag": "unknown"}], "scope": "backhaul"}"#;
        let member = |number, role, is_running| MemberState { number, role, is_running };
        let expected = [member(0, Role::Primary, true), member(1, Role::SynchronousStandby, true), member(2, Role::Standby, false)];
        assert_eq!(read(body).unwrap(), expected);
        assert_eq!(read("{}"), None);
    }
}
