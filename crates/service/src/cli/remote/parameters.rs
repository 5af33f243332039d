//! The parameters of a command: its options, flags and values by their names.

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Map, Value};

use crate::cli::context::ALL_MERCHANTS;

/// The command of these words, below `root`, which must be built.
pub(super) fn leaf<'c>(root: &'c Command, words: &str) -> Option<&'c Command> {
    words.split(' ').try_fold(root, |command, word| command.get_subcommands().find(|below| below.get_name() == word))
}

/// The parameters of a command, those by position first.
pub(super) fn of(command: &Command) -> impl Iterator<Item = &Arg> {
    let own = |arg: &&Arg| {
        !arg.is_global_set()
            && !matches!(arg.get_action(), ArgAction::Help | ArgAction::HelpLong | ArgAction::HelpShort | ArgAction::Version)
    };
    command.get_positionals().chain(command.get_arguments().filter(|arg| !arg.is_positional())).filter(own)
}

/// The name of a parameter: as the option is called, with underscores.
pub(super) fn name(arg: &Arg) -> String {
    arg.get_long().unwrap_or(arg.get_id().as_str()).replace('-', "_")
}

/// True if the parameter is a list.
pub(super) fn is_list(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Append) || arg.get_num_args().is_some_and(|count| count.max_values() > 1)
}

/// True if the parameter is on or off.
pub(super) fn is_flag(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue)
}

/// The words of the command line that say the same as these parameters.
pub(super) fn words(command: &Command, parameters: &Map<String, Value>) -> Result<Vec<String>, String> {
    if let Some(unknown) = parameters.keys().find(|given| !of(command).any(|arg| name(arg) == **given)) {
        let known: Vec<String> = of(command).map(|arg| format!("`{}`", name(arg))).collect();
        let known = if known.is_empty() { "it takes none".to_owned() } else { format!("it takes {}", known.join(", ")) };
        return Err(format!("there is no parameter `{unknown}`; {known}"));
    }
    let (mut options, mut places, mut left_out) = (Vec::new(), Vec::new(), None);
    for arg in of(command) {
        let name = name(arg);
        let values = values(arg, &name, parameters.get(&name).unwrap_or(&Value::Null))?;
        match (arg.get_long(), &left_out) {
            (Some(long), _) if is_flag(arg) => options.extend(values.iter().map(|_| format!("--{long}"))),
            (Some(long), _) => options.extend(values.iter().map(|value| format!("--{long}={value}"))),
            // A value by position would move to the place before it.
            (None, Some(missing)) if !values.is_empty() => return Err(format!("`{missing}` is missing")),
            (None, _) if values.is_empty() => left_out = Some(name),
            (None, _) => places.extend(values),
        }
    }
    options.push("--".to_owned());
    options.extend(places);
    Ok(options)
}

/// The values of one parameter as texts; none if it is left out.
fn values(arg: &Arg, name: &str, value: &Value) -> Result<Vec<String>, String> {
    let text = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(is) => Ok(is.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(format!("`{name}` must be a text, a number, or true or false")),
    };
    match value {
        Value::Null => Ok(Vec::new()),
        // The query of a GET has texts only.
        _ if is_flag(arg) => match text(value)?.as_str() {
            "true" => Ok(vec![String::new()]),
            "false" => Ok(Vec::new()),
            _ => Err(format!("`{name}` must be true or false")),
        },
        Value::Array(values) if is_list(arg) => values.iter().map(text).collect(),
        value => Ok(vec![text(value)?]),
    }
}

/// The parameters that were given on the command line.
pub(super) fn given(command: &Command, matches: &ArgMatches) -> Map<String, Value> {
    let mut parameters = Map::new();
    let of_all = matches.try_get_one::<bool>(ALL_MERCHANTS).is_ok_and(|given| given.is_some_and(|given| *given));
    for arg in of(command) {
        let id = arg.get_id().as_str();
        let source = matches.value_source(id);
        if source.is_none_or(|source| source == ValueSource::DefaultValue) {
            continue;
        }
        // The flag wins over the environment here, and there it would look typed.
        if of_all && id == "merchant" && source == Some(ValueSource::EnvVariable) {
            continue;
        }
        let value = if is_flag(arg) {
            Value::Bool(matches.get_flag(id))
        } else {
            let mut texts = matches.get_raw(id).into_iter().flatten().map(|raw| Value::from(raw.to_string_lossy()));
            if is_list(arg) { texts.collect() } else { texts.next_back().unwrap_or_default() }
        };
        parameters.insert(name(arg), value);
    }
    parameters
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command() -> Command {
        let flag = |id: &'static str| Arg::new(id).long(id).action(ArgAction::SetTrue);
        let places = [Arg::new("id"), Arg::new("text")];
        Command::new("note").args(places).args([
            flag("yes"),
            Arg::new("rate").long("per-second"),
            Arg::new("scopes").long("scope").action(ArgAction::Append),
        ])
    }

    fn read(parameters: &Value) -> Result<Vec<String>, String> {
        words(&command(), parameters.as_object().unwrap())
    }

    #[test]
    fn parameters_are_words_of_the_command_line() {
        let given = serde_json::json!({ "id": "1", "text": "--yes", "yes": true, "per_second": 5, "scope": ["a", "-b"] });
        assert_eq!(read(&given).unwrap(), ["--yes", "--per-second=5", "--scope=a", "--scope=-b", "--", "1", "--yes"]);
        assert_eq!(read(&serde_json::json!({ "yes": "false", "id": null })).unwrap(), ["--"]);
    }

    #[test]
    fn parameters_that_would_be_something_else_are_refused() {
        for (given, why) in [
            (serde_json::json!({ "config": "x" }), "there is no parameter `config`"),
            (serde_json::json!({ "text": "only" }), "`id` is missing"),
            (serde_json::json!({ "yes": "maybe" }), "`yes` must be true or false"),
            (serde_json::json!({ "id": { "a": 1 } }), "`id` must be a text"),
            (serde_json::json!({ "id": ["a", "b"] }), "`id` must be a text"),
        ] {
            let refused = read(&given).unwrap_err();
            assert!(refused.contains(why), "{refused}");
        }
    }

    #[test]
    fn a_command_line_is_sent_as_it_was_given() {
        let matches = command().get_matches_from(["note", "1", "--scope", "a", "--scope", "b", "--yes"]);
        assert_eq!(Value::from(given(&command(), &matches)), serde_json::json!({ "id": "1", "scope": ["a", "b"], "yes": true }));
    }
}
