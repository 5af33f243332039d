//! `backhaul cli-reference`: every command and its options as a Markdown document.

use std::fmt::Write as _;

use clap::Command;

/// Describes `command` and all its subcommands. Options that every command takes are described once, at the top.
pub(in crate::cli) fn write(mut command: Command) -> String {
    command.build();
    let shared: Vec<String> = command.get_arguments().filter(|arg| arg.is_global_set()).map(|arg| arg.get_id().to_string()).collect();
    let named = |arg: &clap::Arg| format!("`--{}`", arg.get_long().unwrap_or(arg.get_id().as_str()));
    let options: Vec<String> =
        command.get_arguments().filter(|arg| arg.is_global_set()).map(named).chain(["`--help`".to_owned()]).collect();
    let shared: Vec<String> = shared.into_iter().chain(["help".to_owned()]).collect();
    let mut document = format!(
        "# The command line\n\nGenerated from the program by `make gen`. \
         Every command also takes the options {}; they are listed only here, under `backhaul`.\n",
        options.join(", ")
    );
    describe(&mut command, &shared, &mut document);
    document
}

fn describe(command: &mut Command, shared: &[String], document: &mut String) {
    let help = command.render_long_help().to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(document, "\n## {}\n\n```text\n{}\n```\n", command.get_bin_name().unwrap_or("backhaul"), help.join("\n").trim_end());
    for below in command.get_subcommands_mut().filter(|below| below.get_name() != "help" && !below.is_hide_set()) {
        hide(below, shared);
        describe(below, shared, document);
    }
}

/// Leaves these options out of the help of `command`.
fn hide(command: &mut Command, options: &[String]) {
    for option in options {
        if command.get_arguments().any(|arg| arg.get_id() == option.as_str()) {
            *command = std::mem::take(command).mut_arg(option, |arg| arg.hide(true));
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn global_options_are_described_once() {
        let document = write(Cli::command());
        for option in ["--config <CONFIG>", "--output <OUTPUT>", "-h, --help"] {
            assert_eq!(document.matches(option).count(), 1, "{option} in {document}");
        }
        assert!(document.contains("\n## backhaul returns show\n"));
    }
}
