// An operator, who works with the console.

import { Visitor, PATIENCE } from "../visitor.mjs";
import { plain } from "../phrases.mjs";
import { Authenticator } from "./authenticator.mjs";

const PASSWORD = "a few words are good";

export class Operator extends Visitor {
  #stage;
  #authenticator;
  password = PASSWORD;

  /** Works with the console of this stage. */
  at(stage) {
    this.#stage = stage;
    return this;
  }

  /** Targets are larger where fingers hit them. Links in tables may be smaller than that if they are far enough apart, which axe checks. */
  rules() {
    return { least: { link: 0, button: this.dimensions.width < 700 ? 36 : 24 } };
  }

  /** Opens a page, or the link of an invitation. */
  async opens(path, status = 200) {
    this.step = `open ${path}`;
    await this.go(() => this.page.goto(new URL(path, this.#stage.console).href), status);
  }

  /** Checks the page while nothing on it is renewed. */
  async sees(heading, name) {
    await this.#renews(false);
    await super.sees(heading, name);
    await this.#renews(true);
  }

  /** A page in the background does not renew itself. */
  async #renews(renewing) {
    if (!this.scripted) return;
    await this.page.evaluate((renewing) => {
      if (renewing) delete document.visibilityState;
      else Object.defineProperty(document, "visibilityState", { configurable: true, get: () => "hidden" });
    }, renewing);
    // What is being fetched still arrives.
    if (!renewing && (await this.page.locator("[data-renew]").count()) > 0) await this.page.waitForTimeout(150);
  }

  /** Waits until the page says `words`. With scripts it renews itself, without them by asking again. */
  async waitsFor(words) {
    this.step = `wait for ${words}`;
    if (!this.scripted) return this.reloadsUntil(words);
    const end = Date.now() + PATIENCE;
    // While the page is replaced it has no text.
    const said = () => this.text().catch(() => "");
    while (!this.phrases.anywhere(words).test(await said())) {
      if (Date.now() > end) throw new Error(`the page never says ${JSON.stringify(words)}: ${await said()}`);
      await this.page.waitForTimeout(100);
    }
    await this.page.waitForLoadState("load");
  }

  /** What the page shows in the place that this selector names. */
  async shown(selector) {
    return plain(await this.page.locator(selector).first().innerText());
  }

  /** Searches for an identifier or an e-mail address. */
  async searches(words) {
    await this.types("Search by any identifier or e-mail", words);
    this.step = `search for ${words}`;
    await this.go(() => this.page.keyboard.press("Enter"));
  }

  /** Presses these keys, which lead to another page. */
  async typesKeys(...keys) {
    this.step = `press ${keys.join(" ")}`;
    await this.go(async () => {
      for (const key of keys) await this.page.keyboard.press(key);
    });
  }

  /** Chooses the password of an invitation. */
  async choosesPassword() {
    await this.types("Password", this.password);
    await this.types("The same password again", this.password);
    await this.presses("Set the password");
  }

  /** Takes the secret that the page shows into an authenticator. */
  async setsUpAuthenticator() {
    this.#authenticator = new Authenticator(await this.shown("form code"));
  }

  /** Types the code of the authenticator. */
  async typesCode(label) {
    await this.types(label, this.#authenticator.code());
  }

  /** Follows an invitation to Today, without looking at the pages on the way. */
  async begins(role = "manager") {
    const invited = { email: `${role}@ops.example.com`, name: "Robin Example", role };
    await this.opens(await this.#stage.invites(invited));
    await this.choosesPassword();
    await this.setsUpAuthenticator();
    await this.typesCode("The six digits that it shows now");
    await this.presses("Go on");
    await this.follows("I have kept them");
    return invited;
  }
}
