// @ts-check
import { address, isRefusal, pause, refusalText, request, submitMark } from "./api.js";
import { FrameStore } from "./frame-store.js";

const framesPerRequest = 240;

/** A played recording on a server. It loads all frames in order of time, those that the user seeks first. */
export class RecordingSource {
  /**
   * @param {any} overview
   * @param {any} radioMap
   */
  constructor(overview, radioMap) {
    this.overview = overview;
    this.radioMap = radioMap;
    /** @type {any[]} */
    this.events = [];
    this.store = new FrameStore();
    /** The intervals of time whose frames are held, in order. @type {[number, number][]} */
    this.loaded = [];
    /** @type {number|null} */
    this.wanted = null;
    this.isLoading = false;
    /** Whether the server has refused the page, which then requests nothing more. */
    this.isRefused = false;
    /** @type {import("./api.js").Changes|null} */
    this.changes = null;
  }

  /** @param {import("./api.js").Changes} changes */
  start(changes) {
    this.changes = changes;
    if (this.overview.mode === "radioMap") {
      changes.connection(null);
      return;
    }
    void this.loadEvents();
    void this.load();
  }

  /**
   * Asks for the frame at an instant.
   * @param {number} t
   */
  want(t) {
    this.store.focus = t;
    const index = this.store.indexAt(t);
    const isWhole = index >= 0 && !this.store.frames[index].isThinned;
    if (this.holds(t) && isWhole) return;
    this.wanted = t;
    if (!this.isLoading) void this.load();
  }

  /** @param {number} t */
  holds(t) {
    return this.loaded.some(([start, end]) => start <= t && t <= end);
  }

  async loadEvents() {
    const answer = await this.persist("events", {});
    if (answer === null) return;
    this.events = answer.events;
    this.changes?.events();
  }

  async load() {
    if (this.isLoading || this.isRefused) return;
    this.isLoading = true;
    const end = this.overview.end ?? 0;
    for (let from = this.next(); from !== null; from = this.next()) {
      const answer = await this.persist("frames", { from, to: end, limit: framesPerRequest });
      if (answer === null) return;
      // The particles around the user's instant matter more than those of the frames that follow in the sweep.
      this.store.add(answer.frames);
      const reached = answer.next === null || answer.next === undefined ? end : Math.max(answer.next, from + 1e-3);
      this.merge(from, reached);
      this.changes?.frames();
      const done = this.loaded.reduce((sum, [a, b]) => sum + b - a, 0);
      const share = end > (this.overview.start ?? 0) ? done / (end - (this.overview.start ?? 0)) : 1;
      this.changes?.connection(share >= 1 - 1e-9 ? null : "connected", `Loading ${Math.round(share * 100)} %`);
    }
    this.isLoading = false;
    this.changes?.connection(null);
  }

  /** Returns the instant from which to load next; null if all is loaded. */
  next() {
    const start = this.overview.start ?? 0;
    const end = this.overview.end ?? 0;
    if (this.wanted !== null) {
      // The frame that holds at an instant may lie a little before it.
      const from = Math.max(start, Math.min(end, this.wanted) - 2);
      this.wanted = null;
      return from;
    }
    let reached = start;
    for (const [from, to] of this.loaded) {
      if (from > reached + 1e-9) break;
      reached = Math.max(reached, to);
    }
    return reached < end - 1e-9 || this.loaded.length === 0 ? reached : null;
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  merge(from, to) {
    /** @type {[number, number][]} */
    const merged = [];
    for (const [a, b] of [...this.loaded, /** @type {[number, number]} */ ([from, to])].sort((x, y) => x[0] - y[0])) {
      const last = merged[merged.length - 1];
      if (last && a <= last[1] + 1e-9) last[1] = Math.max(last[1], b);
      else merged.push([a, b]);
    }
    this.loaded = merged;
  }

  /**
   * Requests a document until the server answers. Returns null if it refuses the page.
   * @param {string} name
   * @param {Record<string, number>} query
   */
  async persist(name, query) {
    for (let failures = 0; !this.isRefused; failures++) {
      try {
        const answer = await request(name, query);
        if (failures > 0) this.changes?.connection("connected", "Connected");
        return answer;
      } catch (error) {
        if (isRefusal(error)) {
          this.isRefused = true;
          break;
        }
        const isGone = failures >= 3;
        this.changes?.connection(isGone ? "gone" : "reconnecting", isGone ? "Server gone" : "Reconnecting…");
        await pause(Math.min(8, 0.5 * 2 ** failures));
      }
    }
    this.changes?.connection("gone", refusalText);
    return null;
  }

  /**
   * @param {number} venue
   * @param {number} map
   */
  planAddress(venue, map) {
    return address("plan", { venue, map });
  }

  /**
   * @param {number} venue
   * @param {number} map
   * @param {number} level
   * @param {number} column
   * @param {number} row
   */
  tileAddress(venue, map, level, column, row) {
    return address("tile", { venue, map, level, column, row });
  }

  /** @param {{mapId: number, x: number, y: number}} place */
  mark(place) {
    return submitMark(place);
  }
}
