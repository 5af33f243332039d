//! `backhaul demo`: a story of a return and of a merchant's system that has a bad day, told at the terminal.
//!
//! - The story (`story.rs`) happens for real: on top of what `backhaul dev` starts, with the sandbox's clock moved ahead.
//! - The merchant's system (`bad_day.rs`) fails, and refuses a token, when the story says so.
//! - The telling (`teller.rs`), in lines of the terminal, and as a picture (`picture.rs`).

mod bad_day;
mod picture;
mod story;
mod teller;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use sandbox::merchant::Merchant as Receiver;

use self::story::Story;
use self::teller::Teller;
use super::paint::Paint;
use super::seed;
use crate::app::App;

#[derive(Args)]
pub(in crate::cli) struct Demo {
    /// Tell the story without pauses; they are made at a terminal only.
    #[arg(long)]
    pub(super) no_pauses: bool,
    /// Write what is told into this file too, as an SVG picture.
    #[arg(long, value_name = "FILE")]
    pub(super) svg: Option<PathBuf>,
}

/// Tells the story of a demo merchant whose messages go to `receiver`.
pub(super) async fn tell(demo: &Demo, app: &App, receiver: &Receiver, merchant: &seed::Demo, paint: Paint) -> anyhow::Result<()> {
    let mut teller = Teller::new(paint, !demo.no_pauses);
    Story::begin(app, receiver, merchant).await?.tell(&mut teller).await?;
    match &demo.svg {
        Some(file) => save(file, &picture::draw(teller.lines())),
        None => Ok(()),
    }
}

fn save(file: &Path, picture: &str) -> anyhow::Result<()> {
    std::fs::write(file, picture).with_context(|| format!("the picture cannot be written to {}", file.display()))
}
