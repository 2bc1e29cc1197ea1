// @ts-check
import { address, isRefusal, refusalText, request, submitMark } from "./api.js";
import { FrameStore } from "./frame-store.js";

/** The seconds of silence after which the page asks whether the server still runs. */
const silence = 15;
/** The seconds without a connection after which the page reports the server as gone. */
const patience = 8;

/** A running session on a server. The browser's EventSource resumes a lost stream after the last number it received. */
export class LiveSource {
  /** @param {any} overview */
  constructor(overview) {
    this.overview = overview;
    this.radioMap = null;
    /** @type {any[]} */
    this.events = [];
    this.store = new FrameStore({ capacity: 4000, detailBudget: 12e6 });
    this.loaded = null;
    /** @type {EventSource|null} */
    this.stream = null;
    this.lastHeard = performance.now();
    /** When the connection was lost; null while there is one. @type {number|null} */
    this.lostAt = null;
    this.hasHistory = false;
    this.retry = 0;
    this.isAsking = false;
    /** Whether the server has refused the page, which then requests nothing more. */
    this.isRefused = false;
    /** @type {import("./api.js").Changes|null} */
    this.changes = null;
  }

  /** @param {import("./api.js").Changes} changes */
  start(changes) {
    this.changes = changes;
    this.open();
    window.addEventListener("online", () => this.reopen());
    window.addEventListener("offline", () => this.lose());
    setInterval(() => void this.watch(), 1000);
  }

  open() {
    if (this.isRefused) return;
    // A stream that follows another one while the server answers, as for a new run, is no loss to report.
    if (this.lostAt !== null) this.changes?.connection("reconnecting", "Reconnecting…");
    else if (this.stream === null) this.changes?.connection("connecting", "Connecting…");
    this.stream?.close();
    const stream = new EventSource(address("stream"));
    this.stream = stream;
    stream.addEventListener("open", () => this.regain());
    stream.addEventListener("error", () => this.lose());
    stream.addEventListener("frame", (event) => this.receive(event, (frame) => this.addFrame(frame)));
    stream.addEventListener("event", (event) => this.receive(event, (one) => this.addEvent(one)));
    stream.addEventListener("overview", (event) => this.receive(event, () => void this.renewOverview()));
  }

  /**
   * @param {any} message
   * @param {(content: any) => void} use
   */
  receive(message, use) {
    this.lastHeard = performance.now();
    if (this.lostAt !== null) this.regain();
    use(message.data ? JSON.parse(message.data) : null);
  }

  /** @param {any} frame */
  addFrame(frame) {
    const last = this.store.last;
    // A session that was started anew begins with smaller numbers and times.
    if (last && frame.t < last.t - 1) this.clear();
    this.store.focus = frame.t;
    this.store.add([frame]);
    if (!this.hasHistory) void this.loadHistory(frame.t);
    this.changes?.frames();
  }

  /** Forgets the session. */
  clear() {
    this.store.clear();
    this.events = [];
    this.hasHistory = false;
    this.changes?.events();
    this.changes?.frames();
  }

  /** @param {any} event */
  addEvent(event) {
    if (this.events.some((one) => one.id === event.id)) return;
    this.events = [...this.events.slice(-499), event];
    this.changes?.events();
  }

  /**
   * Loads what happened before the page was opened.
   * @param {number} t
   */
  async loadHistory(t) {
    this.hasHistory = true;
    try {
      const run = this.overview.run;
      const [past, events] = await Promise.all([this.framesFrom(Math.max(0, t - 120), t), request("events")]);
      if (run !== this.overview.run) return;
      this.store.add(past);
      const known = new Set(events.events.map((one) => one.id));
      this.events = [...events.events, ...this.events.filter((one) => !known.has(one.id))].slice(-500);
      this.changes?.frames();
      this.changes?.events();
    } catch (error) {
      // Without its past, the session is shown from now on.
      if (isRefusal(error)) this.refuse();
    }
  }

  /**
   * Requests the frames of an interval, in as many answers as the server needs.
   * @param {number} start
   * @param {number} end
   */
  async framesFrom(start, end) {
    const frames = [];
    for (let from = start; ;) {
      const answer = await request("frames", { from, to: end, limit: 1000 });
      frames.push(...answer.frames);
      if (typeof answer.next !== "number" || answer.next <= from || answer.next > end) return frames;
      from = answer.next;
    }
  }

  async renewOverview() {
    try {
      const overview = await request("venue");
      const isNewRun = overview.run !== this.overview.run;
      this.overview = overview;
      this.changes?.overview(overview);
      if (!isNewRun) return;
      // A new run numbers its frames anew: a new stream resumes after none of them.
      this.clear();
      this.open();
    } catch (error) {
      // The next connection renews it.
      if (isRefusal(error)) this.refuse();
    }
  }

  regain() {
    const wasLost = this.lostAt !== null;
    this.lostAt = null;
    this.retry = 0;
    this.lastHeard = performance.now();
    this.changes?.connection("connected", "Connected");
    // A stream that the page opened anew has no number to resume after; the frames since then are requested.
    if (wasLost) this.hasHistory = false;
    if (wasLost) void this.renewOverview();
  }

  /** Stops all requests, which the server refuses. */
  refuse() {
    this.isRefused = true;
    this.lostAt ??= performance.now();
    this.stream?.close();
    this.changes?.connection("gone", refusalText);
  }

  lose() {
    if (this.isRefused) return;
    this.lostAt ??= performance.now();
    const isGone = performance.now() - this.lostAt > patience * 1000;
    this.changes?.connection(isGone ? "gone" : "reconnecting", isGone ? "Server gone" : "Reconnecting…");
  }

  reopen() {
    this.retry = 0;
    this.open();
  }

  /** Opens the stream anew if the browser has given it up, or if a silent server doesn't answer. */
  async watch() {
    const now = performance.now();
    if (this.isRefused) return;
    if (this.lostAt !== null) {
      this.lose();
      // The browser gives a stream up after an answer that is no stream, such as a proxy's "bad gateway".
      if (this.stream?.readyState === EventSource.CLOSED && now > this.retry && !this.isAsking) {
        this.isAsking = true;
        // A stream doesn't report why the server has refused it; another request does.
        if (await this.isServing()) {
          this.open();
          this.lose();
        }
        this.retry = performance.now() + 2000;
        this.isAsking = false;
      }
    } else if (now - this.lastHeard > silence * 1000) {
      this.lastHeard = now;
      if (await this.isServing()) return;
      this.lose();
      this.stream?.close();
    }
  }

  /** Returns whether the server answers; stops after a refusal. */
  async isServing() {
    try {
      await request("health", {}, 5);
      return true;
    } catch (error) {
      if (isRefusal(error)) this.refuse();
      return false;
    }
  }

  /** @param {number} _ */
  want(_) {}

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
