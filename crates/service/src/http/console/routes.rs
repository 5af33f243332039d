//! The console's routes. Each is known with the role that it needs, which is read from the type of its handler.

use axum::Router;
use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, on};
use domain::merchants::operator::Role;

use super::by::{By, Permission};
use crate::app::App;

/// A route and the role that it needs; none if everybody may come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    pub method: Method,
    /// The path as the router knows it, such as `/merchants/{handle}`.
    pub path: &'static str,
    pub role: Option<Role>,
}

/// The arguments of a handler whose first one is [`By`].
pub(super) trait Guarded {
    const ROLE: Role;
}

macro_rules! guarded {
    ($($argument:ident)*) => {
        impl<Via, P: Permission, $($argument),*> Guarded for (Via, By<P>, $($argument,)*) {
            const ROLE: Role = P::ROLE;
        }
    };
}

guarded!();
guarded!(A);
guarded!(A B);
guarded!(A B C);

/// The routes so far.
#[derive(Default)]
pub(super) struct Routes {
    router: Router<App>,
    guards: Vec<Guard>,
}

impl Routes {
    /// A page.
    pub(super) fn get<H: Handler<T, App>, T: Guarded + 'static>(self, path: &'static str, handler: H) -> Self {
        self.add(Method::GET, MethodFilter::GET, path, Some(T::ROLE), handler)
    }

    /// An action.
    pub(super) fn post<H: Handler<T, App>, T: Guarded + 'static>(self, path: &'static str, handler: H) -> Self {
        self.add(Method::POST, MethodFilter::POST, path, Some(T::ROLE), handler)
    }

    /// A page for everybody, on the way in.
    pub(super) fn open_get<H: Handler<T, App>, T: 'static>(self, path: &'static str, handler: H) -> Self {
        self.add(Method::GET, MethodFilter::GET, path, None, handler)
    }

    /// An action for everybody, on the way in.
    pub(super) fn open_post<H: Handler<T, App>, T: 'static>(self, path: &'static str, handler: H) -> Self {
        self.add(Method::POST, MethodFilter::POST, path, None, handler)
    }

    fn add<H: Handler<T, App>, T: 'static>(
        mut self,
        method: Method,
        filter: MethodFilter,
        path: &'static str,
        role: Option<Role>,
        handler: H,
    ) -> Self {
        self.guards.push(Guard { method, path, role });
        Self { router: self.router.route(path, on(filter, handler)), ..self }
    }

    /// These routes and others.
    pub(super) fn and(mut self, others: Self) -> Self {
        self.guards.extend(others.guards);
        Self { router: self.router.merge(others.router), ..self }
    }

    pub(super) fn into_parts(self) -> (Router<App>, Vec<Guard>) {
        (self.router, self.guards)
    }
}
