"""A button on a shop's own page that opens an order in the returns portal, and the server behind it.

    BACKHAUL=https://api.example.com PORTAL=https://returns.example.com/r/acme \\
        CLIENT_ID=bhc_… CLIENT_SECRET=bhs_… python3 returns_button.py 8091

It needs Python 3.9 and nothing else. SESSIONS and ORDERS stand in for your shop: replace them with your log-in and
your orders. Put TLS in front of it.
"""

import json
import os
import sys
import time
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import Request, urlopen

BACKHAUL = os.environ["BACKHAUL"]
# The portal's first page, for when no link can be made.
PORTAL = os.environ["PORTAL"]
LANGUAGE = "de"
# The customer of each session, and of each order.
SESSIONS = {"8c1f0f5e": "pat"}
ORDERS = {"1001": "pat", "1002": "sam", "1003": "pat"}

token, renew_at = None, 0


def post(path, body, headers):
    request = Request(BACKHAUL + path, json.dumps(body).encode(), {"Content-Type": "application/json", **headers})
    with urlopen(request, timeout=5) as answer:
        return json.load(answer)


def access_token():
    global token, renew_at
    if time.time() >= renew_at:
        secrets = {"client_id": os.environ["CLIENT_ID"], "client_secret": os.environ["CLIENT_SECRET"]}
        issued = post("/oauth/token", {"grant_type": "client_credentials", **secrets}, {})
        token, renew_at = issued["access_token"], time.time() + issued["expires_in"] - 600
    return token


def link_to(order):
    wanted = {"order_identifier": order, "language": LANGUAGE}
    return post("/v1/portal_links", wanted, {"Authorization": f"Bearer {access_token()}"})["url"]


class Shop(BaseHTTPRequestHandler):
    def order(self):
        """The order in the path, if it is one of the customer who is logged in. The portal asks for nothing more."""
        cookie = SimpleCookie(self.headers.get("Cookie", "")).get("session")
        customer = SESSIONS.get(cookie.value) if cookie else None
        order = self.path.split("/")[2] if self.path.startswith("/orders/") else None
        return order if customer and ORDERS.get(order) == customer else None

    def do_GET(self):
        order = self.order()
        if order is None:
            return self.send_error(404)
        page = f'<form method="post" action="/orders/{order}/return"><button>Return or exchange</button></form>'.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def do_POST(self):
        order = self.order()
        if order is None:
            return self.send_error(404)
        try:
            url = link_to(order)
        except (OSError, ValueError, KeyError) as error:
            self.log_error("no link to the portal: %s", error)
            url = PORTAL
        self.send_response(303)
        self.send_header("Location", url)
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Length", "0")
        self.end_headers()


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Shop)
    print(f"listening on port {server.server_port}", flush=True)
    server.serve_forever()
