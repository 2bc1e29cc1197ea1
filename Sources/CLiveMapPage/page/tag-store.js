// @ts-check
import { address, isRefusal, pause, refusalText, request } from "./api.js";

/** The seconds before another attempt after a failure. */
const retryPause = 2;
/** The milliseconds between two requests of the receivers' latest messages. */
const receiverPause = 5000;
/** The number of the latest events of alerts, and of the alerts that last. */
const mostAlerts = 100, mostActive = 1000;
/** The number of tags of a request. */
const pageSize = 10000;

/**
 * The states of all tags and receivers, which follow the server.
 *
 * A tag is the object of the server, with its name in lower case for the search.
 */
export class TagStore {
  /**
   * @param {{changed: () => void, tag: (tag: any) => void, removed: (key: string) => void,
   *   connection: (state: string, text: string) => void}} reports
   */
  constructor(reports) {
    this.reports = reports;
    /** @type {Map<string, any>} */
    this.tags = new Map();
    /** @type {Map<string, any>} */
    this.receivers = new Map();
    /** The gateways without a receiver; undefined if the server doesn't know. @type {any[]|undefined} */
    this.unknownGateways = undefined;
    /** The tags of the register without a state, by key. @type {Map<string, any>} */
    this.unlocated = new Map();
    /** Whether the server has rules of alerts. */
    this.hasAlerts = false;
    /** Whether tags have trained rooms instead of positions. */
    this.hasRooms = false;
    /** The alerts that last, the oldest first, their number, and the latest events, the newest first. @type {any} */
    this.alerts = { activeCount: 0, active: [], latest: [] };
    /** @type {any} */
    this.renewal = undefined;
    /** The run of the server, whose changes are numbered. */
    this.run = "";
    /**
     * The time of the fleet, in milliseconds since 1970, when the steady clock of this page began, at least. The clock of the day
     * may be set at any time.
     */
    this.origin = -Infinity;
    /** @type {EventSource|null} */
    this.stream = null;
  }

  /** The time of the fleet in milliseconds since 1970: that of this device, unless the fleet is ahead of it. */
  get now() { return Math.max(Date.now(), this.origin + performance.now()); }

  /**
   * Notes a time that the fleet has reached.
   * @param {number} time in milliseconds since 1970
   */
  reach(time) { this.origin = Math.max(this.origin, time - performance.now()); }

  /** Loads all states, then follows the changes; tries again after a failure. */
  async start() {
    for (;;) {
      this.reports.connection("connecting", "Connecting");
      try {
        return this.follow(await this.load());
      } catch (error) {
        this.reports.connection("gone", isRefusal(error) ? refusalText : "No server");
        await pause(retryPause);
      }
    }
  }

  /** Requests all pages. Returns the change after which the stream begins. */
  async load() {
    const tags = new Map();
    let change = "";
    for (let after = null, isLast = false; !isLast;) {
      const page = await request("tags", after === null ? { limit: pageSize } : { limit: pageSize, after });
      // The changes since the first page come with the stream.
      if (after === null) change = page.change;
      for (const tag of page.tags) tags.set(tag.tag, this.prepared(tag));
      after = page.next;
      isLast = after === undefined;
    }
    await this.loadReceivers();
    await this.loadUnlocated();
    if (this.hasAlerts) this.alerts = await request("alerts");
    this.tags = tags;
    this.run = change.slice(0, change.lastIndexOf("-"));
    this.reports.changed();
    return change;
  }

  async loadReceivers() {
    const { receivers, unknown } = await request("receivers");
    this.receivers = new Map(receivers.map((/** @type {any} */ one) => [one.id, one]));
    this.unknownGateways = unknown;
    const times = [...receivers, ...(unknown ?? [])].map((one) => Date.parse(one.lastMessage)).filter(Number.isFinite);
    for (const time of times) this.reach(time);
  }

  /** Requests the tags of the register that have no state. */
  async loadUnlocated() {
    const { tags } = await request("register", { located: false });
    this.unlocated = new Map(tags.map((/** @type {any} */ one) => [one.tag, named({
      ...one, present: false, registered: true, unlocated: true,
      at: one.lastReading === undefined ? NaN : Date.parse(one.lastReading),
    })]));
  }

  /** Whether the server has a register. */
  get hasRegister() {
    if (this.unlocated.size > 0) return true;
    for (const tag of this.tags.values()) return tag.registered !== undefined;
    return false;
  }

  /**
   * Returns a tag, or an entry of the register without a state; null without both.
   * @param {string|null} key
   */
  tag(key) { return key === null ? null : this.tags.get(key) ?? this.unlocated.get(key) ?? null; }

