//! `backhaul --server`: sends a command to the operator API of a service, and prints the answer.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::{ArgMatches, Args, Command};
use domain::messages::delivery::Outcome;
use hyper::Method;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::operations::{self, Reach, reach};
use super::parameters;
use crate::cli::confirm::confirm;
use crate::cli::named_host;
use crate::cli::output::{self, Format};
use crate::cli::session;
use crate::delivery::client::Client;
use crate::http::operator_api::{Screen, TERMINAL};
use crate::platform::config::Settings;

/// The longest time for a command. The longest of them checks all endpoints, for 45 seconds at most.
const DEADLINE: Duration = Duration::from_mins(2);
/// The most bytes of an answer.
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// The most bytes of a file that a command sends.
const MOST_FILE_BYTES: usize = 1024 * 1024;

/// The service that runs the command, instead of this program.
#[derive(Args)]
pub(in crate::cli) struct Server {
    /// Run the command on the service whose console has this address, such as <https://console.example.com>, with the token of
    /// `--token-file` instead of the database's password.
    #[arg(long, global = true, env = "BACKHAUL_SERVER", value_name = "URL")]
    server: Option<String>,
    /// The file with your personal token for `--server`, which you make in the console under Your account.
    #[arg(long, global = true, env = "BACKHAUL_TOKEN_FILE", value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// The answer to a terminal.
#[derive(Deserialize)]
struct Terminal {
    out: String,
    notes: String,
    error: Option<String>,
    question: Option<String>,
    confirm_with: Option<String>,
}

/// A problem as in RFC 9457.
#[derive(Deserialize)]
struct Problem {
    detail: String,
}

impl Server {
    /// The address of the service that runs the command, if one was named.
    pub(in crate::cli) fn url(&self) -> Option<&str> {
        self.server.as_deref().filter(|url| !url.is_empty())
    }

    fn token(&self) -> anyhow::Result<SecretString> {
        let file = self.token_file.as_deref().context(
            "--server needs a token: make one in the console under Your account, write it into a file, and name that with --token-file",
        )?;
        let text = std::fs::read_to_string(file).with_context(|| format!("cannot read the token file {}", file.display()))?;
        Ok(text.trim().into())
    }

    /// Sends the command that `matches` has to the service at `url`, and prints its answer.
    pub(in crate::cli) async fn run(
        &self,
        url: &str,
        mut root: Command,
        matches: &ArgMatches,
        format: Format,
        screen: Option<Screen>,
        settings: Settings,
    ) -> anyhow::Result<ExitCode> {
        root.build();
        let (words, leaf) = named(matches);
        let reads = match reach(&words) {
            Some(Reach::Reads(_) | Reach::Lists(_)) => true,
            Some(Reach::Changes(_)) => false,
            Some(Reach::Local(why)) => bail!("`backhaul {words}` cannot be run through --server: {why}; run it there, without --server"),
            None => bail!("`backhaul {words}` is not a command that can be run through --server"),
        };
        let command = parameters::leaf(&root, &words).context("there is no such command")?;
        let mut given = parameters::given(command, leaf);
        for file in operations::files(&words) {
            send_file(&mut given, file)?;
        }
        for (name, variable) in operations::secrets(&words) {
            if let Some(secret) = session::secret(variable) {
                given.insert((*name).to_owned(), secret.expose_secret().into());
            }
        }
        let connection = Connection::new(url, &self.token()?, settings)?;
        let call = Call { words: &words, reads, format, screen };
        let mut answer = connection.send(call, &given).await?;
        if let Some(question) = &answer.question {
            // A preview is for whoever confirms, not for a script that reads the output.
            output::note(answer.out.trim_end());
            output::note(answer.notes.trim_end());
            confirm(question, answer.confirm_with.as_deref().unwrap_or("yes"))?;
            given.insert("yes".to_owned(), true.into());
            answer = connection.send(call, &given).await?;
        }
        print(&answer);
        match answer.error {
            Some(error) => bail!(error),
            None => Ok(ExitCode::SUCCESS),
        }
    }
}

/// The words of the command that was given, and its own parameters.
fn named(mut matches: &ArgMatches) -> (String, &ArgMatches) {
    let mut words = Vec::new();
    while let Some((word, below)) = matches.subcommand() {
        words.push(word);
        matches = below;
    }
    (words.join(" "), matches)
}

/// Replaces the name of a file by its content.
fn send_file(given: &mut Map<String, Value>, name: &str) -> anyhow::Result<()> {
    let paths = match given.get_mut(name) {
        Some(Value::Array(paths)) => paths.as_mut_slice(),
        Some(path) => std::slice::from_mut(path),
        None => &mut [],
    };
    for path in paths {
        // An empty name removes what was there.
        if let Value::String(path) = path
            && !path.is_empty()
        {
            *path = STANDARD.encode(session::file(&name.replace('_', " "), path, MOST_FILE_BYTES)?);
        }
    }
    Ok(())
}

fn print(answer: &Terminal) {
    output::received(&answer.out);
    output::note(answer.notes.trim_end());
}

/// A command that is sent.
#[derive(Clone, Copy)]
struct Call<'a> {
    words: &'a str,
    reads: bool,
    format: Format,
    screen: Option<Screen>,
}

