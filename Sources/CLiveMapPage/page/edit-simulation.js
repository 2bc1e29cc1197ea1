// @ts-check
/** What the simulations of the editor have in common. */
import { byId, setText } from "./dom.js";
import { numberOf } from "./edit-fields.js";
import { calculate } from "./edit-store.js";
import { isSameVenue } from "./venue-walk.js";

/** A simulation that the server computes, with its button and its messages. Only one runs at a time. */
export class Simulation {
  /**
   * @param {import("./edit-app.js").EditApp} app
   * @param {"coverage"|"walk"} name the resource on the server, and the beginning of the controls' identifiers
   */
  constructor(app, name) {
    this.app = app;
    this.name = name;
    /** The latest result, and the document that it belongs to. @type {{content: any, document: any}|null} */
    this.result = null;
    /** @type {AbortController|null} */
    this.running = null;
    byId(`${name}-run`).addEventListener("click", () => (this.running ? this.stop("The simulation was stopped.") : this.run()));
  }

  /** Whether the result belongs to the present venue. */
  get isPresent() { return this.result !== null && isSameVenue(this.result.document, this.app.history.document); }

  /** Starts the simulation with what the fields contain. */
  async run() {}

  /**
   * Ends the simulation.
   * @param {string} text the message
   */
  stop(text) {
    this.running?.abort();
    this.running = null;
    setText(byId(`${this.name}-run`), `Simulate ${this.name}`);
    setText(byId(`${this.name}-state`), text);
  }

  /**
   * Requests the result of a document. Returns whether there is one; otherwise the panel says why.
   * @param {any} document
   * @param {Record<string, number>} query
   * @param {string} body
   */
  async request(document, query, body) {
    const running = new AbortController();
    this.running = running;
    setText(byId(`${this.name}-run`), "Stop");
    setText(byId(`${this.name}-state`), `The ${this.name} is being simulated.`);
    const { content, problem } = await calculate(this.name, query, body, running.signal);
    if (this.running !== running) return false;
    this.stop(problem ?? content.reason ?? "");
    if (problem !== null) return false;
    this.result = { content, document };
    return true;
  }
}

/**
 * Returns the number in a field; null if it can't be used, which the field then shows.
 * @param {string} id
 * @param {number} low
 * @param {number} high
 * @param {boolean} isWhole
 * @returns {number|null}
 */
export function entered(id, low, high, isWhole) {
  const text = byId(id).value.trim();
  const value = text === "" ? NaN : numberOf(text);
  const isRight = value >= low && value <= high && (!isWhole || Number.isSafeInteger(value));
  byId(id).setAttribute("aria-invalid", String(!isRight));
  const invalid = byId(`${id}-invalid`);
  invalid.hidden = isRight;
  setText(invalid, isRight ? "" : `Give a ${isWhole ? "whole " : ""}number from ${low} to ${high}.`);
  return isRight ? value : null;
}
