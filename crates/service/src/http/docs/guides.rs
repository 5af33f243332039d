//! The pages that are kept as Markdown in the repository's `docs`.

/// A page in Markdown.
pub(super) struct Guide {
    /// The name of the file, and the end of the page's path.
    pub(super) slug: &'static str,
    /// The name in the menu.
    pub(super) name: &'static str,
    pub(super) group: Group,
    pub(super) markdown: &'static str,
}

/// A group of the menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    Start,
    Guides,
    Reference,
    Operating,
}

impl Group {
    /// Every group, in the order of the menu.
    pub(super) const ALL: [Self; 4] = [Self::Start, Self::Guides, Self::Reference, Self::Operating];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Start => "Start here",
            Self::Guides => "Guides",
            Self::Reference => "Reference",
            Self::Operating => "Operating",
        }
    }
}

macro_rules! guide {
    ($group:ident, $slug:literal, $name:literal) => {
        Guide { slug: $slug, name: $name, group: Group::$group, markdown: include_str!(concat!("../../../../../docs/", $slug, ".md")) }
    };
}

/// Every page, in the order of the menu.
pub(super) const GUIDES: &[Guide] = &[
    guide!(Start, "start-merchant", "Merchant engineers"),
    guide!(Start, "start-operator", "Operators and support"),
    guide!(Start, "start-warehouse", "Warehouses"),
    guide!(Start, "start-carrier", "Carriers and partners"),
    guide!(Start, "start-sre", "SREs"),
    guide!(Start, "first-steps", "The first five minutes"),
    guide!(Start, "dev", "Everything on a laptop"),
    guide!(Guides, "orders", "Pushing orders"),
    guide!(Guides, "imports", "Order history"),
    guide!(Guides, "callers", "Calling the service"),
    guide!(Guides, "returns", "Returns"),
    guide!(Guides, "exchanges", "Exchanges and gift cards"),
    guide!(Guides, "receiving", "Receiving messages"),
    guide!(Guides, "endpoints", "Endpoints"),
    guide!(Guides, "events", "The feed"),
    guide!(Guides, "inbound", "Goods coming in"),
    guide!(Guides, "warehouse", "Places and shipments"),
    guide!(Guides, "drop-shipping", "Drop shipping"),
    guide!(Guides, "carriers", "Carrier accounts"),
    guide!(Guides, "portal", "The shoppers' portal"),
    guide!(Guides, "mails", "Mails to shoppers"),
    guide!(Guides, "withdrawal", "Withdrawal"),
    guide!(Reference, "limits", "Limits"),
    guide!(Reference, "versions", "Versions"),
    guide!(Reference, "quirks", "Quirks"),
    guide!(Reference, "glossary", "Glossary"),
    guide!(Operating, "console", "The console"),
    guide!(Operating, "failures", "The failure queue"),
    guide!(Operating, "cli", "The command line"),
    guide!(Operating, "admin-api", "The operator API"),
    guide!(Operating, "getting-started-debian", "From the Debian package"),
    guide!(Operating, "deploying", "Deploying"),
    guide!(Operating, "operations", "Operations"),
    guide!(Operating, "backups", "Backup and restore"),
    guide!(Operating, "postgresql", "PostgreSQL"),
    guide!(Operating, "retention", "Retention"),
    guide!(Operating, "scale-out", "More than one server"),
    guide!(Operating, "costs", "Costs of a request"),
    guide!(Operating, "security", "Security"),
    guide!(Operating, "security-events", "Security events"),
    guide!(Operating, "advisories", "Advisories"),
];
