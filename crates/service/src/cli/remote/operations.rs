//! Every command, and who may run it through the operator API. A command that is not declared here cannot be reached.

use domain::merchants::operator::Role::{self, Admin, Manager, Support, Viewer};

use self::Reach::{Changes, Lists, Local, Reads};

/// Where a command can be run from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Reach {
    /// From everywhere, by whoever has this role; it only reads.
    Reads(Role),
    /// From everywhere, by whoever has this role; it only reads, and answers with a list.
    Lists(Role),
    /// From everywhere, by whoever has this role.
    Changes(Role),
    /// Only on a machine of the installation, for this reason.
    Local(&'static str),
}

const OF_THE_MACHINE: &str = "it works on the machine that it runs on";
const OF_THE_KEYS: &str = "it belongs to a change of the keys in the settings, on a machine that has them";

/// Every command by its words.
const COMMANDS: &[(&str, Reach)] = &[
    ("dev", Local(OF_THE_MACHINE)),
    ("demo", Local(OF_THE_MACHINE)),
    ("serve", Local(OF_THE_MACHINE)),
    ("migrate", Local("it changes the schema, for which the service's role has no right")),
    ("restored", Local("it runs before the service starts again")),
    ("listen", Local("it forwards to a server beside it, with a credential of the merchant")),
    ("merchant add", Changes(Manager)),
    ("merchant set", Changes(Manager)),
    ("merchant rename", Changes(Manager)),
    ("merchant list", Lists(Viewer)),
    ("merchant show", Reads(Viewer)),
    ("merchant pause", Changes(Manager)),
    ("merchant resume", Changes(Manager)),
    ("merchant delete", Changes(Admin)),
    ("merchant onboarding", Lists(Viewer)),
    ("merchant live", Changes(Manager)),
    ("merchant move", Local("it takes minutes, and says how far it is")),
    ("credential issue", Changes(Manager)),
    ("credential list", Lists(Viewer)),
    ("credential revoke", Changes(Manager)),
    ("credential certificate add", Changes(Manager)),
    ("credential certificate remove", Changes(Manager)),
    ("credential certificate list", Lists(Viewer)),
    ("endpoint set", Changes(Manager)),
    ("endpoint list", Lists(Viewer)),
    ("endpoint show", Reads(Viewer)),
    ("endpoint test", Changes(Manager)),
    ("endpoint check", Changes(Manager)),
    ("endpoint pause", Changes(Manager)),
    ("endpoint resume", Changes(Manager)),
    ("endpoint rotate-secret", Changes(Manager)),
    ("endpoint remove", Changes(Manager)),
    ("endpoint replay", Changes(Manager)),
    ("endpoint replays", Lists(Viewer)),
    ("endpoint cancel-replay", Changes(Manager)),
    ("endpoint reseal", Local(OF_THE_KEYS)),
    ("carrier set", Changes(Manager)),
    ("carrier show", Reads(Viewer)),
    ("carrier remove", Changes(Manager)),
    ("carrier reseal", Local(OF_THE_KEYS)),
    ("carrier rotate-secret", Changes(Manager)),
    ("warehouse set", Changes(Manager)),
    ("warehouse list", Lists(Viewer)),
    ("warehouse show", Reads(Viewer)),
    ("warehouse remove", Changes(Manager)),
    ("vendor add", Changes(Manager)),
    ("vendor set", Changes(Manager)),
    ("vendor list", Lists(Viewer)),
    ("vendor show", Reads(Viewer)),
    ("vendor remove", Changes(Manager)),
    ("exceptions list", Lists(Viewer)),
    ("exceptions show", Reads(Viewer)),
    ("exceptions notes", Lists(Viewer)),
    ("exceptions assign", Changes(Support)),
    ("exceptions note", Changes(Support)),
    ("exceptions resolve", Changes(Support)),
    ("messages list", Lists(Viewer)),
    ("messages show", Reads(Support)),
    ("messages retry", Changes(Support)),
    ("failures list", Lists(Viewer)),
    ("failures show", Reads(Support)),
    ("failures retry", Changes(Support)),
    ("failures jobs", Lists(Viewer)),
    ("failures cancel", Changes(Support)),
    ("failures note", Changes(Support)),
    ("failures owner", Changes(Support)),
    ("failures notes", Lists(Viewer)),
    ("failures contacted", Changes(Support)),
    ("failures discard", Changes(Support)),
    ("trigger", Local("it plays shopper, carrier and warehouse in a sandbox, beside its database")),
    ("deliverers", Lists(Viewer)),
    ("orders import", Local("it reads a file of any size; send it to POST /v1/order_imports with a token of the merchant instead")),
    ("orders show", Reads(Viewer)),
    ("orders find", Lists(Viewer)),
    ("orders import-report", Lists(Support)),
    ("orders refused", Lists(Support)),
    ("orders warned", Lists(Viewer)),
    ("returns list", Lists(Viewer)),
    ("returns show", Reads(Support)),
    ("returns cancel", Changes(Support)),
    ("returns label", Changes(Support)),
    ("returns resend", Changes(Support)),
    ("returns convert-exchange", Changes(Support)),
    ("returns exchange-placed", Changes(Support)),
    ("returns exchange-address", Changes(Support)),
    ("returns confirm-refund", Changes(Support)),
    ("returns work list", Lists(Viewer)),
    ("returns work done", Changes(Support)),
    ("shopper erase", Local("it takes a second person elsewhere; ask for one with `backhaul request erase`")),
    ("shopper export", Changes(Admin)),
    // It changes nothing, but an e-mail address has no place in a URL.
    ("shopper find", Changes(Support)),
    ("policy show", Reads(Viewer)),
    ("policy set", Changes(Manager)),
    ("portal set", Changes(Manager)),
    ("portal show", Reads(Viewer)),
    ("portal link", Changes(Support)),
    ("portal remove-host", Changes(Manager)),
    ("mails set", Changes(Manager)),
    ("mails show", Reads(Viewer)),
    ("mails list", Lists(Viewer)),
    ("mails read", Reads(Support)),
    ("mails resend", Changes(Support)),
    ("withdrawals list", Lists(Support)),
    ("withdrawals show", Reads(Support)),
    ("withdrawals match", Changes(Support)),
    ("brand set", Changes(Manager)),
    ("brand show", Reads(Viewer)),
    ("brand remove", Changes(Manager)),
    ("operator add", Changes(Admin)),
    ("operator list", Lists(Viewer)),
    ("operator set", Changes(Admin)),
    ("operator disable", Changes(Admin)),
    ("operator enable", Changes(Admin)),
    ("operator reset", Changes(Admin)),
    ("operator roles", Lists(Viewer)),
    ("operator tokens", Lists(Admin)),
    ("operator revoke-token", Changes(Admin)),
    ("audit list", Lists(Manager)),
    ("audit verify", Lists(Manager)),
    ("request list", Lists(Admin)),
    ("request erase", Changes(Admin)),
    ("request discard", Changes(Admin)),
    ("request make-admin", Changes(Admin)),
    ("request rotate-keys", Changes(Admin)),
    ("request decide", Changes(Admin)),
    ("report deliveries", Reads(Viewer)),
    ("cell list", Lists(Viewer)),
    ("cell add", Local("it changes the schema, for which the service's role has no right")),
    ("cell drain", Changes(Admin)),
    ("cell open", Changes(Admin)),
    ("cell move", Local("it works through the server that administers the cluster")),
    ("limit set", Changes(Manager)),
    ("limit list", Lists(Viewer)),
    ("limit reset", Changes(Manager)),
    ("keys status", Lists(Admin)),
    ("keys rotate", Local("it takes a second person elsewhere; ask for one with `backhaul request rotate-keys`")),
    ("clock advance", Changes(Manager)),
    ("clock show", Reads(Viewer)),
    ("openapi", Local("it prints a document of this program")),
    ("config check", Local(OF_THE_MACHINE)),
    ("config default", Local("it prints a document of this program")),
    ("doctor", Local(OF_THE_MACHINE)),
    ("cli-reference", Local("it prints a document of this program")),
];

