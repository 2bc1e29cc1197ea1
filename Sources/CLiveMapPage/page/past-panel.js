// @ts-check
import { address, request } from "./api.js";
import { byId, make, setText } from "./dom.js";
import { counted, dayTime } from "./format.js";
import { timeOf } from "./tag-past.js";

/** The number of rows of a list, and of the positions of a file. */
const mostRows = 100, mostExported = 100000;
/** The entries of a request, and those that the page keeps, about. */
const pageSize = 10000, mostEntries = 100000;
/** The longest wait in seconds: the server ends each of the queries after 20 s, and answers one after the other. */
const longestWait = 65;
/** The most parts of a time in which the tags are counted, and the shortest one: a tag that stands has a position each minute. */
const mostParts = 240, shortestPart = 60;

/**
 * Returns a duration such as "40 s", "12 min" or "3 h 5 min".
 * @param {number} seconds
 */
export function durationText(seconds) {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole}\u00a0s`;
  const minutes = Math.round(whole / 60);
  if (minutes < 60) return `${minutes}\u00a0min`;
  return `${Math.floor(minutes / 60)}\u00a0h` + (minutes % 60 > 0 ? ` ${minutes % 60}\u00a0min` : "");
}

/**
 * Returns the text of a field of a time: the date and the time of this device's zone.
 * @param {number} t seconds since 1970
 */
function fieldText(t) {
  const date = new Date(t * 1000);
  const two = (/** @type {number} */ value) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
    + `T${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** The panel of a time of the past: its fields, who was where, and for how long. */
export class PastPanel {
  /**
   * @param {{chosen: () => void, loaded: () => void, select: (visit: any) => void}} reports `chosen` after a change
   *   of the time, the room or the tag
   */
  constructor(reports) {
    this.reports = reports;
    this.start = 0;
    this.end = 0;
    /** The tags with a position in each part of the time. @type {number[]} */
    this.activity = [];
    /** The visits of the chosen tag or room, or all. @type {any[]} */
    this.visits = [];
    this.version = 0;
    /** Aborts the requests of an earlier choice, which the server answers one after the other. */
    this.control = new AbortController();
    for (const id of ["past-from", "past-to", "past-room", "past-tag"]) {
      byId(id).addEventListener("change", () => this.changed());
    }
    for (const button of /** @type {any} */ (document.querySelectorAll("#past-spans button"))) {
      button.addEventListener("click", () => this.chooseSpan(button.dataset.span));
    }
    byId("past-all").addEventListener("click", () => {
      byId("past-room").value = "";
      this.chooseTag("");
    });
  }

  /**
   * @param {string[]} rooms
   * @param {string[]} tags
   */
  setNames(rooms, tags) {
    const options = (/** @type {string[]} */ names) => names.map((name) => make("option", { value: name }, name));
    const chosen = byId("past-room").value;
    byId("past-room").replaceChildren(make("option", { value: "" }, "All rooms"), ...options(rooms));
    byId("past-room").value = chosen;
    byId("past-tags").replaceChildren(...options(tags));
  }

  /**
   * Chooses the last hour, the last 24 hours, or today.
   * @param {string} span
   */
  chooseSpan(span) {
    const now = Math.ceil(Date.now() / 1000);
    const midnight = new Date();
    midnight.setHours(0, 0, 0, 0);
    this.chooseTime(span === "today" ? Math.floor(midnight.getTime() / 1000) : now - Number(span), now);
  }

  /**
   * @param {number} start
   * @param {number} end
   */
  chooseTime(start, end) {
    byId("past-from").value = fieldText(start);
    byId("past-to").value = fieldText(end);
    this.changed();
  }

  /** @param {string} tag the name or the key; empty for all */
  chooseTag(tag) {
    byId("past-tag").value = tag;
    this.changed();
  }

  /** The name or the key of the chosen tag; empty for all. */
  get tag() { return byId("past-tag").value.trim(); }

  /** The parameters that select what is shown. @returns {Record<string, string>} */
  get filter() {
    const room = byId("past-room").value;
    return { ...(room ? { room } : {}), ...(this.tag ? { tag: this.tag } : {}) };
  }

  /** The parameters of a request. */
  get query() { return { ...this.filter, from: timeOf(this.start), to: timeOf(this.end) }; }

  changed() {
    const [start, end] = ["past-from", "past-to"].map((id) => new Date(byId(id).value).getTime() / 1000);
    if (!(start < end)) return this.note("The end must be after the beginning.");
    Object.assign(this, { start, end });
    this.reports.chosen();
    void this.load();
  }

  /** @param {string} text */
  note(text) { setText(byId("past-note"), text); }

  async load() {
    this.control.abort();
    const control = this.control = new AbortController();
    const filter = this.filter;
    this.note("Loading…");
    const parts = Math.max(1, Math.min(mostParts, Math.floor((this.end - this.start) / shortestPart)));
    try {
      const [activity, visits, rooms] = await Promise.all([
        request("history/activity", { ...this.query, parts }, longestWait, control),
        this.entries("history/visits", "visits", control),
        this.entries("history/dwell", "rooms", control),
      ]);
      if (control !== this.control) return;
      this.activity = activity.tags;
      this.visits = visits;
      this.version++;
      const count = activity.positions;
      this.note(count === 0 ? "No tag was located during this time." : counted(count, "position"));
      this.showVisits(visits);
      this.showDwell(rooms, filter);
      this.showExport(count);
      this.reports.loaded();
    } catch (error) {
      if (control === this.control) this.note(`The history can't be read: ${error instanceof Error ? error.message : error}`);
    }
  }

  /**
   * Returns the entries that the server answers in pages.
   * @param {string} path
   * @param {"visits"|"rooms"} name
   * @param {AbortController} control
   */
  async entries(path, name, control) {
    const query = { ...this.query, limit: pageSize };
    /** @type {any[]} */
    const entries = [];
    for (let after; ;) {
      const answer = await request(path, after === undefined ? query : { ...query, after }, longestWait, control);
      entries.push(...answer[name]);
      after = answer.next;
      if (after === undefined || entries.length >= mostEntries) return entries;
    }
  }

  /** The visits of the chosen tag as bars of the time line. */
  get bars() {
    if (this.tag === "") return [];
    return this.visits.map((visit) => ({
      room: visit.room, from: Date.parse(visit.start) / 1000, to: Date.parse(visit.end) / 1000,
    }));
  }

  /** @param {any[]} visits */
  showVisits(visits) {
    const shown = visits.slice(0, mostRows);
    byId("visit-list").replaceChildren(...shown.map((visit) => {
      const [from, to] = [Date.parse(visit.start) / 1000, Date.parse(visit.end) / 1000];
      const end = visit.open ? "now" : dayTime(to, from);
      return make("li", {}, make(
        "button", { type: "button", "data-tag": visit.tag, onclick: () => this.reports.select(visit) },
        make("span", { class: "name" }, visit.name ?? visit.tag),
        make("span", { class: "age" }, durationText(to - from)),
        make("span", { class: "place" }, `${visit.room}, ${dayTime(from, this.end)}\u2013${end}`)));
    }));
    const rest = visits.length - shown.length;
    const isCut = visits.length >= mostEntries;
    setText(byId("visit-more"), visits.length === 0 ? "No visits to a room."
      : rest === 0 ? "" : `${isCut ? "More than " : ""}${rest} more: choose a room, a tag or a shorter time.`);
    byId("visit-more").hidden = visits.length > 0 && rest === 0;
  }

  /**
   * @param {any[]} dwells
   * @param {Record<string, string>} filter
   */
  showDwell(dwells, filter) {
    // With a room, each row is a tag, and otherwise a room with all its tags.
    const byTag = filter.room !== undefined;
    /** @type {Map<string, {name: string, seconds: number, visits: number}>} */
    const sums = new Map();
    for (const dwell of dwells) {
      const key = byTag ? dwell.tag : dwell.room;
      const sum = sums.get(key) ?? { name: byTag ? dwell.name ?? dwell.tag : dwell.room, seconds: 0, visits: 0 };
      sum.seconds += dwell.seconds;
      sum.visits += dwell.visits;
      sums.set(key, sum);
    }
    const rows = [...sums.values()].sort((a, b) => b.seconds - a.seconds).slice(0, mostRows);
    byId("dwell").hidden = rows.length === 0;
    setText(byId("dwell-name"), byTag ? "Tag" : "Room");
    byId("dwell-rows").replaceChildren(...rows.map((row) => make(
      "tr", {}, make("td", {}, row.name), make("td", {}, String(row.visits)),
      make("td", {}, durationText(row.seconds)))));
  }

  /** @param {number} count */
  showExport(count) {
    const isPossible = count > 0 && count <= mostExported;
    for (const kind of ["csv", "geojson"]) {
      const link = byId(`past-${kind}`);
      if (isPossible) link.href = address(`history/positions.${kind}`, this.query);
      else link.removeAttribute("href");
    }
    byId("past-export").hidden = count === 0;
    byId("export-note").hidden = count <= mostExported;
    for (const kind of ["csv", "geojson"]) byId(`past-${kind}`).hidden = !isPossible;
  }
}
