//! Operators: the people who work with the console, and what each role may do.

pub mod request;
pub mod slow_down;
pub mod token;

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

/// The id of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperatorId(pub Uuid);

impl fmt::Display for OperatorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The role of an operator. Each may do everything that the ones before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Reads, without shoppers' data.
    Viewer,
    /// Reads all, retries, sends again, discards up to 100, acts for a shopper.
    Support,
    /// Sets up merchants.
    Manager,
    /// Everything; what cannot be undone with a second person.
    Admin,
}

/// The text is not a [`Role`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a role must be one of `viewer`, `support`, `manager`, `admin`")]
pub struct NoRole;

impl Role {
    /// Every role, the least first.
    pub const ALL: [Self; 4] = [Self::Viewer, Self::Support, Self::Manager, Self::Admin];

    /// The name in the database, the settings and the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Support => "support",
            Self::Manager => "manager",
            Self::Admin => "admin",
        }
    }

    /// One sentence on what the role may do.
    #[must_use]
    pub const fn may(self) -> &'static str {
        match self {
            Self::Viewer => "reads, without shoppers' data",
            Self::Support => "reads all, retries, sends again, discards up to 100, acts for a shopper",
            Self::Manager => "support, and merchants, credentials, endpoints, policy, branding, carriers, limits",
            Self::Admin => "all, and people; erasing, making an admin and discarding more than 100, each with a second person",
        }
    }

    /// True if this role may do what `needed` may.
    #[must_use]
    pub fn allows(self, needed: Self) -> bool {
        self >= needed
    }
}

impl FromStr for Role {
    type Err = NoRole;

    fn from_str(text: &str) -> Result<Self, NoRole> {
        Self::ALL.into_iter().find(|role| role.as_str() == text).ok_or(NoRole)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// An operator who is signed in or named by a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    pub id: OperatorId,
    pub email: String,
    pub name: String,
    pub role: Role,
}

impl Operator {
    /// The name in the audit log.
    #[must_use]
    pub fn actor(&self) -> String {
        format!("operator:{}", self.email)
    }
}

/// The e-mail address with which an operator signs in: trimmed, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Email(String);

/// The text is not an [`Email`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an e-mail address has a name, an @ and a domain, and at most 254 characters")]
pub struct NoEmail;

impl Email {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Email {
    type Err = NoEmail;

    fn from_str(text: &str) -> Result<Self, NoEmail> {
        let text = text.trim().to_lowercase();
        let fits = text.len() <= 254 && !text.chars().any(|c| c.is_whitespace() || c.is_control() || "<>\"',;:\\()[]".contains(c));
        let parts = text.split_once('@');
        let has_parts = parts.is_some_and(|(name, domain)| !name.is_empty() && !domain.is_empty() && !domain.contains('@'));
        if fits && has_parts { Ok(Self(text)) } else { Err(NoEmail) }
    }
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The most characters of an operator's name.
const LONGEST_NAME: usize = 100;

/// The name of a person. `None` if it is blank, too long, or has control characters.
#[must_use]
pub fn person_name(text: &str) -> Option<String> {
    let text = text.trim();
    let fits = !text.is_empty() && text.chars().count() <= LONGEST_NAME && !text.chars().any(char::is_control);
    fits.then(|| text.to_owned())
}

/// The fewest characters of a password.
pub const SHORTEST_PASSWORD: usize = 12;
/// The most bytes of a password; more is no safer, and takes time to hash.
const LONGEST_PASSWORD: usize = 1024;

/// The reasons that a password is refused. There are no rules on which characters it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PasswordRefused {
    #[error("The password is too short. It needs at least {SHORTEST_PASSWORD} characters; a few words are good.")]
    Short,
    #[error("The password is too long. It can have up to {LONGEST_PASSWORD} bytes.")]
    Long,
    #[error("The password is your e-mail address. Choose something that others do not know.")]
    Email,
}

/// Checks a new password of the operator with this e-mail address.
pub fn check_password(password: &str, email: &str) -> Result<(), PasswordRefused> {
    let folded = password.trim().to_lowercase();
    let name = email.split('@').next().unwrap_or_default();
    if password.chars().count() < SHORTEST_PASSWORD {
        Err(PasswordRefused::Short)
    } else if password.len() > LONGEST_PASSWORD {
        Err(PasswordRefused::Long)
    } else if folded == email || folded == name {
        Err(PasswordRefused::Email)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_may_do_what_the_ones_before_it_may() {
        for (at, role) in Role::ALL.into_iter().enumerate() {
            assert_eq!(role.as_str().parse(), Ok(role));
            for (other_at, other) in Role::ALL.into_iter().enumerate() {
                assert_eq!(role.allows(other), at >= other_at, "{role} {other}");
            }
        }
        assert_eq!("root".parse::<Role>(), Err(NoRole));
        assert!(Role::ALL.into_iter().all(|role| !role.may().is_empty()));
    }

    #[test]
    fn an_email_is_trimmed_and_in_lower_case() {
        assert_eq!(
            " Support.One@Ops.Example.com ".parse::<Email>().map(|email| email.to_string()),
            Ok("support.one@ops.example.com".to_owned())
        );
        for wrong in [
            "",
            "a",
            "@",
            "a@",
            "@b",
            "a@b@c",
            "a b@example.com",
            "a@example.com\r\nBcc: x",
            "<a@b>",
            "a,b@c",
            &format!("{}@b", "a".repeat(253)),
        ] {
            assert_eq!(wrong.parse::<Email>(), Err(NoEmail), "{wrong}");
        }
        assert_eq!("a@b".parse::<Email>().as_ref().map(Email::as_str), Ok("a@b"));
    }

    #[test]
    fn a_person_has_a_name_of_one_line() {
        assert_eq!(person_name(" Support One "), Some("Support One".to_owned()));
        assert_eq!(person_name(&"a".repeat(100)).map(|name| name.len()), Some(100));
        for wrong in ["", "  ", "a\nb", &"a".repeat(101)] {
            assert_eq!(person_name(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_password_is_long_and_not_the_address() {
        let email = "support.one@ops.example.com";
        assert_eq!(check_password("twelve chars", email), Ok(()));
        assert_eq!(check_password("elf zeichen", email), Err(PasswordRefused::Short));
        assert_eq!(check_password("äöüäöüäöüäöü", email), Ok(()), "characters count, not bytes");
        assert_eq!(check_password(&"a".repeat(1024), email), Ok(()));
        assert_eq!(check_password(&"a".repeat(1025), email), Err(PasswordRefused::Long));
        assert_eq!(check_password("Support.One@ops.example.com", email), Err(PasswordRefused::Email));
        assert_eq!(check_password("a.long.name.of.mine", "a.long.name.of.mine@example.com"), Err(PasswordRefused::Email));
    }

    #[test]
    fn an_operator_is_named_in_the_audit_log() {
        let operator =
            Operator { id: OperatorId(Uuid::nil()), email: "a@example.com".to_owned(), name: "A".to_owned(), role: Role::Viewer };
        assert_eq!(operator.actor(), "operator:a@example.com");
        assert_eq!(operator.id.to_string(), Uuid::nil().to_string());
    }
}