/// A secret of a command: the parameter that carries it, and the environment variable in which a terminal has it.
pub(super) type Secret = (&'static str, &'static str);

/// The commands that take secrets.
const SECRETS: &[(&str, &[Secret])] = &[
    ("endpoint set", &[("secret", "BACKHAUL_ENDPOINT_SECRET"), ("header_secret", "BACKHAUL_ENDPOINT_HEADER_SECRET")]),
    ("carrier set", &[("secret", "BACKHAUL_CARRIER_KEY")]),
];

/// The commands that take files, and the parameters that name them.
const FILES: &[(&str, &[&str])] = &[
    ("brand set", &["logo", "dark_logo"]),
    ("credential issue", &["client_certificate"]),
    ("credential certificate add", &["client_certificate"]),
    ("endpoint set", &["client_certificate", "client_key"]),
];

/// Where the command of these words can be run from; none if it is not declared.
pub(in crate::cli) fn reach(words: &str) -> Option<Reach> {
    COMMANDS.iter().find(|(command, _)| *command == words).map(|(_, reach)| *reach)
}

/// The commands that can be run from everywhere: words, role, and if they only read.
pub(super) fn remote() -> impl Iterator<Item = (&'static str, Role, bool)> {
    COMMANDS.iter().filter_map(|(words, reach)| match reach {
        Reads(role) | Lists(role) => Some((*words, *role, true)),
        Changes(role) => Some((*words, *role, false)),
        Local(_) => None,
    })
}

