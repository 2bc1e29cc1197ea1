// @ts-check
import { isRefusal, pause, request } from "./api.js";

/** The number of parts of a time that are loaded on their own, and the shortest part in seconds. */
const partCount = 24, shortestPart = 120;
/** The seconds of which a long time has one position of each tag: about this share of the time. */
const longTime = 7200, instants = 1440;
/** The positions of a request, and those that the page keeps, about. */
const pageSize = 10000, mostKept = 300000;
/** The seconds for which a tag is shown after its last position: one that stands has a position each minute. */
const standing = 90;
/** The longest time between two positions between which a tag moves on a straight line, in seconds. */
const moving = 15;

/**
 * Adds the seconds since 1970 to a stored position.
 * @param {any} position
 */
function timed(position) {
  position.t = Date.parse(position.time) / 1000;
  return position;
}

/** The positions of tags in a time of the past, which are loaded in parts around the instant that the page shows. */
export class TagPast {
  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed;
    /** The positions of each tag in each loaded part, by the part's number. @type {Map<number, Map<string, any[]>>} */
    this.parts = new Map();
    this.start = 0;
    this.end = 0;
    this.length = shortestPart;
    this.step = 0;
    /** @type {Record<string, string>} */
    this.filter = {};
    this.wanted = 0;
    /** A number that differs for each time and filter. */
    this.run = 0;
    this.isLoading = false;
    /** The reason why the positions can't be loaded; empty without one. */
    this.problem = "";
  }

  /**
   * Begins another time; `want` loads it.
   * @param {number} start seconds since 1970
   * @param {number} end
   * @param {Record<string, string>} filter the parameters room and tag
   */
  open(start, end, filter) {
    Object.assign(this, { start, end, filter, problem: "", isLoading: false });
    this.run++;
    this.parts = new Map();
    const span = end - start;
    this.length = Math.max(shortestPart, Math.ceil(span / partCount));
    this.step = span > longTime ? Math.ceil(span / instants) : 0;
  }

  /** The number of parts. */
  get count() { return Math.max(1, Math.ceil((this.end - this.start) / this.length)); }

  /** The seconds for which a tag is shown after a position. */
  get hold() { return Math.max(standing, 2 * this.step); }

  /** @param {number} t */
  partOf(t) { return Math.min(this.count - 1, Math.max(0, Math.floor((t - this.start) / this.length))); }

  /**
   * Whether the positions of an instant are loaded.
   * @param {number} t
   */
  holds(t) { return this.parts.has(this.partOf(t)); }

  /**
   * Asks for the positions around an instant.
   * @param {number} t
   */
  want(t) {
    this.wanted = this.partOf(t);
    if (!this.isLoading && this.problem === "") void this.load();
  }

  /** Returns the part to load next: that of the instant first, then those behind it; null if they are loaded. */
  next() {
    for (const step of [0, 1, -1, 2, 3]) {
      const part = this.wanted + step;
      if (part >= 0 && part < this.count && !this.parts.has(part)) return part;
    }
    return null;
  }

  async load() {
    const run = this.run;
    this.isLoading = true;
    for (let part = this.next(); part !== null; part = this.next()) {
      try {
        const tags = await this.loadPart(part, run);
        if (run !== this.run) return;
        this.parts.set(part, tags);
        this.forgetFar();
      } catch (error) {
        if (run !== this.run) return;
        this.problem = isRefusal(error) ? "Not authorized" : `The positions can't be loaded: ${error}`;
        this.isLoading = false;
        this.changed();
        if (isRefusal(error)) return;
        await pause(2);
        if (run !== this.run) return;
        this.problem = "";
        this.isLoading = true;
      }
      this.changed();
    }
    this.isLoading = false;
    this.changed();
  }

  /**
   * @param {number} part
   * @param {number} run
   */
  async loadPart(part, run) {
    const from = this.start + part * this.length;
    const query = {
      ...this.filter, from: timeOf(from), to: timeOf(Math.min(this.end, from + this.length)), limit: pageSize,
      ...(this.step > 0 ? { step: this.step } : {}),
    };
    /** @type {Map<string, any[]>} */
    const tags = new Map();
    for (let after; ;) {
      const answer = await request("history/positions", after === undefined ? query : { ...query, after });
      for (const position of answer.positions) {
        const known = tags.get(position.tag);
        if (known) known.push(timed(position));
        else tags.set(position.tag, [timed(position)]);
      }
      after = answer.next;
      if (after === undefined || run !== this.run) return tags;
    }
  }

  /** Forgets the parts that are the furthest from the wanted one while there are too many positions. */
  forgetFar() {
    const far = [...this.parts.keys()].sort((a, b) => Math.abs(b - this.wanted) - Math.abs(a - this.wanted));
    const sizeOf = (/** @type {number} */ part) => {
      let size = 0;
      for (const positions of this.parts.get(part)?.values() ?? []) size += positions.length;
      return size;
    };
    let kept = far.reduce((sum, part) => sum + sizeOf(part), 0);
    for (const part of far) {
      if (kept <= mostKept || Math.abs(part - this.wanted) <= 3) return;
      kept -= sizeOf(part);
      this.parts.delete(part);
    }
  }

  /**
   * Returns the tags at an instant by their keys, as the page of tags shows them.
   * @param {number} t
   * @returns {Map<string, any>}
   */
  at(t) {
    const part = this.partOf(t);
    const parts = [part - 1, part, part + 1].map((number) => this.parts.get(number));
    const found = new Map();
    for (const key of new Set([...(parts[0]?.keys() ?? []), ...(parts[1]?.keys() ?? [])])) {
      const [last, next] = around(parts.map((one) => one?.get(key) ?? []), t);
      if (!last || t - last.t > this.hold) continue;
      found.set(key, {
        tag: key, name: last.name, shown: last.name ?? key, present: true,
        position: { ...between(last, next, t, Math.max(moving, 1.5 * this.step)), label: last.room },
      });
    }
    return found;
  }

  /**
   * Returns the loaded positions of a tag in a time.
   * @param {string} key
   * @param {number} from
   * @param {number} to
   */
  track(key, from, to) {
    const found = [];
    for (const part of [...this.parts.keys()].sort((a, b) => a - b)) {
      for (const position of this.parts.get(part)?.get(key) ?? []) {
        if (position.t >= from && position.t <= to) found.push(position);
      }
    }
    return found;
  }
}

/**
 * Returns the last position up to an instant and the one behind it.
 * @param {any[][]} lists in order of time
 * @param {number} t
 * @returns {[any, any]}
 */
function around(lists, t) {
  let last;
  for (const list of lists) {
    let [low, high] = [0, list.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (list[middle].t <= t) low = middle + 1;
      else high = middle;
    }
    if (low > 0) last = list[low - 1];
    if (low < list.length) return [last, list[low]];
  }
  return [last, undefined];
}

/**
 * @param {any} last
 * @param {any} next
 * @param {number} t
 * @param {number} longest the seconds up to which the tag moves on a straight line
 */
function between(last, next, t, longest) {
  if (!next || next.mapId !== last.mapId || next.t - last.t > longest) return last;
  const fraction = (t - last.t) / (next.t - last.t);
  const mix = (/** @type {"x"|"y"|"radius"} */ name) => last[name] + (next[name] - last[name]) * fraction;
  return { ...last, x: mix("x"), y: mix("y"), radius: mix("radius") };
}

/**
 * Returns an instant as the server reads it.
 * @param {number} t seconds since 1970
 */
export function timeOf(t) { return new Date(Math.round(t * 1000)).toISOString(); }
