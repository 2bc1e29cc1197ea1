// @ts-check
import { post, request } from "./api.js";
import { byId, say, setText } from "./dom.js";
import { counted } from "./format.js";
import { traceTrail } from "./layer-venue.js";
import { SurveyMap } from "./survey-map.js";
import { fillRooms, fillWalks } from "./survey-panel.js";

/** The milliseconds between two requests of the walks. */
const statePause = 2000;
/** The shortest time in milliseconds and way in metres between two marks of a drag. */
const dragPause = 1000, dragWay = 0.5;
/** The number of marks that wait for the server, and the seconds before another attempt and of the longest attempt. */
const mostWaiting = 50, retryPause = 2, longestAttempt = 10;
/** The milliseconds that the two clocks of a device differ after a time in which it didn't sleep, at most. */
const largestSkew = 1000;

/** The rooms of no venue. @type {any[]} */
const noRooms = [];

/**
 * The page of a survey.
 * - `plan`, `layer`: the plan, and the layer with the marks.
 * - `tag`: the key of the selected tag, null without one, and undefined if people carry the device of the server.
 * - `isShown`, `isPast`: whether people can walk, and whether the page shows the past.
 * - `mapOf`, `mapName`: return a map of the venue, and its name. `chooseMap` shows it.
 * - `rooms`: the rooms of the venue that have a shape.
 * - `marking`: called after each change of whether the plan is marked.
 * @typedef {{
 *   plan: import("./plan.js").Plan, layer: string, tag: string|null|undefined, isShown: boolean, isPast: boolean,
 *   mapOf: (id: number) => any, mapName: (id: number) => string, chooseMap: (id: number) => void, rooms: any[]|undefined,
 *   marking: (isMarked: boolean) => void,
 * }} SurveyPage
 */

/**
 * Returns the milliseconds since a time. The steady clock of most browsers stands still while a telephone sleeps, so the clock of the
 * day counts if it went on without the other one. If somebody has set that clock, a mark is only refused as too old.
 * @param {number} at the time by the steady clock
 * @param {number} wall the time by the clock of the day
 */
function elapsed(at, wall) {
  const steady = performance.now() - at, shown = Date.now() - wall;
  return shown > steady + largestSkew ? shown : steady;
}

/** A survey: people mark on the plan where they stand, and the server records what is heard. */
export class SurveyWalks {
  /**
   * @param {SurveyPage} page
   */
  constructor(page) {
    this.page = page;
    const isDevice = page.tag === undefined;
    fillWalks(byId("survey"), isDevice ? "h2" : "h3", isDevice ? "the device that is located here" : "this tag");
    this.map = new SurveyMap(page, (answer) => this.use(answer));
    this.isMarked = false;
    /** @type {any[]} */
    this.walks = [];
    /** Marks that the server doesn't have yet. @type {any[]} */
    this.waiting = [];
    /** What sends the waiting marks; null if nothing does. @type {Promise<void>|null} */
    this.sending = null;
    /** The files of the walks that this page started or continues. Others may carry the same tag. @type {Set<string>} */
    this.own = new Set();
    /** The number of marks of this page, and what tells them from those of other pages. */
    this.markCount = 0;
    this.pageID = Math.random().toString(36).slice(2);
    /** The time of a round trip in milliseconds, by this device's own watch. */
    this.roundTrip = 0;
    this.dragged = { at: -Infinity, x: NaN, y: NaN };
    /** The rooms in the list. */
    this.rooms = noRooms;
    byId("survey-room").addEventListener("submit", (/** @type {Event} */ event) => {
      event.preventDefault();
      this.markRoom(Number(byId("survey-room-name").value));
    });
    for (const action of ["start", "stop", "undo"]) {
      byId(`survey-${action}`).addEventListener("click", () => this.act(action));
    }
    byId("survey-continue").addEventListener("click", () => {
      if (this.walk) this.own.add(this.walk.file);
      this.show();
    });
    this.load();
    setInterval(() => this.load(), statePause);
  }

