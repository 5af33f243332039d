// The identity provider of single sign-on, a process of its own.

import { createInterface } from "node:readline";

import { start } from "./stage.mjs";

export class IdentityProvider {
  #child;

  /** Starts it for the console that people return to at `back`. In `environment`: PERSON, GROUPS and FAULT. */
  static async start(port, back, environment = {}) {
    const provider = new IdentityProvider();
    const file = new URL("../provider.mjs", import.meta.url).pathname;
    const child = start(process.execPath, [file], { PORT: String(port), BACK: back, ...environment });
    provider.#child = child;
    child.stderr.resume();
    await new Promise((ready, refuse) => {
      createInterface({ input: child.stdout }).once("line", ready);
      child.once("exit", (code) => refuse(new Error(`the identity provider ended with code ${code}`)));
    });
    return provider;
  }

  async stop() {
    const ended = new Promise((done) => this.#child.once("exit", done));
    this.#child.kill("SIGKILL");
    await ended;
  }
}
