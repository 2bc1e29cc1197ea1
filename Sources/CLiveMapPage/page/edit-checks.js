// @ts-check
/** Checks the document on the server a moment after each change, without saving it. */
import { checkDocument } from "./edit-store.js";
import { writeJSON } from "./json-source.js";
import { isSameVenue } from "./venue-walk.js";

/** The milliseconds without a change before the document is checked. */
const calm = 400;

export class Checks {
  /** @param {import("./edit-app.js").EditApp} app */
  constructor(app) {
    this.app = app;
    /** The latest document that was checked. @type {any} */
    this.checked = app.document;
    /** @type {any} */
    this.timer = null;
    /** @type {AbortController|null} */
    this.running = null;
  }

  /** Checks the document soon, unless it was checked. */
  schedule() {
    clearTimeout(this.timer);
    this.running?.abort();
    this.running = null;
    const { document } = this.app.history;
    if (isSameVenue(document, this.checked)) this.checked = document;
    else this.timer = setTimeout(() => this.check(), calm);
  }

  async check() {
    const { document } = this.app.history;
    const running = new AbortController();
    this.running = running;
    const problems = await checkDocument(writeJSON(document, this.app.stored.text), running.signal);
    // Without an answer, the next change or saving asks again.
    if (running.signal.aborted || problems === null) return;
    if (problems === "later") {
      this.schedule();
      return;
    }
    this.note(problems, document);
    this.app.showPanels();
  }

  /**
   * Takes the problems of a document that the server has checked.
   * @param {any[]} problems
   * @param {any} document
   */
  note(problems, document) {
    this.checked = document;
    this.app.problems.report(problems, document);
  }
}
