//! The command that does what a page does, with its values filled in.

/// An option of a command by its name, and its value if it has one.
pub(super) type CommandOption = (&'static str, Option<String>);

/// A command with its options, as a shell reads it.
pub(super) fn command_line(start: &str, options: &[CommandOption]) -> String {
    let told = options.iter().map(|(name, value)| match value {
        Some(value) => format!(" --{name} {}", quoted(value)),
        None => format!(" --{name}"),
    });
    format!("{start}{}", told.collect::<String>())
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:=,@/+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_quoted_where_a_shell_needs_it() {
        let value = |value: &str| Some(value.to_owned());
        let options =
            [("days", value("45")), ("text", value("It's torn")), ("phone", value("")), ("accent", value("#00ff00")), ("on", None)];
        assert_eq!(
            command_line("backhaul set", &options),
            r"backhaul set --days 45 --text 'It'\''s torn' --phone '' --accent '#00ff00' --on"
        );
    }
}
