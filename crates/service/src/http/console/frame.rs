//! The frame of a page of the console: menu, search, mode, person, and what a page says above everything else.

use domain::merchants::operator::{Operator, Role};
use domain::node::mode::Mode;

use super::view::View;
use crate::app::App;
use crate::http::pages::assets::{CONSOLE_SCRIPT, CONSOLE_STYLE, ICON};

/// A place in the menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Today,
    Failures,
    Requests,
    Messages,
    Returns,
    Orders,
    Warehouse,
    Intake,
    Merchants,
    Reports,
    Operators,
    Audit,
    System,
    /// The person's own account, which is not in the menu.
    Account,
}

impl Section {
    const fn path(self) -> &'static str {
        match self {
            Self::Today => "/",
            Self::Failures => "/failures",
            Self::Requests => "/requests",
            Self::Messages => "/messages",
            Self::Returns => "/returns",
            Self::Orders => "/orders",
            Self::Warehouse => "/warehouse",
            Self::Intake => "/intake",
            Self::Merchants => "/merchants",
            Self::Reports => "/reports",
            Self::Operators => "/operators",
            Self::Audit => "/audit",
            Self::System => "/system",
            Self::Account => "/account",
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Today => "Today",
            Self::Failures => "Failure queue",
            Self::Requests => "Second person",
            Self::Messages => "Messages",
            Self::Returns => "Returns",
            Self::Orders => "Orders",
            Self::Warehouse => "Warehouse",
            Self::Intake => "Intake",
            Self::Merchants => "Merchants",
            Self::Reports => "Reports",
            Self::Operators => "Operators",
            Self::Audit => "Audit",
            Self::System => "System",
            Self::Account => "Your account",
        }
    }

    /// The drawing beside the name, as the path of an SVG.
    const fn drawing(self) -> &'static str {
        match self {
            Self::Today => "M2.5 8.5 8 3l5.5 5.5M4 7.2V13h8V7.2",
            Self::Failures => "M8 2.5 14 13H2zM8 6.5v3M8 11.2v.3",
            Self::Requests => {
                "M1.8 13c.3-2.6 1.7-3.7 3.7-3.7S8.900 10.4 9.200 13M5.500 3.300a2.200 2.200 0 1 1 0 4.400 2.200 2.200 0 0 1 0-4.400zM10 7.500l1.700 1.700 2.800-3.200"
            }
            Self::Messages => "M2 4h12v8.5H2zM2 4.500l6 4.500 6-4.500",
            Self::Returns => "M5.5 3 2.500 6l3 3M2.500 6H10a3.500 3.500 0 0 1 0 7H6",
            Self::Orders => "M3.5 2h9v12l-2-1.300L8 14l-2.500-1.300L3.500 14zM6 5.500h4M6 8.500h4",
            Self::Intake => "M8 2v8M5 7l3 3 3-3M2.5 11v2.5h11V11",
            Self::Warehouse => "M2.5 5 8 2l5.5 3v6L8 14l-5.5-3zM2.5 5 8 8l5.5-3M8 8v6",
            Self::Merchants => "M2.5 6 4 2.5h8L13.500 6v7.500h-11zM2.500 6h11M6.500 13.500V9.500h3v4",
            Self::Reports => "M2.5 13.5h11M4 11V8M7 11V4M10 11V6.5M13 11V2.5",
            Self::Audit => "M3.5 2h6l3 3v9h-9zM9.500 2v3h3M5.800 8h4.400M5.800 10.800h4.400",
            Self::System => "M2.500 3h11v4h-11zM2.500 9h11v4h-11zM5 5v.1M5 11v.1",
            Self::Operators | Self::Account => {
                "M8 2.800a2.700 2.700 0 1 1 0 5.400 2.700 2.700 0 0 1 0-5.400zM2.800 14c.5-3 2.500-4.200 5.200-4.200s4.700 1.200 5.200 4.200"
            }
        }
    }
}

/// A heading of the menu, if it has one, and the places below it.
type Group = (Option<&'static str>, &'static [Section]);

const MENU: [Group; 4] = [
    (None, &[Section::Today]),
    (Some("Work"), &[Section::Failures, Section::Requests]),
    (
        Some("Look up"),
        &[Section::Messages, Section::Returns, Section::Orders, Section::Intake, Section::Warehouse, Section::Merchants, Section::Reports],
    ),
    (Some("Installation"), &[Section::Operators, Section::Audit, Section::System]),
];

