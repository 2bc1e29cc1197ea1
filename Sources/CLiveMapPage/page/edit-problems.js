// @ts-check
/** The problems of a document beside the objects that have them. */
import { byId, make } from "./dom.js";
import { duplicatesIn, objectAt, placesOf, referenceOf, titleOf } from "./venue-objects.js";

/**
 * A problem. It belongs to a state of its object: after a change of the object it may not exist any more.
 * @typedef {{severity: string, path: string, message: string, object: any, reference: any}} Problem
 */

export class Problems {
  /** @param {import("./edit-app.js").EditApp} app */
  constructor(app) {
    this.app = app;
    /** @type {Problem[]} */
    this.reported = [];
  }

  /**
   * Takes the problems that the server found in a document.
   * @param {any[]} problems
   * @param {any} document
   */
  report(problems, document) {
    this.reported = problems.map((problem) => {
      const reference = referenceOf(document, problem.path);
      return { ...problem, reference, object: objectAt(document, reference) };
    });
  }

  /**
   * Returns the problems that the document still has, as far as the page knows.
   * @param {any} document
   * @returns {Problem[]}
   */
  of(document) {
    const own = duplicatesIn(document).map(({ reference, message }) => ({
      severity: "error", path: "", message, reference, object: objectAt(document, reference),
    }));
    const places = placesOf(document);
    const doubled = new Set(own.map((problem) => problem.object));
    // The place of an object changes when another one before it is deleted.
    const others = this.reported.flatMap((problem) => {
      if (!problem.reference) return [problem];
      const reference = places.get(problem.object);
      return reference && !doubled.has(problem.object) ? [{ ...problem, reference }] : [];
    });
    return [...own, ...others];
  }

  /** Lists the problems, and those of the selected object beside its fields. */
  show() {
    const { document, selected } = this.app;
    const all = this.of(document);
    const shown = all.slice(0, 100);
    byId("problems").hidden = all.length === 0;
    byId("problem-list").replaceChildren(...shown.map((problem) => this.item(problem)));
    byId("more-problems").hidden = all.length <= shown.length;
    byId("more-problems").textContent = `and ${all.length - shown.length} more`;
    const chosen = objectAt(document, selected);
    const own = all.filter((problem) => chosen !== undefined && problem.object === chosen);
    byId("own-problems").replaceChildren(...own.map((problem) => make("li", {}, problem.message)));
    this.app.faulty = new Set(all.flatMap((problem) => (
      problem.severity === "error" && problem.object !== undefined ? [problem.object] : [])));
  }

  /** @param {Problem} problem */
  item(problem) {
    const text = problem.reference
      ? `${titleOf(this.app.document, problem.reference)}: ${problem.message}` : `${problem.path}: ${problem.message}`;
    const content = problem.reference
      ? make("button", { type: "button", onclick: () => this.app.reveal(problem.reference) }, text)
      : make("span", {}, text);
    return make("li", { class: problem.severity }, content);
  }
}