  /** Requests again what the stream doesn't contain: the receivers' latest messages, and the tags without a state. */
  async renewReceivers() {
    if (document.hidden || this.stream?.readyState !== EventSource.OPEN) return;
    try {
      await this.loadReceivers();
      await this.loadUnlocated();
      if (this.hasAlerts) this.alerts = await request("alerts");
      this.reports.changed();
    } catch {
      // The stream reports a server that is gone.
    }
  }

  /** @param {string} change */
  follow(change) {
    this.renewal ??= setInterval(() => this.renewReceivers(), receiverPause);
    this.stream?.close();
    const stream = new EventSource(address("stream", { after: change }));
    this.stream = stream;
    const listen = (/** @type {string} */ name, /** @type {(data: any) => void} */ act) => {
      stream.addEventListener(name, (event) => {
        const id = event.lastEventId;
        if (id !== "" && id.slice(0, id.lastIndexOf("-")) !== this.run) return this.restart();
        act(JSON.parse(event.data));
      });
    };
    stream.addEventListener("open", () => this.reports.connection("connected", "Live"));
    stream.addEventListener("error", () => {
      if (stream.readyState !== EventSource.CLOSED) return this.reports.connection("reconnecting", "Reconnecting");
      // The browser doesn't connect again after an answer such as 401.
      this.restart(retryPause);
    });
    listen("tags", (data) => {
      for (const tag of data.tags) {
        this.tags.set(tag.tag, this.prepared(tag));
        this.unlocated.delete(tag.tag);
        this.reports.tag(tag);
      }
      this.reports.changed();
    });
    listen("removed", (data) => {
      this.tags.delete(data.tag);
      this.reports.removed(data.tag);
      this.reports.changed();
    });
    listen("alert", (data) => {
      const { activeCount, active, latest } = this.alerts;
      const isKnown = latest.some((/** @type {any} */ one) => one.id === data.id);
      if (isKnown) return;
      const others = active.filter((/** @type {any} */ one) => one.alert !== data.alert);
      const isListed = others.length < active.length;
      this.alerts = { activeCount, active, latest: [data, ...latest].slice(0, mostAlerts) };
      if (data.state === "cleared") {
        this.alerts.activeCount = Math.max(others.length, activeCount - 1);
        this.alerts.active = others;
      } else if (data.state === "raised" && !isListed) {
        this.alerts.activeCount = activeCount + 1;
        this.alerts.active = [...active, data].slice(-mostActive);
      }
      this.reports.changed();
    });
    listen("receiver", (data) => {
      this.receivers.set(data.id, data);
      this.reports.changed();
    });
  }

  /** Begins anew, as after a restart of the server, whose tags may be others, or after a loss of events. */
  async restart(seconds = 0) {
    this.stream?.close();
    this.stream = null;
    if (seconds > 0) {
      this.reports.connection("reconnecting", "Reconnecting");
      await pause(seconds);
    }
    await this.start();
  }

  /** @param {any} tag */
  prepared(tag) {
    const last = Date.parse(tag.time);
    this.reach(last);
    // A tag that is away was there until its last position.
    const place = tag.position ?? tag.room;
    tag.at = tag.present || !place ? last : Date.parse(place.time);
    return named(tag);
  }

  /**
   * Returns the tags whose key, name or room contains a text: those that are present first, then those that are away,
   * then those that were never located; of these those with a name first, in order of their names and keys.
   * @param {string} text
   * @returns {any[]}
   */
  matching(text) {
    const words = text.trim().toLowerCase();
    const found = [];
    for (const tag of [...this.tags.values(), ...this.unlocated.values()]) {
      if (words !== "" && !tag.words.includes(words) && !roomOf(tag).toLowerCase().includes(words)) continue;
      found.push(tag);
    }
    return found.sort((a, b) => Number(b.present) - Number(a.present)
      || Number(a.unlocated ?? false) - Number(b.unlocated ?? false) || compare(a, b));
  }
}

/**
 * Adds to a tag its name for display and the words of the search.
 * @param {any} tag
 */
function named(tag) {
  tag.shown = tag.name ?? tag.tag;
  tag.words = `${tag.name ?? ""} ${tag.tag}`.toLowerCase();
  return tag;
}

const order = new Intl.Collator(undefined, { numeric: true });

/**
 * Compares names as a reader does, with numbers by their value, and keys by their characters, as they are hexadecimal.
 * @param {any} a
 * @param {any} b
 */
export function compare(a, b) {
  if (a.name !== undefined && b.name !== undefined) return order.compare(a.name, b.name);
  if (a.name !== undefined || b.name !== undefined) return a.name !== undefined ? -1 : 1;
  return a.tag < b.tag ? -1 : 1;
}

/**
 * Returns the name of a tag's room; empty if it is away or in none.
 * @param {any} tag
 */
export function roomOf(tag) {
  return tag.present ? tag.position?.label ?? tag.room?.label ?? "" : "";
}
