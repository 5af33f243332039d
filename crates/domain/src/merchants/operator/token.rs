//! Personal tokens: what an operator may ask for when making one.

use super::{Role, person_name};

/// The days for which a token works unless its operator says otherwise.
pub const USUAL_DAYS: u16 = 90;
/// The most days for which a token works.
pub const MOST_DAYS: u16 = 365;
/// The most tokens of one operator that work at a time.
pub const MOST_LIVE: usize = 20;

/// A token that an operator may make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewToken {
    pub name: String,
    pub role: Role,
    pub days: u16,
}

/// The reasons that a token is not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenRefused {
    #[error("Give the token a name of up to 100 characters, such as the script that uses it.")]
    Name,
    #[error("A token works for 1 to {MOST_DAYS} days.")]
    Days,
    #[error("A token may do at most what you may: its role is {0} or a lower one.")]
    Role(Role),
    #[error("You have {MOST_LIVE} tokens that work, which is the most. Revoke one that is not needed any more.")]
    TooMany,
}

impl NewToken {
    /// A token of an operator whose role is `own`.
    pub fn check(name: &str, role: Role, days: u16, own: Role) -> Result<Self, TokenRefused> {
        let name = person_name(name).ok_or(TokenRefused::Name)?;
        if !own.allows(role) {
            return Err(TokenRefused::Role(own));
        }
        if !(1..=MOST_DAYS).contains(&days) {
            return Err(TokenRefused::Days);
        }
        Ok(Self { name, role, days })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_a_name_an_end_and_no_more_rights_than_its_operator() {
        let check = |name, role, days| NewToken::check(name, role, days, Role::Manager);
        assert_eq!(
            check(" onboarding ", Role::Manager, 365),
            Ok(NewToken { name: "onboarding".to_owned(), role: Role::Manager, days: 365 })
        );
        assert!(check("a", Role::Viewer, 1).is_ok());
        assert_eq!(check("a", Role::Admin, 1), Err(TokenRefused::Role(Role::Manager)));
        assert_eq!(check("a", Role::Viewer, 0), Err(TokenRefused::Days));
        assert_eq!(check("a", Role::Viewer, 366), Err(TokenRefused::Days));
        for name in ["", " ", "a\nb", &"a".repeat(101)] {
            assert_eq!(check(name, Role::Viewer, 1), Err(TokenRefused::Name), "{name:?}");
        }
    }
}