  /** The walk with the selected tag that runs; null without one. */
  get walk() {
    const { tag } = this.page;
    return this.walks.find((one) => one.running && one.tag === tag) ?? null;
  }

  /** The walk in which the plan is marked: one of this page, in the present; null without one. */
  get marked() {
    const { walk } = this;
    return walk !== null && this.own.has(walk.file) && !this.page.isPast ? walk : null;
  }

  /** What tests read. */
  get inspected() {
    return {
      walks: this.walks, waiting: this.waiting.length, map: this.map.state, coverage: this.map.coverage,
      showsGaps: this.map.showsGaps,
    };
  }

  async load() {
    if (document.hidden) return;
    try {
      this.use(await request("survey"));
    } catch {
      // The stream reports a server that is gone.
    }
  }

  /** @param {any} state */
  use(state) {
    this.walks = state.walks;
    this.map.use(state);
    this.page.plan.invalidate(this.page.layer);
    this.show();
  }

  /** @param {string} action */
  async act(action) {
    const { tag } = this.page;
    await this.sendWaiting();
    // The end of a walk would lose its waiting marks, and the mark to undo can be one of them.
    if (this.waiting.length > 0) return say("Your marks wait for the server. Try again when it answers.");
    const answer = await post("survey/walks", { action, tag });
    if (answer.problem !== null) return say(answer.problem);
    if (action === "start") {
      const started = answer.content.walks.find((/** @type {any} */ one) => one.running && one.tag === tag);
      if (started) this.own.add(started.file);
      this.map.showGaps();
    }
    this.use(answer.content);
  }

  /**
   * Marks that the carrier is at a place now.
   * @param {number} mapId
   * @param {number} x
   * @param {number} y
   */
  mark(mapId, x, y) {
    const map = this.page.mapOf(mapId);
    if (!map) return;
    const within = (/** @type {number} */ value, /** @type {number} */ size) => (
      Math.min(size, Math.max(0, Math.round(value * 100) / 100)));
    const place = { mapId, x: within(x, map.width), y: within(y, map.height) };
    this.add(place, place);
  }

  /**
   * Marks that the carrier is in the middle of a room now, and shows its floor.
   * @param {number} id
   */
  markRoom(id) {
    const room = this.rooms.find((one) => one.id === id);
    if (!room || !this.marked) return;
    if (room.mapId !== this.page.plan.scene.map?.id) this.page.chooseMap(room.mapId);
    // The server knows the middle of the room.
    this.add({ room: id }, { mapId: room.mapId, room: room.name });
  }

  /**
   * Sends a mark, and shows it before the server has it.
   * @param {any} place
   * @param {any} shown the mark until the server answers
   */
  add(place, shown) {
    const walk = this.marked;
    if (!walk) return;
    if (this.waiting.length >= mostWaiting) {
      return say(`The mark was not stored: ${mostWaiting} marks wait for the server.`);
    }
    this.markCount += 1;
    const id = `${this.pageID}-${this.markCount}`;
    this.waiting.push({ place: { tag: walk.tag, id, ...place }, at: performance.now(), wall: Date.now() });
    walk.marks.push(shown);
    this.page.plan.invalidate(this.page.layer);
    this.show();
    this.sendWaiting();
  }

  /**
   * Marks the places of a drag, at most one each second.
   * @param {number} mapId
   * @param {number} x
   * @param {number} y
   */
  drag(mapId, x, y) {
    const { at, x: lastX, y: lastY } = this.dragged;
    if (performance.now() - at < dragPause || Math.hypot(x - lastX, y - lastY) < dragWay) return;
    this.dragged = { at: performance.now(), x, y };
    this.mark(mapId, x, y);
  }

