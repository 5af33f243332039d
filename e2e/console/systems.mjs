// A merchant's systems, which receive messages: they check every signature, and fail if they are told to.

import { createHmac } from "node:crypto";
import { createServer } from "node:http";

export class Systems {
  #server;
  #status = 200;
  /** The signing secret, once the merchant was told. */
  secret;
  /** The messages that were answered with success, by their paths. */
  received = [];
  /** What was wrong with messages. */
  faults = [];
  /** True if messages with a wrong signature are refused. */
  refuses = false;

  static async start() {
    const systems = new Systems();
    systems.#server = createServer(async (request, response) => {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      const isSigned = systems.#verify(request.headers, Buffer.concat(chunks));
      if (!isSigned && systems.refuses) return response.writeHead(401).end();
      if (!isSigned) systems.faults.push("a message was not signed with the secret that was shown");
      if (systems.#status === 200) systems.received.push(request.url);
      response.writeHead(systems.#status, { "Content-Type": "application/json" }).end(systems.#status === 200 ? "{}" : '{"error":"maintenance"}');
    });
    await new Promise((listening) => systems.#server.listen(0, "127.0.0.1", listening));
    return systems;
  }

  #verify(headers, body) {
    if (!this.secret) return true;
    const key = Buffer.from(this.secret.replace("whsec_", ""), "base64");
    const signed = Buffer.concat([Buffer.from(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`), body]);
    const right = createHmac("sha256", key).update(signed).digest("base64");
    const given = headers["webhook-signature"]?.split(" ") ?? [];
    return given.includes(`v1,${right}`);
  }

  url(path) {
    return `http://127.0.0.1:${this.#server.address().port}${path}`;
  }

  /** Answers every message with this status from now on. */
  answers(status) {
    this.#status = status;
  }

  stop() {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
