// A shopper, who uses a merchant's portal.

import { EMAIL, POSTCODE } from "./orders.mjs";
import { Phrases } from "./phrases.mjs";
import { PATIENCE, Visitor } from "./visitor.mjs";

export class Shopper extends Visitor {
  rules() {
    return { personal: [EMAIL, POSTCODE, "DS-10482"] };
  }

  /** Opens a page of a merchant's portal. */
  async opens(merchant, path = "", status = 200) {
    this.step = `open ${path || "the first page"}`;
    await this.go(() => this.page.goto(path ? `${merchant.portal}/${path}` : merchant.portal), status);
  }

  /** Unfolds the menu of languages. */
  async opensLanguages() {
    this.step = "open the languages";
    await this.press(this.page.locator(".lang summary"));
  }

  /** Presses Escape. Returns whether the menu of languages is closed then. */
  async escapes() {
    await this.page.keyboard.press("Escape");
    return !(await this.page.locator(".lang").evaluate((menu) => menu.open));
  }

  /** Chooses a language in the menu, and reads in it from then on. */
  async switchesTo(language) {
    this.step = `choose the language ${language}`;
    await this.go(() => this.press(this.page.locator(`.lang a[hreflang="${language}"]`)));
    this.phrases = new Phrases(language);
  }

  /** Returns true if the focus is on the summary of what is wrong, where a script has put it. */
  async isToldWhatIsWrong() {
    return this.page.evaluate(() => document.activeElement.matches(".sum-err"));
  }

  /** Waits for the label. With scripts it comes by itself, without them by asking again. */
  async getsTheLabel() {
    this.step = "wait for the label";
    const label = "Open the label (PDF)";
    if (this.scripted) await this.page.getByRole("link", { name: this.phrases.alone(label) }).waitFor();
    else await this.until(label, () => this.follows("Check again"));
  }

  /** Scrolls to every picture of the page, until each is there or turned out to be missing. */
  async looksAtPictures() {
    this.step = "look at the pictures";
    for (const picture of await this.page.locator("img").all()) await picture.scrollIntoViewIfNeeded();
    const end = Date.now() + PATIENCE;
    while (!(await this.page.evaluate(() => [...document.images].every((picture) => picture.complete)))) {
      if (Date.now() > end) throw new Error("a picture is never loaded");
      await this.page.waitForTimeout(50);
    }
  }

  /** Presses the button with this name, which opens a PDF. Waits until the browser shows it or keeps it. */
  async opensPdf(name) {
    this.step = `open the PDF of ${name}`;
    this.expects(200);
    const opened = this.page.waitForResponse((response) => response.headers()["content-type"] === "application/pdf" && response.ok());
    const settled = Promise.any([this.page.waitForEvent("framenavigated"), this.page.waitForEvent("download")]);
    for (const wait of [opened, settled]) wait.catch(() => {});
    await this.press(this.page.getByRole("button", { name: this.phrases.alone(name) }));
    await opened;
    await settled;
  }

  /** The number of the return that the page is about. */
  rma() {
    const [, rma] = /\/returns\/([^/]+)/.exec(this.path()) ?? [];
    if (!rma) throw new Error(`the page ${this.path()} is not about a return`);
    return rma;
  }
}