  /** Sends the waiting marks; returns when they are sent, or have to wait. */
  async sendWaiting() {
    if (this.waiting.length === 0) return;
    this.sending ??= this.sendAll().finally(() => { this.sending = null; });
    await this.sending;
  }

  /** Sends marks in their order. Their time is what has passed since the tap, as clocks of telephones can be wrong. */
  async sendAll() {
    let refused = 0;
    while (this.waiting.length > 0) {
      const { place, at, wall } = this.waiting[0];
      const start = performance.now();
      const delay = (elapsed(at, wall) + this.roundTrip / 2) / 1000;
      const answer = await post("survey/marks", { ...place, delay: Math.round(delay * 1000) / 1000 }, longestAttempt);
      // The mark can be stored all the same; the server knows it by its identifier.
      if (answer.status === 0 || answer.status >= 500) {
        say("Your marks wait for the server.");
        setTimeout(() => this.sendWaiting(), retryPause * 1000);
        return;
      }
      this.waiting.shift();
      if (answer.problem === null) {
        this.roundTrip = performance.now() - start;
        if (this.waiting.length === 0) this.use(answer.content);
      } else {
        refused += 1;
        say(`${refused === 1 ? "A mark was" : `${refused} marks were`} not stored: ${answer.problem}`);
        if (this.waiting.length === 0) this.load();
      }
    }
  }

  show() {
    this.map.show();
    const { walk, marked } = this;
    if (this.isMarked !== (marked !== null)) {
      this.isMarked = marked !== null;
      byId("plan").classList.toggle("marking", this.isMarked);
      this.page.marking(this.isMarked);
    }
    byId("survey").hidden = !this.page.isShown;
    byId("survey-start").hidden = walk !== null;
    byId("survey-continue").hidden = walk === null || marked !== null;
    byId("survey-stop").hidden = marked === null;
    byId("survey-undo").hidden = marked === null || marked.marks.length === 0;
    const rooms = this.page.rooms ?? noRooms;
    if (rooms !== this.rooms) {
      this.rooms = rooms;
      fillRooms(byId("survey-room-name"), rooms, this.page.mapOf);
    }
    byId("survey-room").hidden = marked === null || rooms.length === 0;
    const ended = this.walks.filter((one) => !one.running).length;
    const past = ended === 0 ? "" : `${counted(ended, "walk")} recorded. `;
    setText(byId("survey-state"), walk === null ? past
      : `${counted(walk.marks.length, "mark")}, ${counted(walk.readings, "reading")} of `
        + `${walk.beacons === undefined ? counted(walk.receivers, "receiver") : counted(walk.beacons, "beacon")}. ${walk.problem ?? this.hint(walk)}`);
  }

  /** @param {any} walk */
  hint(walk) {
    if (this.marked === null) return "Another page marks this walk.";
    if (walk.marks.length === 0) return "Tap the plan where you stand.";
    const { room } = walk.marks.at(-1);
    return room === undefined ? "Tap again where you turn or stop." : `The last one is in ${room}.`;
  }
}

/**
 * Draws the marks of walks: lines between the marks of a walk, and dots.
 * @param {any} pass
 * @param {any[]} walks
 */
export function drawWalks(pass, walks) {
  const { context, view, scene, palette } = pass;
  for (const walk of walks) {
    // The mark of a room has no place until the server answers.
    const marks = walk.marks.filter((/** @type {any} */ mark) => mark.x !== undefined);
    context.globalAlpha = walk.running ? 1 : 0.55;
    context.strokeStyle = context.fillStyle = palette.truth;
    context.lineWidth = 2;
    traceTrail(pass, marks);
    context.stroke();
    for (const mark of marks) {
      if (mark.mapId !== scene.map.id) continue;
      const [x, y] = view.toScreen(mark.x, mark.y);
      context.beginPath();
      context.arc(x, y, 4, 0, 2 * Math.PI);
      context.fill();
    }
  }
  context.globalAlpha = 1;
}
