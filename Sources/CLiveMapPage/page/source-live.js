// @ts-check
import { address, request, submitMark } from "./api.js";
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
    this.store = new FrameStore({ capacity: 4000, particleBudget: 8e6 });
    this.loaded = null;
    /** @type {EventSource|null} */
    this.stream = null;
    this.lastHeard = performance.now();
    /** When the connection was lost; null while there is one. @type {number|null} */
    this.lostAt = null;
    this.hasHistory = false;
    this.retry = 0;
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
    this.stream?.close();
    const stream = new EventSource(address("stream"));
    this.stream = stream;
    if (this.lostAt === null) this.changes?.connection("connecting", "Connecting…");
    else this.changes?.connection("reconnecting", "Reconnecting…");
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
    if (last && frame.t < last.t - 1) {
      this.store.clear();
      this.events = [];
      this.changes?.events();
    }
    this.store.focus = frame.t;
    this.store.add([frame]);
    if (!this.hasHistory) void this.loadHistory(frame.t);
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
      const [past, events] = await Promise.all([
        request("frames", { from: Math.max(0, t - 120), to: t, limit: 1000 }), request("events"),
      ]);
      this.store.add(past.frames);
      const known = new Set(events.events.map((one) => one.id));
      this.events = [...events.events, ...this.events.filter((one) => !known.has(one.id))].slice(-500);
      this.changes?.frames();
      this.changes?.events();
    } catch {
      // Without its past, the session is shown from now on.
    }
  }

  async renewOverview() {
    try {
      this.overview = await request("venue");
      this.changes?.overview(this.overview);
    } catch {
      // The next connection renews it.
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

  lose() {
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
    if (this.lostAt !== null) {
      this.lose();
      // The browser gives a stream up after an answer that is no stream, such as a proxy's "bad gateway".
      if (this.stream?.readyState === EventSource.CLOSED && now > this.retry) {
        this.retry = now + 2000;
        this.open();
        this.lose();
      }
    } else if (now - this.lastHeard > silence * 1000) {
      this.lastHeard = now;
      try {
        await request("health", {}, 5);
      } catch {
        this.lose();
        this.stream?.close();
      }
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
