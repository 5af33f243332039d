"""A merchant's system for exchanges: lists variants and places exchange orders.

    WEBHOOK_SECRET=whsec_… python3 exchange_server.py 8090

It needs Python 3.9 and nothing else. It stores its stock and its orders in SQLite, in the file that EXCHANGE_ORDERS
names. CATALOGUE, the tax and the order identifiers stand in for your shop: replace them. Put TLS and the
authentication of your endpoints in front of it.
"""

import base64
import hashlib
import hmac
import json
import os
import sqlite3
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

SECRET = os.environ["WEBHOOK_SECRET"]
FILE = os.environ.get("EXCHANGE_ORDERS", "exchange_orders.db")
# By variant identifier: SKU, title, size, price, initial stock.
CATALOGUE = {
    "V-SHOE": [
        ("SHOE-41", "Running shoe", "41", 5000, 3),
        ("SHOE-42", "Running shoe", "42", 5000, 0),
        ("SHOE-43", "Running shoe", "43", 5000, 3),
    ],
}
TAX_PERCENT = 8


class OutOfStock(Exception):
    pass


def connect():
    # Autocommit: place() begins its own transaction, so that it reads and writes under one lock.
    return sqlite3.connect(FILE, timeout=15, isolation_level=None)


def prepare(connection):
    connection.execute("create table if not exists stock (sku text primary key, units integer not null check (units >= 0))")
    connection.execute("create table if not exists exchange_order (original_order_id text primary key, answer text not null)")
    skus = [(sku, units) for variants in CATALOGUE.values() for (sku, _, _, _, units) in variants]
    connection.executemany("insert or ignore into stock values (?, ?)", skus)


def variants(connection, identifier):
    stock = dict(connection.execute("select sku, units from stock"))
    return [
        {
            "sku": sku,
            "title": title,
            "attributes": [{"name": "size", "value": size}],
            "unit_price_amount_cents": cents,
            "quantity_in_stock": stock[sku],
        }
        for (sku, title, size, cents, _) in CATALOGUE[identifier]
    ]


def place(connection, wanted):
    """Places the exchange order once per original order; a repeated request gets the first answer again."""
    connection.execute("begin immediate")
    try:
        original = wanted["original_order_id"]
        known = connection.execute("select answer from exchange_order where original_order_id = ?", [original]).fetchone()
        if known is None:
            known = (json.dumps(new_order(connection, wanted)),)
            connection.execute("insert into exchange_order values (?, ?)", [original, *known])
        connection.execute("commit")
        return known[0]
    except BaseException:
        connection.execute("rollback")
        raise


def new_order(connection, wanted):
    product = 0
    for item in wanted["items"]:
        if "return_items" in item:
            # A gift card worth item["unit_price_amount_cents"] plus item["bonus_credit_amount_cents"]: issue it here.
            continue
        product += item["product_amount_cents"] - item["discount_amount_cents"]
        taken = connection.execute(
            "update stock set units = units - ? where sku = ? and units >= ?", [item["quantity"], item["sku"], item["quantity"]]
        )
        if taken.rowcount == 0:
            raise OutOfStock(item["sku"])
    tax = product * TAX_PERCENT // 100
    return {
        "order_identifier": "X-" + wanted["original_order_id"],
        "product_amount_cents": product,
        "tax_amount_cents": tax,
        "total_amount_cents": product + tax,
    }


def is_signed(headers, body):
    message_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > 300:
        return False
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return any(hmac.compare_digest(expected, given) for given in headers.get("webhook-signature", "").split(" "))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        steps = urlsplit(self.path).path.split("/")[1:]
        if len(steps) != 3 or steps[0] != "sku" or steps[2] != "variants" or unquote(steps[1]) not in CATALOGUE:
            return self.answer(404, '{"message": "there is no such variant"}')
        connection = connect()
        try:
            self.answer(200, json.dumps({"variants": variants(connection, unquote(steps[1]))}))
        finally:
            connection.close()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if urlsplit(self.path).path != "/exchange_orders":
            return self.answer(404, '{"message": "there is nothing here"}')
        if not is_signed(self.headers, body):
            return self.answer(401, '{"message": "the signature is wrong"}')
        # The operator tests the endpoint: nothing in it is real, and nothing is placed.
        if self.headers.get("X-Service-Trial"):
            return self.answer(200, "{}")
        connection = connect()
        try:
            self.answer(200, place(connection, json.loads(body)))
        except OutOfStock as sku:
            # Answer with a 4xx only if nothing was placed.
            self.answer(409, json.dumps({"message": f"{sku} is out of stock"}))
        finally:
            connection.close()

    def answer(self, status, body):
        body = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    prepare(connect())
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    print(f"listening on port {server.server_port}", flush=True)
    server.serve_forever()
