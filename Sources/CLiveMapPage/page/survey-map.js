// @ts-check
import { post, request } from "./api.js";
import { byId, make, say, setText } from "./dom.js";
import { counted, metres, percent } from "./format.js";
import { traceGap } from "./layer-venue.js";
import { fillMap } from "./survey-panel.js";

/** The largest number of rooms of a floor in the list. */
const mostRooms = 30;

/** The radio map that the server learns from the walks of a survey, and where walks are missing. */
export class SurveyMap {
  /**
   * @param {import("./survey-walks.js").SurveyPage} page
   * @param {(answer: any) => void} used called with the server's answer to a change
   */
  constructor(page, used) {
    this.page = page;
    this.used = used;
    /** The beginning of a sentence about what uses the packet. */
    this.user = page.tag === undefined ? "The session uses" : "The tags use";
    fillMap(byId("survey-map"));
    /** What the server has learned; null before its answer. @type {any} */
    this.state = null;
    /** What the walks have not reached on the shown map. @type {any} */
    this.coverage = null;
    /** The map and the marks to which the coverage belongs. */
    this.coverageKey = "";
    for (const action of ["learn", "adopt", "takeBack"]) {
      byId(`map-${action}`).addEventListener("click", () => this.act(action));
    }
    byId("gap-show").addEventListener("change", () => page.plan.invalidate(page.layer));
  }

  /** Whether the plan shows where walks are missing. */
  get showsGaps() { return /** @type {HTMLInputElement} */ (byId("gap-show")).checked && !this.page.isPast; }

  /** Shows where walks are missing, as a person begins to walk. */
  showGaps() { /** @type {HTMLInputElement} */ (byId("gap-show")).checked = true; }

  /** @param {string} action */
  async act(action) {
    const answer = await post("survey/map", { action });
    if (answer.problem !== null) return say(answer.problem);
    this.used(answer.content);
  }

  /**
   * Uses an answer of the server.
   * @param {any} answer
   */
  use(answer) {
    this.state = answer.map ?? null;
    const map = this.page.plan.scene.map?.id ?? null;
    const marks = answer.walks.map((/** @type {any} */ one) => `${one.file} ${one.marks.length}`).join();
    this.loadCoverage(map, `${map} ${marks} ${this.state?.figures?.walks} ${this.state?.learning?.done > 0}`);
    this.show();
  }

  /**
   * @param {number|null} map
   * @param {string} key
   */
  async loadCoverage(map, key) {
    if (map === null || key === this.coverageKey) return;
    this.coverageKey = key;
    try {
      const coverage = await request("survey/gaps", { map });
      if (key !== this.coverageKey) return;
      const gaps = coverage.gaps.map((/** @type {any} */ gap) => ({ ...gap, cells: gap.cells.flat() }));
      this.coverage = { ...coverage, gaps, map };
      this.page.plan.invalidate(this.page.layer);
      this.show();
    } catch {
      // The next answer of the server begins another attempt.
      this.coverageKey = "";
    }
  }

  show() {
    const { state } = this;
    byId("survey-map").hidden = state === null || this.page.isPast;
    if (state === null) return;
    const { learning, figures } = state;
    setText(byId("map-state"), learning
      ? `Learning from the walks: step ${learning.done} of ${learning.steps}.`
      : figures ? `Learned from ${counted(figures.walks, "walk")}, ${duration(figures.seconds)}.`
        : "No radio map was learned yet. It begins when a walk ends.");
    setText(byId("map-errors"), figures ? errorText(figures, state.fewestWalks, this.page.tag === undefined) : "");
    setText(byId("map-problem"), state.problem ?? "");
    setText(byId("map-edition"), state.changing ? `${this.user} the packet’s other edition soon.`
      : `${this.user} edition ${state.edition} of the packet${state.previous !== undefined ? ", with a radio map of walks" : ""}.`);
    const adopt = /** @type {HTMLButtonElement} */ (byId("map-adopt"));
    adopt.hidden = !figures || state.adopted;
    adopt.disabled = state.changing;
    const back = /** @type {HTMLButtonElement} */ (byId("map-takeBack"));
    back.hidden = state.previous === undefined;
    back.disabled = state.changing;
    setText(back, `Take back edition ${state.previous}`);
    this.showCoverage();
  }

  showCoverage() {
    const { coverage } = this;
    // Figures of another floor aren't shown until the server answers for this one.
    if (coverage === null || coverage.map !== this.page.plan.scene.map?.id) return setText(byId("gap-note"), "");
    const area = coverage.gaps.reduce((/** @type {number} */ sum, /** @type {any} */ gap) => sum + gap.area, 0);
    setText(byId("gap-note"), area > 0
      ? `${Math.round(area)} m² of this floor are farther than ${coverage.distance} m from all walks.`
      : `No place of this floor is farther than ${coverage.distance} m from all walks.`);
    /** The names of the rooms of each map. @type {Map<number, string[]>} */
    const rooms = new Map();
    for (const { name, mapId } of coverage.unvisitedRooms) rooms.set(mapId, [...(rooms.get(mapId) ?? []), name]);
    byId("unvisited").hidden = rooms.size === 0;
    const lines = [...rooms].map(([mapId, names]) => {
      const rest = names.length > mostRooms ? `, and ${names.length - mostRooms} more` : "";
      return `${this.page.mapName(mapId)}: ${names.slice(0, mostRooms).join(", ")}${rest}`;
    });
    byId("unvisited-list").replaceChildren(...lines.map((line) => make("li", {}, line)));
  }
}

/** @param {number} seconds */
function duration(seconds) {
  return seconds < 120 ? `${seconds} s of recording` : `${Math.round(seconds / 60)} min of recording`;
}

/**
 * Returns the errors without and with the map in words.
 * @param {any} figures
 * @param {number} fewest the number of walks from which they are known
 * @param {boolean} isDevice whether people carried the device of the server
 */
function errorText(figures, fewest, isDevice) {
  const { before, after, judged, points, walks } = figures;
  if (walks < fewest) return `It can’t be judged yet: at least ${fewest} walks with two marks are needed.`;
  if (!after) return `It can’t be judged: ${isDevice ? "the device had no" : "no tag had a"} position on the right floor during the walks.`;
  const from = (/** @type {string} */ name) => (before ? `${metres(before[name])} → ` : "") + metres(after[name]);
  const floors = (before?.rightFloor ?? 1) < 1 || after.rightFloor < 1
    ? ` Right floor ${before ? `${percent(before.rightFloor)} → ` : ""}${percent(after.rightFloor)}.` : "";
  return `Mean error ${from("mean")}, median ${from("median")}, at ${counted(points, "place")} of ${judged < walks ? `${judged} of ${walks} ` : ""}walks that were left out.${floors}`;
}

/**
 * Shades where walks are missing.
 * @param {any} pass
 * @param {SurveyMap} survey
 */
export function drawGaps(pass, survey) {
  const { context, scene, palette } = pass;
  if (!survey.showsGaps || survey.coverage === null || survey.coverage.map !== scene.map.id) return;
  context.fillStyle = palette.bad;
  context.globalAlpha = 0.18;
  context.beginPath();
  for (const gap of survey.coverage.gaps) traceGap(pass, gap.cells, gap.cellSize);
  context.fill();
  context.globalAlpha = 1;
}
