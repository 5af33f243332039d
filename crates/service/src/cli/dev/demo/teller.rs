//! The telling: lines with colours, in a pace in which they can be read.

use std::time::Duration;

use crate::cli::dev::paint::Paint;
use crate::cli::output;

/// The pause after a line at a terminal. With it, the story takes less than two minutes.
const PAUSE: Duration = Duration::from_millis(900);

/// The tone of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Bold,
    Dim,
    Good,
    Odd,
}

/// A line, in parts of one tone each.
pub(super) type Line = Vec<(Tone, String)>;

/// Tells a story line by line, and keeps what was told.
pub(super) struct Teller {
    paint: Paint,
    pauses: bool,
    lines: Vec<Line>,
}

impl Teller {
    pub(super) fn new(paint: Paint, pauses: bool) -> Self {
        Self { paint, pauses: pauses && paint.is_on(), lines: Vec::new() }
    }

    /// Everything that was told.
    pub(super) fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The heading of the story, and a sentence below.
    pub(super) async fn opens(&mut self, heading: &str, sentence: &str) {
        self.line(vec![]).await;
        self.line(vec![(Tone::Bold, heading.to_owned())]).await;
        self.line(vec![(Tone::Dim, sentence.to_owned())]).await;
    }

    /// A part of the story.
    pub(super) async fn part(&mut self, number: usize, heading: &str) {
        self.line(vec![]).await;
        self.line(vec![(Tone::Bold, format!("{number}  {heading}"))]).await;
    }

    /// Something that somebody does.
    pub(super) async fn does(&mut self, who: &str, what: &str) {
        self.line(vec![(Tone::Dim, format!("   {who:9}")), (Tone::Plain, format!(" {what}"))]).await;
    }

    /// A call to the merchant's system, and its answer.
    pub(super) async fn calls(&mut self, what: &str, status: u16, meaning: &str) {
        let tone = if status < 300 { Tone::Good } else { Tone::Odd };
        let answer = (tone, format!("{status} {meaning}"));
        self.line(vec![(Tone::Dim, "   backhaul ".to_owned()), (Tone::Plain, format!(" -> {what:52} ")), answer]).await;
    }

    /// A command, and what it shows.
    pub(super) async fn command(&mut self, command: &str, shown: &[String]) {
        self.line(vec![(Tone::Dim, "   $ ".to_owned()), (Tone::Bold, command.to_owned())]).await;
        for text in shown {
            self.line(vec![(Tone::Plain, format!("     {text}"))]).await;
        }
    }

    async fn line(&mut self, line: Line) {
        let painted: Vec<String> = line
            .iter()
            .map(|(tone, text)| match tone {
                Tone::Plain => text.clone(),
                Tone::Bold => self.paint.bold(text),
                Tone::Dim => self.paint.dim(text),
                Tone::Good => self.paint.good(text),
                Tone::Odd => self.paint.odd(text),
            })
            .collect();
        output::painted(&format!("{}\n", painted.concat().trim_end()));
        let is_empty = line.is_empty();
        self.lines.push(line);
        if self.pauses && !is_empty {
            tokio::time::sleep(PAUSE).await;
        }
    }
}