/// A place of the menu, as it is drawn.
pub(super) struct Place {
    pub(super) at: &'static str,
    pub(super) name: &'static str,
    pub(super) drawing: &'static str,
    pub(super) is_here: bool,
}

/// What a page says above everything else.
#[derive(Clone, Debug)]
pub(super) struct Notice {
    /// `ok`, `warn` or `bad`; the class of the notice.
    pub(super) kind: &'static str,
    /// The cause, in bold.
    pub(super) bold: String,
    pub(super) rest: String,
}

impl Notice {
    pub(super) fn ok(bold: &str, rest: &str) -> Self {
        Self { kind: "ok", bold: bold.to_owned(), rest: rest.to_owned() }
    }

    pub(super) fn warn(bold: &str, rest: &str) -> Self {
        Self { kind: "warn", bold: bold.to_owned(), rest: rest.to_owned() }
    }

    pub(super) fn bad(bold: &str, rest: &str) -> Self {
        Self { kind: "bad", bold: bold.to_owned(), rest: rest.to_owned() }
    }
}

/// The person in the top bar.
struct Shown {
    name: String,
    initials: String,
    role: Role,
}

/// The frame of a page.
pub(super) struct Frame {
    heading: String,
    section: Option<Section>,
    person: Option<Shown>,
    view: View,
    mode: Mode,
    pub(super) notice: Option<Notice>,
    /// The seconds after which a part of the page renews itself; without scripts, the page says that it does not, with a link to load it
    /// again.
    pub(super) renews: Option<u8>,
    /// The paths of the style sheet, the script and the icon.
    pub(super) style: &'static str,
    pub(super) script: &'static str,
    pub(super) icon: &'static str,
}

impl Frame {
    pub(super) fn new(app: &App, view: View, operator: Option<&Operator>, section: Option<Section>, heading: &str) -> Self {
        let person = operator.map(|operator| Shown {
            name: operator.name.clone(),
            initials: operator.name.split_whitespace().filter_map(|word| word.chars().next()).take(2).collect(),
            role: operator.role,
        });
        Self {
            heading: heading.to_owned(),
            section,
            person,
            view,
            mode: app.settings.mode,
            notice: None,
            renews: None,
            style: &CONSOLE_STYLE.path,
            script: &CONSOLE_SCRIPT.path,
            icon: &ICON.path,
        }
    }

    /// The frame of a page of which a part renews itself after each `seconds`.
    pub(super) fn renewing(self, seconds: u8) -> Self {
        Self { renews: Some(seconds), ..self }
    }

    pub(super) fn with(self, notice: Option<Notice>) -> Self {
        Self { notice, ..self }
    }

    pub(super) fn heading(&self) -> &str {
        &self.heading
    }

    pub(super) fn is_signed_in(&self) -> bool {
        self.person.is_some()
    }

    pub(super) fn person_name(&self) -> &str {
        self.person.as_ref().map_or("", |person| &person.name)
    }

    pub(super) fn initials(&self) -> &str {
        self.person.as_ref().map_or("", |person| &person.initials)
    }

    pub(super) fn role(&self) -> &'static str {
        self.person.as_ref().map_or("", |person| person.role.as_str())
    }

    pub(super) fn may_manage(&self) -> bool {
        self.person.as_ref().is_some_and(|person| person.role >= Role::Manager)
    }

    pub(super) fn may_support(&self) -> bool {
        self.person.as_ref().is_some_and(|person| person.role >= Role::Support)
    }

    pub(super) fn may_administer(&self) -> bool {
        self.person.as_ref().is_some_and(|person| person.role >= Role::Admin)
    }

    pub(super) fn is_sandbox(&self) -> bool {
        self.mode == Mode::Sandbox
    }

    pub(super) fn view(&self) -> &View {
        &self.view
    }

    /// The menu: each heading with the places below it.
    pub(super) fn menu(&self) -> Vec<(Option<&'static str>, Vec<Place>)> {
        let place = |section: &Section| Place {
            at: section.path(),
            name: section.name(),
            drawing: section.drawing(),
            is_here: self.section == Some(*section),
        };
        let shown = |section: &&Section| match section {
            Section::Requests => self.may_administer(),
            Section::Audit => self.person.as_ref().is_some_and(|person| person.role >= Role::Manager),
            _ => true,
        };
        MENU.iter().map(|(heading, places)| (*heading, places.iter().filter(shown).map(place).collect())).collect()
    }
}
