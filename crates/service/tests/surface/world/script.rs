//! An operator's script: it calls the operator API with a personal token.

use backhaul::flow::merchants::operators::people::{self, Authority, PeopleError};
use backhaul::flow::merchants::operators::tokens;
use domain::merchants::operator::{Email, Operator, Role};
use reqwest::Method;
use secrecy::ExposeSecret as _;
use serde_json::Value;
use store::merchants::operators;

use super::{Reply, World};

/// A script with the token of an operator.
pub struct Script<'w> {
    pub world: &'w World,
    pub operator: Operator,
    pub token: String,
}

impl World {
    /// A script of a person with this role, whose token may do all that the person may.
    pub async fn script(&self, role: Role) -> Script<'_> {
        self.script_with(role, role, 90).await
    }

    /// A script of a person with the role `of`, whose token has `role` and works for so many days.
    pub async fn script_with(&self, of: Role, role: Role, days: u16) -> Script<'_> {
        let email: Email = format!("{of}.script@ops.example.com").parse().unwrap();
        let operator = match people::add(&self.app, "test", Authority::Full, &email, "Script One", of).await {
            Ok((operator, _)) => operator,
            Err(PeopleError::EmailTaken(email)) => operators::find(self.app.home(), &email).await.unwrap().unwrap().operator,
            Err(error) => panic!("{error}"),
        };
        let token = tokens::make(&self.app, &operator, "nightly", role, days).await.unwrap();
        Script { world: self, operator, token: token.expose_secret().to_owned() }
    }

    /// Calls the operator API.
    pub async fn calls_operator_api(
        &self,
        method: Method,
        path: &str,
        shape: impl FnOnce(reqwest::RequestBuilder) -> reqwest::RequestBuilder,
    ) -> Reply {
        let request = shape(self.client.request(method, format!("{}/admin/v1/{path}", self.console)));
        Reply::from(request.send().await.unwrap()).await
    }
}

impl Script<'_> {
    /// Asks an operation that reads.
    pub async fn reads(&self, path: &str) -> Reply {
        self.world.calls_operator_api(Method::GET, path, |request| request.bearer_auth(&self.token)).await
    }

    /// Calls an operation with these parameters.
    pub async fn calls(&self, path: &str, parameters: &Value) -> Reply {
        self.world.calls_operator_api(Method::POST, path, |request| request.bearer_auth(&self.token).json(parameters)).await
    }

    /// Calls an operation that must succeed.
    pub async fn does(&self, path: &str, parameters: &Value) -> Value {
        let reply = self.calls(path, parameters).await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.text);
        reply.body
    }
}
