//! A shopper's browser: one connection, one cookie. Redirects are followed by whoever uses it.

use std::net::SocketAddr;

use crate::orders::load::Connection;

/// A browser in the portal of one merchant.
pub(super) struct Browser {
    address: SocketAddr,
    root: String,
    /// The client's address, as a proxy reports it.
    from: Option<String>,
    cookie: Option<String>,
    connection: Option<Connection>,
}

/// An answer of the service.
pub(super) struct Page {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) html: String,
}

impl Browser {
    /// A browser in the portal of the stage's merchant `shop`.
    pub(super) fn new(address: SocketAddr, shop: usize) -> Self {
        Self { address, root: format!("/r/merchant-{shop}"), from: None, cookie: None, connection: None }
    }

    /// A second tab: the same cookie on a connection of its own.
    pub(super) fn tab(&self) -> Self {
        Self { address: self.address, root: self.root.clone(), from: self.from.clone(), cookie: self.cookie.clone(), connection: None }
    }

    /// The next requests come from this address.
    pub(super) fn moves_to(&mut self, from: &str) {
        self.from = Some(from.to_owned());
    }

    /// The next requests go to the portal of the merchant `shop`, without a cookie.
    pub(super) fn visits(&mut self, shop: usize) {
        self.root = format!("/r/merchant-{shop}");
        self.cookie = None;
    }

    /// The path of a page of the portal.
    pub(super) fn path(&self, page: &str) -> String {
        if page.is_empty() { self.root.clone() } else { format!("{}/{page}", self.root) }
    }

    /// Requests a page. `None` if the connection broke.
    pub(super) async fn get(&mut self, path: &str) -> Option<Page> {
        let request = format!("GET {path} HTTP/1.1\r\n{}\r\n", self.headers());
        self.exchange(&request).await
    }

    /// Sends a form. `None` if the connection broke.
    pub(super) async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Option<Page> {
        let form = fields.iter().map(|(name, value)| format!("{name}={}", value.replace('@', "%40"))).collect::<Vec<_>>().join("&");
        let request = format!(
            "POST {path} HTTP/1.1\r\n{}Sec-Fetch-Site: same-origin\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
            self.headers(),
            form.len()
        );
        self.exchange(&request).await
    }

    fn headers(&self) -> String {
        let from = self.from.as_ref().map(|from| format!("X-Forwarded-For: {from}\r\n")).unwrap_or_default();
        let cookie = self.cookie.as_ref().map(|cookie| format!("Cookie: {cookie}\r\n")).unwrap_or_default();
        format!("Host: localhost\r\nAccept: text/html\r\nAccept-Language: en\r\n{from}{cookie}")
    }

    async fn exchange(&mut self, request: &str) -> Option<Page> {
        let mut connection = match self.connection.take().filter(|connection| !connection.is_closed()) {
            Some(connection) => connection,
            None => Connection::open(self.address).await?,
        };
        let status = connection.exchange(request.as_bytes()).await?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let page = Page { status, head: text(connection.head()), html: text(connection.body()) };
        if let Some(set) = page.header("set-cookie") {
            self.cookie = set.split(';').next().map(ToOwned::to_owned);
        }
        self.connection = Some(connection).filter(|connection| !connection.closes());
        Some(page)
    }
}

impl Page {
    /// A header of the answer.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.head.lines().filter_map(|line| line.split_once(": "));
        headers.find(|(found, _)| *found == name).map(|(_, value)| value)
    }

    /// The page that the answer leads to.
    pub(super) fn location(&self) -> Option<&str> {
        self.header("location").filter(|_| self.status == 303)
    }

    /// The value of a hidden field.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        let (_, rest) = self.html.split_once(&format!(r#"name="{name}" value=""#))?;
        rest.split_once('"').map(|(value, _)| value)
    }
}
