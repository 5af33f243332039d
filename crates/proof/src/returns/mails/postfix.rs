//! A Postfix of its own on a loopback port. It takes mails for every address and puts them into one Maildir, where they are read with a
//! MIME parser. Needs root, as Postfix does.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use mail_parser::MessageParser;

use super::history::Arrived;
use crate::stage::free;

/// The services of Postfix that take mails and deliver them to a Maildir.
const SERVICES: &str = "\
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
proxymap unix - - n - - proxymap
virtual unix - n n - - virtual
error unix - - n - - error
retry unix - - n - - error
anvil unix - - n - 1 anvil
postlog unix-dgram n - n - 1 postlogd
";

/// A running Postfix. Dropping it stops it and deletes its mails.
pub(super) struct Postfix {
    dir: PathBuf,
    address: SocketAddr,
}

impl Postfix {
    pub(super) fn start() -> anyhow::Result<Self> {
        let dir = std::env::temp_dir().join(format!("backhaul-postfix-{}", std::process::id()));
        let this = Self { dir, address: free()? };
        for part in ["etc", "queue", "data", "mail"] {
            std::fs::create_dir_all(this.dir.join(part))?;
        }
        let mut settings =
            String::from("compatibility_level = 3.6\ninet_protocols = ipv4\nmyhostname = mail.example.com\nmydestination =\n");
        let shown = this.dir.display();
        for (name, value) in [
            ("queue_directory", format!("{shown}/queue")),
            ("data_directory", format!("{shown}/data")),
            ("maillog_file", format!("{shown}/log")),
            ("maillog_file_prefixes", std::env::temp_dir().display().to_string()),
            ("inet_interfaces", "127.0.0.1".to_owned()),
            ("virtual_mailbox_domains", "static:all".to_owned()),
            ("virtual_mailbox_base", format!("{shown}/mail")),
            ("virtual_mailbox_maps", "static:all/".to_owned()),
            ("virtual_uid_maps", format!("static:{}", id("-u")?)),
            ("virtual_gid_maps", format!("static:{}", id("-g")?)),
        ] {
            writeln!(settings, "{name} = {value}")?;
        }
        std::fs::write(this.dir.join("etc/main.cf"), settings)?;
        std::fs::write(this.dir.join("etc/master.cf"), format!("{} inet n - n - - smtpd\n{SERVICES}", this.address))?;
        let owned = Command::new("chown").arg("postfix").args([this.dir.join("data"), this.dir.join("mail")]).status()?;
        ensure!(owned.success(), "the directories of Postfix cannot be given to its user; run as root");
        this.command("start")?;
        Ok(this)
    }

    /// The setting `mail.url`.
    pub(super) fn url(&self) -> String {
        format!("smtp://{}?tls=none", self.address)
    }

    /// The mails so far. Each must be a text and an HTML form, and nothing else.
    pub(super) fn received(&self) -> anyhow::Result<Vec<Arrived>> {
        let files = match std::fs::read_dir(self.dir.join("mail/all/new")) {
            Ok(files) => files,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        files.map(|file| read(&file?.path())).collect()
    }

    fn command(&self, verb: &str) -> anyhow::Result<()> {
        let done = Command::new("postfix").arg("-c").arg(self.dir.join("etc")).arg(verb).output();
        let done = done.context("Postfix is missing; install Debian's package `postfix`")?;
        ensure!(done.status.success(), "postfix {verb}: {}", String::from_utf8_lossy(&done.stderr));
        Ok(())
    }
}

impl Drop for Postfix {
    fn drop(&mut self) {
        // It is over either way.
        _ = self.command("stop");
        _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// A number of the user `postfix`.
fn id(of: &str) -> anyhow::Result<String> {
    let found = Command::new("id").args([of, "postfix"]).output()?;
    ensure!(found.status.success(), "there is no user `postfix`; install Debian's package `postfix`");
    Ok(String::from_utf8(found.stdout)?.trim().to_owned())
}

fn read(path: &Path) -> anyhow::Result<Arrived> {
    let raw = std::fs::read(path)?;
    let mail = MessageParser::default().parse(&raw).with_context(|| format!("{} is no mail", path.display()))?;
    let parts = (mail.text_body_count(), mail.html_body_count(), mail.attachment_count());
    ensure!(parts == (1, 1, 0), "a mail has (text, HTML, attachments) {parts:?}");
    let (text, html) = (mail.body_text(0).unwrap_or_default(), mail.body_html(0).unwrap_or_default());
    let id = mail.message_id().and_then(|id| id.split('@').next()).unwrap_or_default().to_owned();
    let content = [mail.subject().unwrap_or_default(), &*text, &*html].join("\n").into_bytes();
    Ok(Arrived { id, content, accepted: true })
}