/// The way to the service.
struct Connection {
    client: Client,
    /// Without a slash at its end.
    base: String,
    authorization: HeaderValue,
}

impl Connection {
    fn new(url: &str, token: &SecretString, settings: Settings) -> anyhow::Result<Self> {
        let parsed = named_host::read_secure("--server", url, "the address of a console, such as https://console.example.com")?;
        let client = named_host::client(&[&parsed], settings)?;
        let mut authorization = HeaderValue::try_from(format!("Bearer {}", token.expose_secret()))
            .map_err(|_| anyhow::anyhow!("the token file has characters that no token has; write the token into it, and nothing else"))?;
        authorization.set_sensitive(true);
        Ok(Self { client, base: url.trim_end_matches('/').to_owned(), authorization })
    }

    async fn send(&self, call: Call<'_>, parameters: &Map<String, Value>) -> anyhow::Result<Terminal> {
        let mut url = format!("{}/admin/v1/{}", self.base, call.words.replace(' ', "/"));
        if call.reads {
            url.push_str(&query(parameters)?);
        }
        let method = if call.reads { Method::GET } else { Method::POST };
        let mut request = self.client.request(method, &url);
        request.deadline = DEADLINE;
        (request.most_read, request.most_kept) = (MOST_BYTES, MOST_BYTES);
        let output = if call.format == Format::Json { "json" } else { "table" };
        let screen = call.screen.map(|screen| format!(";{screen}")).unwrap_or_default();
        request.headers.insert(ACCEPT, HeaderValue::try_from(format!("{TERMINAL};output={output}{screen}"))?);
        request.headers.insert(AUTHORIZATION, self.authorization.clone());
        if !call.reads {
            request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            request.body = serde_json::to_vec(parameters)?.into();
        }
        let answered = self.client.call(request).await;
        match answered.outcome {
            Outcome::Answered { status, .. } => self.read(call, status, &answered.answer),
            Outcome::TimedOut => bail!(
                "{} did not answer within {} s; the command may have been carried out: look before you repeat it",
                self.base,
                DEADLINE.as_secs()
            ),
            Outcome::Unreachable(why) | Outcome::Refused(why) => bail!(
                "{} cannot be reached: {why}; check the address, that the console is served there, and the way to it (a tunnel, a proxy)",
                self.base
            ),
        }
    }

    fn read(&self, call: Call<'_>, status: u16, answer: &[u8]) -> anyhow::Result<Terminal> {
        if let Ok(terminal) = serde_json::from_slice(answer) {
            return Ok(terminal);
        }
        let version = env!("CARGO_PKG_VERSION");
        match (serde_json::from_slice(answer), status) {
            (Ok(Problem { .. }), 404) => bail!(
                "{} does not know `backhaul {}`: it is older than this program ({version}); upgrade the service, or use the program of its version",
                self.base,
                call.words
            ),
            (Ok(Problem { detail }), _) => bail!(detail),
            (Err(_), _) => bail!(
                "{} answered with {status}, but not as the operator API does: either this is not the address of a console, or the service is older than this program ({version}) and has no such API yet; check `console.url`, or upgrade the service",
                self.base
            ),
        }
    }
}

/// The parameters as the query of a URL.
fn query(parameters: &Map<String, Value>) -> anyhow::Result<String> {
    let mut pairs: Vec<(&str, String)> = Vec::new();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    for (name, value) in parameters {
        match value {
            Value::Array(values) => pairs.extend(values.iter().map(|value| (name.as_str(), text(value)))),
            value => pairs.push((name, text(value))),
        }
    }
    Ok(if pairs.is_empty() { String::new() } else { format!("?{}", serde_urlencoded::to_string(pairs)?) })
}
