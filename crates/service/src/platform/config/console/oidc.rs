//! The settings of single sign-on for operators.

use std::collections::BTreeMap;

use domain::merchants::operator::Role;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Deserializer};

/// The identity provider, and the roles of its groups.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Oidc {
    issuer: String,
    /// The name under which the provider knows this console.
    pub client_id: String,
    client_secret: SecretString,
    client_secret_file: String,
    /// The claim of an ID token that names the person's groups.
    pub groups_claim: String,
    #[serde(deserialize_with = "roles")]
    groups: BTreeMap<String, Role>,
}

/// The file with the client secret cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the file of console.oidc.client_secret_file cannot be read")]
pub struct NoClientSecret;

impl Oidc {
    /// The provider's URL; none if there is no single sign-on.
    #[must_use]
    pub fn issuer(&self) -> Option<&str> {
        Some(self.issuer.as_str()).filter(|issuer| !issuer.is_empty())
    }

    /// The secret with which the console shows the provider that it is itself; none for a public client.
    pub fn client_secret(&self) -> Result<Option<SecretString>, NoClientSecret> {
        if !self.client_secret.expose_secret().is_empty() {
            return Ok(Some(self.client_secret.clone()));
        }
        if self.client_secret_file.is_empty() {
            return Ok(None);
        }
        let text = std::fs::read_to_string(&self.client_secret_file).map_err(|_| NoClientSecret)?;
        Ok(Some(text.trim().to_owned().into()))
    }

    /// The highest role of these groups.
    pub fn role_of<'g>(&self, groups: impl Iterator<Item = &'g str>) -> Option<Role> {
        groups.filter_map(|group| self.groups.get(group)).copied().max()
    }

    /// Checks these settings: a provider needs a client and a group.
    pub(in crate::platform::config) fn check(&self) -> Result<(), String> {
        let Some(issuer) = self.issuer() else { return Ok(()) };
        let is_url = url::Url::parse(issuer).is_ok_and(|url| matches!(url.scheme(), "https" | "http"));
        if !is_url {
            return Err(format!("console.oidc.issuer is `{issuer}`, which is not a URL such as https://login.example.com"));
        }
        if self.client_id.is_empty() {
            return Err("console.oidc.issuer is set, but console.oidc.client_id is not".to_owned());
        }
        if self.groups.is_empty() {
            return Err("console.oidc.issuer is set, but console.oidc.groups names no group, so nobody could sign in".to_owned());
        }
        Ok(())
    }
}

fn roles<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, Role>, D::Error> {
    let groups = BTreeMap::<String, String>::deserialize(deserializer)?;
    let role = |(group, role): (String, String)| match role.parse() {
        Ok(role) => Ok((group, role)),
        Err(error) => Err(serde::de::Error::custom(format!("console.oidc.groups gives `{group}` the role `{role}`; {error}"))),
    };
    groups.into_iter().map(role).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oidc(issuer: &str, client: &str, groups: &str) -> Result<Oidc, String> {
        let text = format!(
            "issuer = {issuer:?}\nclient_id = {client:?}\nclient_secret = \"\"\nclient_secret_file = \"\"\ngroups_claim = \"groups\"\n[groups]\n{groups}"
        );
        let oidc: Oidc = toml::from_str(&text).map_err(|error| error.to_string())?;
        oidc.check().map(|()| oidc)
    }

    #[test]
    fn the_highest_role_of_the_groups_counts() {
        let oidc =
            oidc("https://login.example.com", "console", "all = \"viewer\"\ndesk = \"support\"\n\"backhaul-admins\" = \"admin\"").unwrap();
        assert_eq!(oidc.role_of(["all", "desk", "elsewhere"].into_iter()), Some(Role::Support));
        assert_eq!(oidc.role_of(["backhaul-admins", "all"].into_iter()), Some(Role::Admin));
        assert_eq!(oidc.role_of(["Desk"].into_iter()), None);
        assert!(oidc.client_secret().unwrap().is_none());
    }

    #[test]
    fn a_provider_needs_a_client_and_a_group() {
        assert!(oidc("", "", "").is_ok_and(|oidc| oidc.issuer().is_none()));
        for (issuer, client, groups, why) in [
            ("login.example.com", "console", "a = \"viewer\"", "is not a URL"),
            ("https://login.example.com", "", "a = \"viewer\"", "client_id is not"),
            ("https://login.example.com", "console", "", "names no group"),
            ("https://login.example.com", "console", "a = \"root\"", "gives `a` the role `root`"),
        ] {
            let error = oidc(issuer, client, groups).expect_err("refused");
            assert!(error.contains(why), "{error}");
        }
    }
}
