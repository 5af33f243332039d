// A merchant, whose systems call the public API.
//
// Each return that a shopper starts in the portal is started a second time through the API, by a twin: a merchant with the same policy,
// order and stock. But for identifiers and times, both lead to the same message.

const ANSWERED_WITHIN = 20_000;

/** What differs between two messages about the same goods: the return's number, and times. */
const OWN = /"R-[0-9A-Z-]+"|"\d{4}-\d\d-\d\dT[0-9:.]+Z"/g;

/** The request for a return of these units: as they were when it was started, and as the API shows them now. Once an exchange is off,
 * the API does not say for what it was, which is `exchange_sku`. */
function asked(started, units, exchange_sku) {
  const items = new Map();
  for (const [at, { order_line_item_identifier, return_reason, refund_type }] of started.entries()) {
    const item = items.get(order_line_item_identifier) ?? { order_line_item_identifier, return_reason, quantity: 0 };
    item.quantity += 1;
    if (refund_type === "EVEN_EXCHANGE") item.exchange_sku = units[at].exchange_sku ?? exchange_sku;
    if (refund_type === "UNEVEN_EXCHANGE") item.gift_card = true;
    items.set(order_line_item_identifier, item);
  }
  return [...items.values()];
}

export class Merchant {
  #stage;
  #opening;
  #credential;
  #token;
  #twin;
  /** What a twin needs to know, in its order: calls that set up the same stock, orders and returns. */
  #past = [];

  constructor(stage, opening, { merchant, ...credential }) {
    this.#stage = stage;
    this.#opening = opening;
    this.#credential = credential;
    this.handle = merchant;
    this.portal = `${stage.portal}/r/${merchant}`;
  }

  async #authorise() {
    const body = new URLSearchParams({ grant_type: "client_credentials", ...this.#credential });
    const answer = await fetch(`${this.#stage.api}/oauth/token`, { method: "POST", body, signal: AbortSignal.timeout(ANSWERED_WITHIN) });
    if (!answer.ok) throw new Error(`no token: ${answer.status}`);
    this.#token = (await answer.json()).access_token;
  }

  /** Calls the API. A token that has run out, because the clock was moved, is renewed once. */
  async calls(method, path, body) {
    for (const last of [false, true]) {
      if (!this.#token) await this.#authorise();
      const headers = { Authorization: `Bearer ${this.#token}`, "Content-Type": "application/json", "Api-Version": "3" };
      const request = { method, headers, body: body && JSON.stringify(body), signal: AbortSignal.timeout(ANSWERED_WITHIN) };
      const answer = await fetch(`${this.#stage.api}${path}`, request);
      if (answer.ok) return answer.json();
      if (answer.status !== 401 || last) throw new Error(`${method} ${path.split("/").slice(0, 3).join("/")}: ${answer.status} ${await answer.text()}`);
      this.#token = undefined;
    }
  }

  /** Publishes an order. */
  async sells(order) {
    await this.#remembers((twin) => twin.sells(order));
    await this.publishes(order);
  }

  /** Publishes an order that the twin does not have, such as one with refunds of this merchant's returns. */
  async publishes(order) {
    const items = order.items.map((item) => ({ ...item, image_url: this.#stage.photos.of(item.title) }));
    await this.calls("POST", "/returns_portal_orders", { returns_portal_order: { orders: [{ ...order, items }] } });
  }

  /** Starts a return of one unit of the order's first line, as the merchant's own portal would. */
  async startsReturn(order) {
    await this.#remembers((twin) => twin.startsReturn(order));
    const items = [{ order_line_item_identifier: order.items[0].identifier, quantity: 1, return_reason: "TOO_SMALL" }];
    return this.calls("POST", "/v1/returns", { order_identifier: order.identifier, return_method: "mail-back", items });
  }

  /** Closes the receiving of a return: nothing more is expected. */
  async closesReceiving(rma) {
    await this.calls("POST", `/v1/expected_returns/${rma}/close`);
  }

  /** Sets its variants: `[sku, size, colour, stock]` each. */
  async shelves(variants) {
    await this.#remembers((twin) => twin.shelves(variants));
    const shelved = variants.map(([sku, size, colour, stock]) => ({ sku, size, colour, cents: 5000, stock }));
    await this.#stage.send({ do: "shelf", merchant: this.handle, identifier: "V-SHOE", variants: shelved });
  }

  /** Delays its answers about variants. */
  slow(milliseconds) {
    return this.#stage.send({ do: "slow", merchant: this.handle, milliseconds });
  }

  /** Refuses exchange orders as out of stock from now on. */
  refusesExchanges() {
    return this.#stage.send({ do: "refuse_exchanges", merchant: this.handle });
  }

  /** Delays its carrier's answers. */
  late(milliseconds) {
    return this.#stage.send({ do: "late", merchant: this.handle, milliseconds });
  }

  /** The link to its portal in the latest mail to a shopper, at this address if one is given. */
  async mailedLink(to) {
    const { link } = await this.#stage.send({ do: "link", merchant: this.handle, to });
    return new URL(link);
  }

  /** Lets its carrier scan the parcel of a return. */
  scans(rma, status) {
    return this.#stage.send({ do: "scan", merchant: this.handle, rma, status });
  }

  /** Has the twin do the same, now or when there is one. */
  async #remembers(act) {
    this.#past.push(act);
    if (this.#twin) await act(this.#twin);
  }

  /** Starts the same return through the API. Throws unless the message about it is the same. */
  async comparesWithApi(rma, exchange_sku) {
    if (!this.#twin) {
      this.#twin = await this.#stage.open(this.#opening);
      for (const act of this.#past) await act(this.#twin);
    }
    const { order_identifier, return_method, items } = await this.calls("GET", `/v1/returns/${rma}`);
    const portal = await this.#created(rma);
    const { items: told, giftee_email } = JSON.parse(portal);
    const wanted = { order_identifier, return_method, items: asked(told, items, exchange_sku), giftee_email };
    const { rma_identifier } = await this.#twin.calls("POST", "/v1/returns", wanted);
    const api = await this.#twin.#created(rma_identifier);
    if (portal !== api) throw new Error(`the message through the portal is not that through the API:\n${portal}\n${api}`);
  }

  /** The message about a new return, without its number and times. */
  async #created(rma) {
    const { items: messages } = await this.calls("GET", "/v1/messages?interface=rma&event=rma.created");
    const { message_id } = messages.find(({ subject }) => subject.includes(rma));
    const { body } = await this.calls("GET", `/v1/messages/${message_id}`);
    return body.replace(OWN, '"…"');
  }
}
