//! `backhaul cli-reference`: every command and its options as a document.

use std::fmt::Write as _;

use clap::Command;

/// The reference of `command` and all below it.
pub(super) fn write(mut command: Command) -> String {
    let mut document = "# The command line\n\nWritten by `make gen` from the program itself.\n".to_owned();
    command.build();
    describe(&mut command, &mut document);
    document
}

fn describe(command: &mut Command, document: &mut String) {
    let help = command.render_long_help().to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(document, "\n## {}\n\n```text\n{}\n```\n", command.get_bin_name().unwrap_or("backhaul"), help.join("\n").trim_end());
    for below in command.get_subcommands_mut().filter(|below| below.get_name() != "help" && !below.is_hide_set()) {
        describe(below, document);
    }
}
