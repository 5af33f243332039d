// Somebody with a browser. Uses the pointer, or the keyboard alone: Tab, Shift+Tab, Space, Enter and the arrows. What roads say in
// English, the visitor reads in the language of the walk.

import { mkdir, writeFile } from "node:fs/promises";

import { OPERABLE, inspect, measure, oversize } from "./page.mjs";
import { Phrases, plain } from "./phrases.mjs";

/** Waits for a page, and for anything on it. */
export const PATIENCE = 15_000;
const HEIGHTS = { 320: 640, 390: 844, 1280: 900 };
const PICTURES = [
  ["phone", 390],
  ["desktop", 1280],
];

export class Visitor {
  #context;
  #browser;
  #pictures;
  #faults = [];
  dimensions;
  phrases;
  /** The status that the next page may have, besides 200. */
  #status = 200;
  page;
  step = "start";
  violations = 0;
  states = 0;
  /** The bytes of the largest response after compression, by media type. */
  largest = {};

  /** A visitor in a browser of their own. With `pictures`, a directory, each state is pictured instead of checked. */
  static async enter(browser, road, dimensions, pictures) {
    const visitor = new this();
    const { width, scheme, language = "en" } = dimensions;
    visitor.dimensions = dimensions;
    visitor.phrases = new Phrases(language);
    visitor.#pictures = pictures && { directory: pictures, road };
    visitor.#context = await browser.newContext({
      viewport: { width, height: HEIGHTS[width] },
      colorScheme: scheme,
      locale: language,
      deviceScaleFactor: pictures ? 2 : 1,
    });
    visitor.#context.setDefaultTimeout(PATIENCE);
    await visitor.#watch();
    return visitor;
  }

  /** Notes everything that a browser objects to. */
  async #watch() {
    const fault = (text) => this.#faults.push(text);
    await this.#context.exposeBinding("reportViolation", (_, directive, blocked) => fault(`CSP: ${directive} blocked ${blocked}`));
    await this.#context.addInitScript(() => {
      addEventListener("securitypolicyviolation", (event) => window.reportViolation(event.effectiveDirective, event.blockedURI));
    });
    this.page = await this.#context.newPage();
    this.#browser = await this.#context.newCDPSession(this.page);
    await this.#allowScripts(this.scripted);
    this.page.on("pageerror", (error) => fault(`script: ${error.message}`));
    this.page.on("console", (message) => {
      // The browser reports the status of an error page too, which the road expects, and that of a photo that the shop does not have.
      const isPhoto = message.location().url.includes("/photos/") && message.text().includes("status of 404");
      const expected = isPhoto || (this.#status !== 200 && message.text().includes(`status of ${this.#status}`));
      if (message.type() === "error" && !expected) fault(`console: ${message.text()} (${new URL(message.location().url || this.page.url()).pathname})`);
    });
    this.page.on("requestfailed", (request) => {
      // Whatever a page was still loading when it was left is aborted.
      const why = request.failure()?.errorText;
      if (why !== "net::ERR_ABORTED") fault(`${new URL(request.url()).pathname} failed: ${why}`);
    });
    this.page.on("response", async (response) => {
      if (response.request().isNavigationRequest() && response.status() >= 400 && response.status() !== this.#status) {
        fault(`${response.status()} for ${new URL(response.url()).pathname}`);
      }
      // A response whose page was left has no body any more.
      const measured = await measure(response).catch(() => undefined);
      if (!measured) return;
      this.#faults.push(...oversize(measured));
      this.largest[measured.type] = Math.max(this.largest[measured.type] ?? 0, measured.bytes);
    });
  }

  /** Turns scripts on or off. The session stays open, because the browser turns them on again when it closes. */
  async #allowScripts(allowed) {
    await this.#browser.send("Emulation.setScriptExecutionDisabled", { value: !allowed });
  }

  async leave() {
    await this.#context.close();
  }

  get scripted() {
    return this.dimensions.scripts;
  }

  /** Takes this status of the next page for granted. */
  expects(status) {
    this.#status = status;
  }

  /** Runs `act`, which leads to another page, and waits for that page. Its status must be `status`. */
  async go(act, status = 200) {
    this.expects(status);
    const loaded = this.page.waitForEvent("load");
    // If the act fails, nobody waits for the page.
    loaded.catch(() => {});
    await act();
    await loaded;
  }

  async reloads() {
    this.step = "reload";
    await this.go(() => this.page.reload());
  }

  /** Sees the page with this heading, whose state has this name, and checks or pictures it. */
  async sees(heading, name) {
    this.step = `see ${name}`;
    const seen = plain(await this.page.locator("h1").first().innerText());
    if (!this.phrases.alone(heading).test(seen)) throw new Error(`the heading is ${JSON.stringify(seen)}, not ${JSON.stringify(heading)}`);
    this.states += 1;
    if (this.#pictures) return this.#picture(name);
    // The checks need scripts. Those of the page itself were skipped while it was loading, and stay so.
    await this.#allowScripts(true);
    const { scheme, schemes = ["light", "dark"] } = this.dimensions;
    const { language } = this.phrases;
    const { faults, violations } = await inspect(this.page, { scheme, schemes, language, ...this.rules() });
    await this.#allowScripts(this.scripted);
    this.violations += violations;
    this.#faults.push(...faults);
    this.objects();
  }

  /** The rules for every page, besides those of `inspect` itself. */
  rules() {
    return {};
  }

  /** Throws if anything was found wrong since it was last asked. */
  objects() {
    const faults = this.#faults.splice(0);
    if (faults.length > 0) throw new Error(faults.join("\n"));
  }

  async #picture(name) {
    const { directory, road } = this.#pictures;
    await mkdir(directory, { recursive: true });
    // Nothing is under the pointer.
    await this.page.mouse.move(0, 0);
    for (const [device, width] of PICTURES) {
      await this.page.setViewportSize({ width, height: HEIGHTS[width] });
      for (const colorScheme of ["light", "dark"]) {
        await this.page.emulateMedia({ colorScheme });
        await this.page.screenshot({ path: `${directory}/${road}-${name}-${device}-${colorScheme}.png`, fullPage: true, animations: "disabled" });
      }
    }
    await this.page.setViewportSize({ width: this.dimensions.width, height: HEIGHTS[this.dimensions.width] });
    await this.page.emulateMedia({ colorScheme: this.dimensions.scheme });
  }

  /** Reads these words on the page. */
  async reads(...words) {
    const text = await this.text();
    const missing = words.filter((words) => !this.phrases.anywhere(words).test(text));
    if (missing.length > 0) throw new Error(`the page does not say ${missing.map((words) => JSON.stringify(words)).join(", ")}: ${text}`);
  }

  /** The text of the page with single spaces, without what is only for screen readers. */
  async text() {
    return plain(await this.page.locator("main").innerText());
  }

  /** Types into the field with this label, in place of what it holds. */
  async types(label, text) {
    this.step = `type into ${label}`;
    const field = this.page.getByLabel(this.phrases.alone(label));
    if (!this.dimensions.keyboard) return field.fill(text);
    await this.#tabTo(field);
    // Tabbing into a field selects its text.
    await this.page.keyboard.type(text);
  }

  /** Ticks the box with this label. */
  async ticks(label) {
    this.step = `tick ${label}`;
    const box = this.page.getByRole("checkbox", { name: this.phrases.first(label) });
    if (!this.dimensions.keyboard) return this.#label(box).click();
    await this.#tabTo(box);
    await this.page.keyboard.press("Space");
  }

  /** Chooses the option with this label, wherever its group of options is. */
  async chooses(label, nth = 0) {
    this.step = `choose ${label}`;
    const radio = this.page.getByRole("radio", { name: this.phrases.first(label) }).nth(nth);
    if (!this.dimensions.keyboard) return this.#label(radio).click();
    const name = await radio.getAttribute("name");
    await this.#tabTo(this.page.locator(`input[type=radio][name="${name}"]`), "the group of options");
    for (let pressed = 0; !(await this.#hasFocus(radio)); pressed += 1) {
      if (pressed > 50) throw new Error("the arrows do not lead to the option");
      await this.page.keyboard.press("ArrowDown");
    }
    if (!(await radio.isChecked())) await this.page.keyboard.press("Space");
  }

  /** Selects the option with this text in the list with this label. */
  async selects(label, option) {
    this.step = `select ${option}`;
    const list = this.page.getByLabel(this.phrases.alone(label));
    const labels = await list.locator("option").allInnerTexts();
    const index = labels.findIndex((label) => this.phrases.alone(option).test(label));
    if (index < 0) throw new Error(`there is no such option, but ${labels.join(", ")}`);
    if (!this.dimensions.keyboard) return list.selectOption({ index });
    await this.#tabTo(list);
    for (let pressed = 0; (await list.evaluate((list) => list.selectedIndex)) !== index; pressed += 1) {
      if (pressed > 50) throw new Error("the arrows do not lead to the option");
      await this.page.keyboard.press("ArrowDown");
    }
  }

  /** Presses the button with this name, which leads to another page. */
  async presses(name, status) {
    this.step = `press ${name}`;
    await this.go(() => this.press(this.page.getByRole("button", { name: this.phrases.alone(name) })), status);
  }

  /** Follows the link with this name. */
  async follows(name, status) {
    this.step = `follow ${name}`;
    await this.go(() => this.press(this.page.getByRole("link", { name: this.phrases.first(name) }).first()), status);
  }

  /** Unfolds the details with this summary. */
  async unfolds(summary) {
    this.step = `unfold ${summary}`;
    await this.press(this.page.locator("summary").filter({ hasText: this.phrases.anywhere(summary) }));
  }

  async press(element) {
    if (!this.dimensions.keyboard) return element.click();
    await this.#tabTo(element);
    await this.page.keyboard.press("Enter");
  }

  /** The label around an input: what a finger hits. */
  #label(input) {
    return this.page.locator("label").filter({ has: input });
  }

  #hasFocus(element) {
    return element.evaluate((element) => element === document.activeElement);
  }

  /** Tabs until one of these elements has the focus. */
  async #tabTo(elements, what = "it") {
    const dates = await this.page.locator("[type=datetime-local]").count();
    const stops = (await this.page.locator(`${OPERABLE}, [tabindex="0"]`).count()) + 7 * dates;
    for (let pressed = 0; pressed <= stops + 3; pressed += 1) {
      if (await elements.evaluateAll((elements) => elements.includes(document.activeElement))) return;
      await this.page.keyboard.press("Tab");
    }
    throw new Error(`Tab does not lead to ${what}`);
  }

  /** Reloads the page until it says `words`. */
  async reloadsUntil(words) {
    await this.until(words, () => this.reloads());
  }

  async until(words, act) {
    const end = Date.now() + PATIENCE;
    while (!this.phrases.anywhere(words).test(await this.text())) {
      if (Date.now() > end) throw new Error(`the page never says ${JSON.stringify(words)}: ${await this.text()}`);
      await this.page.waitForTimeout(200);
      await act();
    }
  }

  /** The path of the current page, which has nothing personal. */
  path() {
    return new URL(this.page.url()).pathname;
  }

  /** Keeps the page as it is, for whoever looks into a failure. */
  async keep(file) {
    await this.page.screenshot({ path: `${file}.png`, fullPage: true, timeout: 5000 });
    await writeFile(`${file}.html`, await this.page.content());
  }
}
