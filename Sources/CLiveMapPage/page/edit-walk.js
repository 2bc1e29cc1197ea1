// @ts-check
/** The panel of the walk: drawing, files, and the simulation with its figures. */
import { byId, make, setText } from "./dom.js";
import { entered, Simulation } from "./edit-simulation.js";
import { clockTime, counted, metres, number, percent } from "./format.js";
import { writeJSON } from "./json-source.js";
import { recall, remember } from "./memory.js";
import { withFields } from "./venue-values.js";
import { dividedByFloors, lengthOf, readWalk, usualSpeed, walkOf, walkText, withWalk } from "./venue-walk.js";

/** The largest seed: larger whole numbers aren't exact in JavaScript. */
const largestSeed = Number.MAX_SAFE_INTEGER;

export class WalkPanel extends Simulation {
  /** @param {import("./edit-app.js").EditApp} app */
  constructor(app) {
    super(app, "walk");
    /** The walk that the tab has stored. @type {any} */
    this.kept = undefined;
    const actions = {
      "walk-draw": () => {
        app.select(null);
        app.tools.choose("walk");
        byId("plan").focus();
      },
      "walk-export": () => this.export(),
      "walk-open": () => byId("walk-file").click(),
      "walk-remove": () => this.remove(),
    };
    for (const [id, act] of Object.entries(actions)) byId(id).addEventListener("click", act);
    byId("walk-file").addEventListener("change", () => this.open());
    byId("walk-speed").addEventListener("change", () => {
      const speed = entered("walk-speed", 0.1, 10, false);
      const walk = walkOf(app.document);
      if (speed !== null && speed !== (walk.speed ?? usualSpeed)) {
        app.change(withWalk(app.document, withFields(walk, { speed })), "Change the walk's speed");
      }
    });
  }

  /** The name of the walk in the store of the tab. */
  get key() { return `walk ${this.app.overview.title}`; }

  /**
   * Returns the walk that the tab has stored before the page was loaded again; undefined without one. Floors that weren't
   * saved are lost, and with them their points.
   */
  recalled() {
    const text = recall(this.key, "sessionStorage");
    try {
      return text ? dividedByFloors(readWalk(text), this.app.history.document).walk : undefined;
    } catch {
      return undefined;
    }
  }

  show() {
    const { document } = this.app.history;
    const walk = walkOf(document);
    if (walk !== this.kept && walk.points.length + (this.kept?.points.length ?? 0) > 0) {
      this.kept = walk;
      remember(this.key, walk.points.length > 0 ? walkText(walk) : "", "sessionStorage");
    }
    const count = walk.points.length;
    const floors = new Set(walk.points.map((/** @type {any} */ one) => one.mapId)).size;
    setText(byId("walk-text"), count === 0 ? "There is no walk yet."
      : `${counted(count, "point")} on ${counted(floors, "floor")}, ${number(lengthOf(walk), 1)}\u00a0m.`);
    for (const id of ["walk-run", "walk-export", "walk-remove"]) byId(id).disabled = count === 0;
    const speed = byId("walk-speed");
    const shown = String(walk.speed ?? usualSpeed);
    if (speed !== window.document.activeElement && speed.value !== shown) {
      speed.value = shown;
      // The message of the replaced text no longer applies.
      entered("walk-speed", 0.1, 10, false);
    }
    byId("walk-old").hidden = this.result === null || this.isPresent;
  }

  /** Whether the result belongs to the present venue and walk. */
  get isPresent() {
    return super.isPresent && walkOf(this.result?.document) === walkOf(this.app.history.document);
  }

  async run() {
    const seed = entered("walk-seed", 0, largestSeed, true);
    if (seed === null || entered("walk-speed", 0.1, 10, false) === null) return;
    if (this.app.tools.draft?.kind === "walk") this.app.tools.finish();
    const { document } = this.app.history;
    if (walkOf(document).points.length === 0) return;
    const body = JSON.stringify({
      document: writeJSON(document, this.app.stored.text), walk: walkText(walkOf(document)), seed });
    if (!await this.request(document, {}, body)) return;
    this.list(this.result?.content);
    this.app.showPanels();
  }

  /** @param {any} content */
  list(content) {
    const { figures } = content;
    const share = (/** @type {number|null} */ value) => (value === null ? "—" : percent(value));
    const facts = [
      ["Duration", `${clockTime(content.seconds)}, seed ${content.seed}`], ["Mean error", metres(figures.mean, 2)],
      ["Median error", metres(figures.median, 2)], ["90 % of the errors", metres(figures.p90, 2)],
      ["Within the radius", share(figures.insideRadius)], ["On the right floor", share(figures.floor)],
      ["With a position", share(figures.answered)],
    ];
    byId("walk-figures").replaceChildren(...facts.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)]));
    byId("walk-result").hidden = false;
    byId("walk-crossings").replaceChildren(...content.wallCrossings.map((/** @type {any} */ one) => make(
      "li", {}, `The way to point ${one.point + 1} crosses ${counted(one.walls, "wall")}: add points at the doors.`)));
  }

  // Files

  export() {
    const walk = walkOf(this.app.document);
    const url = URL.createObjectURL(new Blob([walkText(walk)], { type: "application/json" }));
    make("a", { href: url, download: "walk.json" }).click();
    // The browser reads the file after this turn.
    setTimeout(() => URL.revokeObjectURL(url), 60000);
    this.app.say("walk.json is for 'indoorloc simulate --path'.");
  }

  async open() {
    const [file] = byId("walk-file").files;
    byId("walk-file").value = "";
    if (!file) return;
    try {
      const { walk, lost } = dividedByFloors(readWalk(await file.text()), this.app.document);
      if (lost.length > 0) {
        throw new Error(`The venue has no floor with the id ${lost[0].mapId}, on which the walk has a point.`);
      }
      this.app.select(null);
      this.app.change(withWalk(this.app.document, walk), `Open ${file.name}`);
      this.app.say(`${file.name} is shown.`);
    } catch (error) {
      this.app.say(String(/** @type {any} */ (error).message));
    }
  }

  remove() {
    this.stop("");
    this.result = null;
    byId("walk-result").hidden = true;
    this.app.select(null);
    this.app.change(withWalk(this.app.document, undefined), "Remove the walk");
    this.app.say("The walk was removed. Ctrl+Z undoes it.");
  }
}
