//! Ways to write an address that must not be called: this machine, the networks around it, and reserved ranges.

/// Hosts that are addresses, whatever they look like.
pub const ADDRESSES: [&str; 77] = [
    // This machine.
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "127.255.255.254",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0x7f.0x0.0x0.0x1",
    "0177.0.0.1",
    "017700000001",
    "0177.1",
    "127.0.0.1.",
    "127.000.000.001",
    "%31%32%37.0.0.1",
    "127。0。0。1",
    "①②⑦.0.0.1",
    "0",
    "0.0.0.0",
    "0x0",
    "0.1.2.3",
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[0000::0001]",
    // An IPv4 address inside an IPv6 address: mapped, translated, compatible, NAT64, 6to4, Teredo, ISATAP.
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::ffff:169.254.169.254]",
    "[::ffff:10.0.0.1]",
    "[::ffff:0:127.0.0.1]",
    "[::127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[2002:a9fe:a9fe::1]",
    "[2001:0:7f00:1::]",
    "[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
    "[2606:4700::5efe:7f00:1]",
    // Link-local addresses, where clouds keep their secrets.
    "169.254.169.254",
    "169.254.43518",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "[fe80::1]",
    "[fe80::a9fe:a9fe]",
    // Private networks.
    "10.0.0.1",
    "012.0.0.1",
    "167772161",
    "0xa000001",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "192.168.1",
    "3232235777",
    "100.64.0.1",
    "100.127.255.255",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fec0::1]",
    // Multicast, documentation, benchmarks, and reserved ranges.
    "192.0.0.1",
    "192.0.2.1",
    "192.88.99.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "4294967295",
    "[100::1]",
    "[2001:10::1]",
    "[2001:db8::1]",
    "[3fff::1]",
    "[4000::1]",
    "[ff02::1]",
    "[ff0e::1]",
];

/// Names of this machine that need no listing: they are resolved when they are called.
pub const NAMES: [&str; 3] = ["localhost", "LOCALHOST", "a.localhost"];

/// URLs with this machine's address that no client could call in the first place.
pub fn odd(port: u16) -> Vec<String> {
    vec![
        format!("https://user@127.0.0.1:{port}/"),
        format!("https://user:password@127.0.0.1:{port}/"),
        format!("https://example.com:443@127.0.0.1:{port}/"),
        format!("https://example.com\\@127.0.0.1:{port}/"),
        format!("https://127.0.0.1:{port}/#fragment"),
        format!("https://[fe80::1%25lo]:{port}/"),
        format!("ftp://127.0.0.1:{port}/"),
        format!("gopher://127.0.0.1:{port}/_GET"),
        format!("ws://127.0.0.1:{port}/"),
        format!("unix:/run/{port}.sock"),
        "file:///etc/passwd".to_owned(),
        "data:,x".to_owned(),
        "https://".to_owned(),
        "127.0.0.1".to_owned(),
    ]
}

/// All of the addresses, by both schemes, on this port and on the default one.
pub fn urls(port: u16) -> impl Iterator<Item = String> {
    let hosts = ADDRESSES.into_iter().chain(NAMES).flat_map(move |host| {
        ["http", "https"].into_iter().flat_map(move |scheme| [format!("{scheme}://{host}:{port}/"), format!("{scheme}://{host}/")])
    });
    hosts.chain(odd(port)).chain([String::new()])
}
