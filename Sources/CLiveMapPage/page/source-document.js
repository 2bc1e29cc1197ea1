// @ts-check
import { FrameStore } from "./frame-store.js";

/** The content of a self-contained page: a LiveMapDocument in the element #document. */
export class DocumentSource {
  /** @param {string} json */
  constructor(json) {
    const content = JSON.parse(json);
    this.overview = content.overview;
    this.events = content.events;
    this.radioMap = content.radioMap ?? null;
    this.store = new FrameStore({ detailBudget: Infinity });
    this.store.add(content.frames);
    /** @type {Map<string, string>} */
    this.plans = new Map(content.plans.map((plan) => [`${plan.venueId}/${plan.mapId}`, plan.url]));
    /** The intervals of time whose frames are held; null for all. */
    this.loaded = null;
  }

  /** @param {any} changes the listeners; a document never changes */
  start(changes) {
    changes.connection(null);
  }

  /** @param {number} t */
  want(t) {
    this.store.focus = t;
  }

  /**
   * Returns the address of a map's image; null without one.
   * @param {number} venue
   * @param {number} map
   */
  planAddress(venue, map) {
    return this.plans.get(`${venue}/${map}`) ?? null;
  }

  /** Tiles are not part of a document. */
  tileAddress() {
    return null;
  }

  async mark() {
    return "A saved page accepts no marks.";
  }
}
