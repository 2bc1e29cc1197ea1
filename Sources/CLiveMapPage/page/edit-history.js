// @ts-check
/** The states of a document that can be undone and redone. A document is never changed in place. */

import { isSameVenue } from "./venue-walk.js";

const mostSteps = 500;

export class History {
  /**
   * @param {any} document
   * @param {() => void} changed
   */
  constructor(document, changed) {
    this.changed = changed;
    this.begin(document);
  }

  /**
   * Starts anew with a document that is stored.
   * @param {any} document
   */
  begin(document) {
    /** @type {{document: any, name: string}[]} */
    this.past = [];
    /** @type {{document: any, name: string}[]} */
    this.future = [];
    this.document = document;
    this.stored = document;
    this.lastKey = "";
  }

  /** Whether the venue has changes that are not stored. */
  get isChanged() { return !isSameVenue(this.document, this.stored); }

  /**
   * Makes a change.
   * @param {any} document
   * @param {string} name what the change does
   * @param {string} [key] changes in a row with the same key are one step; empty for a step of its own
   */
  change(document, name, key = "") {
    if (document === this.document) return;
    if (key === "" || key !== this.lastKey) this.past.push({ document: this.document, name });
    if (this.past.length > mostSteps) this.past.shift();
    this.future = [];
    this.lastKey = key;
    this.document = document;
    this.changed();
  }

  /** Returns the name of the change that was undone; null without one. */
  undo() { return this.turn(this.past, this.future); }

  /** Returns the name of the change that was made again; null without one. */
  redo() { return this.turn(this.future, this.past); }

  /**
   * @param {{document: any, name: string}[]} from
   * @param {{document: any, name: string}[]} to
   */
  turn(from, to) {
    const step = from.pop();
    if (!step) return null;
    to.push({ document: this.document, name: step.name });
    this.document = step.document;
    this.lastKey = "";
    this.changed();
    return step.name;
  }

  /**
   * Records that a state is stored.
   * @param {any} document
   */
  store(document) {
    this.stored = document;
    this.lastKey = "";
    this.changed();
  }
}