/// Whether a command answers with a list.
pub(super) fn is_list(words: &str) -> bool {
    matches!(reach(words), Some(Lists(_)))
}

/// The secrets that a command takes.
pub(super) fn secrets(words: &str) -> &'static [Secret] {
    SECRETS.iter().find(|(command, _)| *command == words).map_or(&[], |(_, secrets)| *secrets)
}

/// Whether any command takes a secret in this parameter.
pub(super) fn is_secret(parameter: &str) -> bool {
    SECRETS.iter().flat_map(|(_, secrets)| *secrets).any(|(name, _)| *name == parameter)
}

/// The parameters of a command that are files.
pub(super) fn files(words: &str) -> &'static [&'static str] {
    FILES.iter().find(|(command, _)| *command == words).map_or(&[], |(_, files)| *files)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::remote::parameters;

    fn leaves(command: &clap::Command, words: &str, found: &mut BTreeSet<String>) {
        let below: Vec<_> = command.get_subcommands().filter(|below| below.get_name() != "help").collect();
        if below.is_empty() {
            found.insert(words.trim().to_owned());
        }
        for below in below {
            leaves(below, &format!("{words} {}", below.get_name()), found);
        }
    }

    #[test]
    fn every_command_is_declared_once_and_nothing_else_is() {
        let mut command = crate::cli::Cli::command();
        command.build();
        let mut found = BTreeSet::new();
        leaves(&command, "", &mut found);
        let declared: BTreeSet<String> = COMMANDS.iter().map(|(words, _)| (*words).to_owned()).collect();
        assert_eq!(declared.len(), COMMANDS.len(), "no command is declared twice");
        assert_eq!(declared, found);
    }

    #[test]
    fn secrets_and_files_are_parameters_of_their_commands_alone() {
        let mut command = crate::cli::Cli::command();
        command.build();
        for (words, _, reads) in remote() {
            let leaf = parameters::leaf(&command, words).unwrap();
            let names: Vec<String> = parameters::of(leaf).map(parameters::name).collect();
            assert!(!names.iter().any(|name| is_secret(name)), "{words}");
            assert!(files(words).iter().all(|file| names.iter().any(|name| name == file)), "{words}: {names:?}");
            assert!(!reads || (secrets(words).is_empty() && files(words).is_empty()), "{words} reads, so its parameters are in a URL");
            let distinct: BTreeSet<&String> = names.iter().collect();
            assert_eq!(distinct.len(), names.len(), "{words}: {names:?}");
        }
    }
}
