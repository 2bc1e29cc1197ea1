// @ts-check
/** The panel of the expected errors: a heat map, figures of each floor, and proposed beacons. */
import { byId, make, setText } from "./dom.js";
import { entered, Simulation } from "./edit-simulation.js";
import { counted, metres, number, percent } from "./format.js";
import { writeJSON } from "./json-source.js";
import { heatOfValues } from "./layer-radio-map.js";
import { fillLegend } from "./radio-panel.js";
import { added } from "./venue-objects.js";
import { listOf } from "./venue-values.js";

/** The largest error in metres on the scale of colours, as in the drawing of `indoorloc plot coverage`. */
const most = 12;

export class Coverage extends Simulation {
  /** @param {import("./edit-app.js").EditApp} app */
  constructor(app) {
    super(app, "coverage");
    /** The heat maps by floor. @type {Map<number, {grid: any, canvas: HTMLCanvasElement}>} */
    this.heats = new Map();
    byId("simulate").addEventListener("click", () => this.open());
    byId("coverage-shown").addEventListener("change", () => this.draw());
    byId("simulation").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.pressed(event));
    byId("proposals-add").addEventListener("click", () => this.add(this.proposals.filter((one) => !this.isAdded(one))));
  }

  /** Opens the panel, and simulates if there is no result of the present venue. */
  open() {
    const panel = byId("simulation");
    panel.open = true;
    panel.scrollIntoView({ block: "start" });
    byId("coverage-run").focus({ preventScroll: true });
    if (!this.running && !this.isPresent) this.run();
  }

  /**
   * Enter in a field starts its simulation, anew if it runs. Escape leaves the panel.
   * @param {KeyboardEvent} event
   */
  pressed(event) {
    const { target } = event;
    if (event.key === "Escape") byId("plan").focus();
    else if (event.key === "Enter" && target instanceof HTMLInputElement) {
      // What was typed counts.
      target.dispatchEvent(new Event("change"));
      const panel = target.id.startsWith("walk") ? this.app.walkPanel : this;
      panel.stop("");
      panel.run();
    } else return;
    event.preventDefault();
  }

  /**
   * The proposed beacons with their numbers.
   * @returns {any[]}
   */
  get proposals() {
    return listOf(this.result?.content.proposedBeacons).map((one, index) => ({ ...one, number: index + 1 }));
  }

  /**
   * Whether the document has a beacon at a proposed place.
   * @param {any} place
   */
  isAdded(place) {
    return listOf(this.app.document.beacons).some(
      (one) => one?.mapId === place.mapId && one.x === place.x && one.y === place.y);
  }

  async run() {
    const target = entered("coverage-target", 0.1, 1000, false);
    const beacons = entered("coverage-beacons", 0, 50, true);
    if (target === null || beacons === null) return;
    const { document } = this.app.history;
    if (!await this.request(document, { target, beacons }, writeJSON(document, this.app.stored.text))) return;
    byId("coverage-result").hidden = false;
    this.draw();
    this.app.showPanels();
  }

  /** Draws the heat map, and lists the figures. */
  draw() {
    const { content } = /** @type {any} */ (this.result);
    const shown = byId("coverage-shown").value;
    const key = shown === "heard" ? "detectedBeacons" : "errors";
    const highest = Math.max(0, ...content.maps.map((/** @type {any} */ grid) => (
      grid[key].reduce((/** @type {number} */ high, /** @type {number|null} */ value) => Math.max(high, value ?? 0), 0))));
    const high = shown === "heard" ? Math.max(1, Math.ceil(highest)) : Math.min(most, Math.max(2, Math.ceil(highest)));
    this.heats = new Map(shown === "" ? [] : content.maps.map((/** @type {any} */ grid) => {
      const fractions = grid.errors.map((/** @type {number|null} */ error, /** @type {number} */ index) => (
        error === null ? NaN : shown === "heard" ? grid.detectedBeacons[index] / high : 1 - error / high));
      return [grid.mapId, { grid, canvas: heatOfValues(grid.columns, grid.rows, fractions) }];
    }));
    byId("legend").hidden = shown === "";
    const isCut = shown === "error" && highest > high;
    fillLegend(byId("legend"), shown === "heard" ? "Received beacons" : "Expected 68 % error (m)",
      [0, high / 2, high], shown !== "heard", isCut ? "≥\u00a0" : "");
    this.list();
    const { plan } = this.app;
    plan.scene.heats = this.heats;
    plan.refit();
  }

  list() {
    const { content } = /** @type {any} */ (this.result);
    const names = new Map(this.app.plan.scene.venue.maps.map((/** @type {any} */ map) => [map.id, map.name]));
    const shares = content.summaries[0]?.shares ?? [];
    const row = (/** @type {string} */ cell, /** @type {string[]} */ texts, /** @type {any} */ properties = {}) => (
      make("tr", {}, ...texts.map((text) => make(cell, properties, text))));
    byId("coverage-floors").replaceChildren(
      make("caption", { class: "note" }, "Expected 68 % error, and the share of the walkable area where it is within each limit"),
      make("thead", {}, row("th", ["Floor", "Mean", "Median", ...shares.map(
        (/** @type {any} */ one) => `≤\u00a0${number(one.error, Number.isInteger(one.error) ? 0 : 2)}\u00a0m`)], { scope: "col" })),
      make("tbody", {}, ...content.summaries.map((/** @type {any} */ one, /** @type {number} */ index) => row("td", [
        names.get(one.mapId) ?? `Map ${one.mapId}`, metres(content.maps[index].meanError, 2), metres(one.medianError, 2),
        ...one.shares.map((/** @type {any} */ share) => (share.share === undefined ? "—" : percent(share.share)))]))));
    const unknown = content.summaries.filter((/** @type {any} */ one) => !one.isInsideKnown);
    const cell = content.maps.map((/** @type {any} */ grid) => grid.cellSize).reduce((/** @type {number} */ a, /** @type {number} */ b) => Math.max(a, b), 0);
    const notes = [
      ...(listOf(this.app.document.beacons).length === 0 ? ["The venue has no beacons yet."] : []),
      ...unknown.map((/** @type {any} */ one) => `${names.get(one.mapId)}: nothing says where the inside of the building is, `
        + "so that the whole plan counts. Draw rooms, walls or walkable areas."),
      ...content.maps.flatMap((/** @type {any} */ grid) => (grid.meanError === undefined
        ? [`${names.get(grid.mapId)}: no place is walkable. Draw rooms or a walkable area.`] : [])),
      `Computed for cells of ${number(cell, 2)}\u00a0m.`,
    ];
    byId("coverage-notes").replaceChildren(...notes.map((text) => make("li", {}, text)));
    this.rows = this.proposals.map((one) => {
      const button = make("button", {
        type: "button", "aria-label": `Add proposed beacon ${one.number}`, onclick: () => this.add([one]) }, "Add");
      const name = `${names.get(one.mapId)}: ${number(one.x, 1)}\u00a0m, ${number(one.y, 1)}\u00a0m`;
      return {
        one, button, item: make("li", {}, make("button", { type: "button", class: "place", onclick: () => this.reveal(one) }, name,
          make("span", { class: "note" }, `mean error ${metres(one.meanError, 2)} with it`)), button),
      };
    });
    byId("proposals").replaceChildren(...this.rows.map(({ item }) => item));
    byId("proposals-title").hidden = this.rows.length === 0;
  }

  /** Shows whether the result is out of date, and which proposals were added. */
  show() {
    if (!this.result) return;
    byId("coverage-old").hidden = this.isPresent;
    for (const { one, button } of this.rows ?? []) {
      button.disabled = this.isAdded(one);
      setText(button, button.disabled ? "Added" : "Add");
    }
    byId("proposals-add").hidden = this.proposals.filter((one) => !this.isAdded(one)).length < 2;
  }

  /** @param {any} place */
  reveal(place) {
    if (this.app.plan.scene.map?.id !== place.mapId) this.app.chooseMap(place.mapId);
    this.app.plan.show(place.x, place.y, place.x, place.y);
  }

  /**
   * Adds beacons at proposed places in one step.
   * @param {any[]} places
   */
  add(places) {
    let { document } = this.app;
    for (const { mapId, x, y } of places) ({ document } = added(document, "beacon", mapId, [[x, y]]));
    this.app.change(document, `Add ${counted(places.length, "proposed beacon")}`);
    this.app.say(`${counted(places.length, "beacon")} added. Ctrl+Z undoes it.`);
  }
}
