//! Confirmations: a command that hurts, or cannot be undone, first says what it will do. It goes on when somebody types the name of
//! the thing, or with `--yes`. There is no other way to ask.

use std::io::IsTerminal as _;

use anyhow::bail;
use clap::Args;

use super::output;
use super::session::{self, Unconfirmed};

/// The option of every command that asks for confirmation.
#[derive(Args)]
pub(super) struct Confirmation {
    /// Do it without a preview and without asking for confirmation, as scripts must.
    #[arg(long)]
    pub(super) yes: bool,
}

impl Confirmation {
    /// Shows what will happen, and asks for `word`, unless `--yes` was given.
    pub(super) fn ask(&self, preview: &str, word: &str) -> anyhow::Result<()> {
        if self.yes { Ok(()) } else { confirm(preview, word) }
    }
}

/// Shows what will happen, and asks for `word`; anything else is an error. Through the API nobody can be asked, so the caller gets the
/// question.
pub(super) fn confirm(preview: &str, word: &str) -> anyhow::Result<()> {
    if session::remote().is_some() {
        return Err(Unconfirmed { question: preview.to_owned(), word: word.to_owned() }.into());
    }
    output::note(preview);
    if !std::io::stdin().is_terminal() {
        bail!("nothing was changed, because nobody can confirm it: standard input is not a terminal; give --yes to go ahead");
    }
    output::ask(&format!("Type {word} to confirm:"));
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    if answer.trim() == word {
        Ok(())
    } else {
        bail!("nothing was changed, because {word} was not typed; run the command again to confirm it")
    }
}
