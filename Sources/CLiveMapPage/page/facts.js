// @ts-check
import { byId, make, setText } from "./dom.js";
import { beaconName, clockTime, courseName, metres, number, percent } from "./format.js";
import { stateKind } from "./palette.js";

/** The seconds between two announcements of a position to a screen reader. */
const quietSeconds = 8;

/** The facts of a frame as text: for everyone a list, for a screen reader a sentence. */
export class Facts {
  constructor() {
    this.list = byId("facts-list");
    this.spoken = byId("facts-text");
    this.lastState = "";
    this.spokenAt = 0;
    /** @type {string} */
    this.key = "";
  }

  /**
   * @param {any} frame
   * @param {any} venue
   * @param {number} start the instant that is shown as 0:00
   * @param {number} t the instant that the page shows, at or after the frame's
   * @param {boolean} isStill whether the page stays at this instant
   */
  show(frame, venue, start, t, isStill) {
    setText(byId("state-text"), frame.text);
    byId("state-dot").hidden = false;
    byId("state-dot").dataset.kind = stateKind(frame.state);
    const facts = factsOf(frame, venue, t - start);
    const key = facts.map(([name]) => name).join();
    if (key !== this.key) {
      this.key = key;
      this.list.replaceChildren(...facts.flatMap(([name]) => [make("dt", {}, name), make("dd")]));
    }
    const values = this.list.querySelectorAll("dd");
    facts.forEach(([, value], index) => setText(values[index], value));
    this.speak(frame, facts, isStill);
  }

  /**
   * Announces a new state and the place where the user has stopped at once, and a new position from time to time.
   * @param {any} frame
   * @param {[string, string][]} facts
   * @param {boolean} isStill
   */
  speak(frame, facts, isStill) {
    const now = performance.now() / 1000;
    if (!isStill && frame.text === this.lastState && now - this.spokenAt < quietSeconds) return;
    this.lastState = frame.text;
    this.spokenAt = now;
    const sentence = facts.map(([name, value]) => `${name}: ${value}`).join(". ");
    setText(this.spoken, `${frame.text.replace(/\.$/, "")}. ${sentence}.`);
  }

  /**
   * Shows what a page without a session has.
   * @param {string} text
   * @param {[string, string][]} facts
   */
  showOther(text, facts) {
    setText(byId("state-text"), text);
    byId("state-dot").hidden = true;
    this.key = "";
    this.list.replaceChildren(...facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
    setText(this.spoken, `${text}. ${facts.map(([name, value]) => `${name}: ${value}`).join(". ")}.`);
  }
}

/**
 * Returns names and values.
 * @param {any} frame
 * @param {any} venue
 * @param {number} time
 * @returns {[string, string][]}
 */
function factsOf(frame, venue, time) {
  /** @type {[string, string][]} */
  const facts = [];
  const estimate = frame.estimate;
  const mapName = (/** @type {number} */ id) => {
    return venue?.maps.find((/** @type {any} */ map) => map.id === id)?.name ?? `map ${id}`;
  };
  const place = (/** @type {any} */ one) => `${number(one.x, 1)}\u00a0m, ${number(one.y, 1)}\u00a0m`;
  if (estimate) {
    facts.push(["Position", place(estimate)]);
    const certainty = typeof estimate.floorCertainty === "number" ? ` (${percent(estimate.floorCertainty)})` : "";
    facts.push(["Floor", mapName(estimate.mapId) + certainty]);
    facts.push(["Room", estimate.label ?? "—"]);
    facts.push(["68\u00a0% radius", metres(estimate.radius)]);
    const degrees = estimate.course;
    const course = typeof degrees === "number" ? `${Math.round(degrees)}° (${courseName(degrees)})` : "—";
    const speed = typeof estimate.speed === "number" ? `, ${number(estimate.speed, 1)}\u00a0m/s` : "";
    facts.push(["Course", course + speed]);
  } else {
    facts.push(["Position", "none"]);
    if (typeof frame.mapId === "number") facts.push(["Floor", mapName(frame.mapId)]);
  }
  if (frame.truth) {
    facts.push(["Ground truth", `${place(frame.truth)}, ${mapName(frame.truth.mapId)}`]);
    facts.push(["Error", errorText(frame)]);
  }
  const nearest = [...(frame.beacons ?? [])].sort((a, b) => b.rssi - a.rssi).slice(0, 3);
  if (nearest.length > 0) {
    const names = nearest.map((one) => `${beaconName(one.id)}\u00a0(${number(one.rssi)}\u00a0dBm)`);
    facts.push(["Strongest beacons", names.join(", ")]);
  }
  const age = estimate ? frame.t - estimate.t : 0;
  if (age > 2) facts.push(["Age of the estimate", `${Math.round(age)}\u00a0s`]);
  facts.push(["Time", clockTime(time)]);
  return facts;
}

/**
 * Returns the error of a frame in words: a length, or that the estimate is on another floor than the ground truth.
 * @param {any} frame
 */
export function errorText(frame) {
  if (typeof frame?.error === "number") return metres(frame.error);
  return frame?.estimate && frame.truth && frame.estimate.mapId !== frame.truth.mapId ? "Wrong floor" : "—";
}

/** Shows why there is no position. */
export class DiagnosisCard {
  constructor() {
    this.root = byId("diagnosis");
    this.key = "";
  }

  /** @param {any} diagnosis null while there is a position */
  show(diagnosis) {
    const key = diagnosis ? JSON.stringify(diagnosis) : "";
    if (key === this.key) return;
    this.key = key;
    this.root.hidden = !diagnosis;
    this.root.replaceChildren();
    if (!diagnosis) return;
    this.root.dataset.reason = diagnosis.reason;
    this.root.append(make("h2", {}, "Why there is no position"), make("p", {}, diagnosis.text));
    if (diagnosis.help) this.root.append(make("p", {}, diagnosis.help));
    if (diagnosis.beacons?.length > 0) {
      this.root.append(make("ul", {}, ...diagnosis.beacons.map((/** @type {string} */ id) => make("li", {}, id))));
    }
  }
}
