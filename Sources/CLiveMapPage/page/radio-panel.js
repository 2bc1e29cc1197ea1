// @ts-check
import { byId, make } from "./dom.js";
import { beaconName, number, signed } from "./format.js";
import { bounds, hatch } from "./layer-radio-map.js";
import { readPalette, scaleColor } from "./palette.js";

const quantities = [["expected", "Expected RSSI", "dBm"], ["deviation", "Deviation", "dB"]];

/** The choice of a beacon of a radio map, the legend of its heat map and the table of its residuals. */
export class RadioPanel {
  /**
   * @param {any} radioMap
   * @param {any} scene
   * @param {() => void} changed
   */
  constructor(radioMap, scene, changed) {
    this.radioMap = radioMap;
    this.scene = scene;
    this.changed = changed;
    const root = byId("radio");
    root.hidden = false;
    this.beacons = make("select", { id: "radio-beacon", onchange: () => this.choose() }, ...radioMap.beacons.map(
      (/** @type {any} */ beacon, /** @type {number} */ index) => make("option", { value: index }, optionText(beacon))));
    this.quantity = make("select", { id: "radio-quantity", onchange: () => this.choose() }, ...quantities.map(
      ([value, text]) => make("option", { value }, text)));
    this.identity = make("p", { class: "note" });
    this.findings = make("ul", { id: "beacon-findings", "aria-live": "polite" });
    this.summary = make("p", { id: "residual-summary" });
    this.body = make("tbody");
    this.table = make("div", { class: "scroller" }, make("table", {}, make("thead", {}, make(
      "tr", {}, ...["Survey point", "Measured", "Predicted", "Residual"].map((text) => make("th", { scope: "col" }, text)))),
      this.body));
    root.replaceChildren(
      make("label", {}, "Beacon", this.beacons), make("label", {}, "Heat map", this.quantity), this.identity,
      this.findings, ...this.advice(),
      make("h2", {}, "Leave-one-out residuals"), this.summary, this.table);
    this.choose();
  }

  /** Returns the list of what the survey is missing; empty without a survey. */
  advice() {
    const advice = this.radioMap.advice;
    if (!advice) return [];
    return [make("h2", { id: "advice-title" }, "What this survey is missing"), advice.length === 0
      ? make("p", { id: "advice" }, "The review of the survey found no gap, no suspicious beacon and no contradiction.")
      : make("ul", { id: "advice", "aria-labelledby": "advice-title" }, ...advice.map(
        (/** @type {string} */ sentence) => make("li", {}, sentence)))];
  }

  choose() {
    this.scene.beacon = Math.max(0, this.beacons.selectedIndex);
    this.scene.quantity = this.quantity.value;
    this.identity.textContent = this.radioMap.beacons[this.scene.beacon]?.id ?? "The radio map has no beacons.";
    this.findings.replaceChildren(...(this.radioMap.beacons[this.scene.beacon]?.findings ?? []).map(
      (/** @type {string} */ sentence) => make("li", {}, sentence)));
    this.findings.hidden = this.findings.childElementCount === 0;
    this.fillResiduals();
    this.drawLegend();
    this.changed();
  }

  fillResiduals() {
    const residuals = this.radioMap.residuals.filter((/** @type {any} */ one) => one.beacon === this.scene.beacon);
    this.table.hidden = residuals.length === 0;
    const differences = residuals.map((/** @type {any} */ one) => one.rssi - one.predicted);
    const mean = meanOf(differences);
    const square = meanOf(differences.map((/** @type {number} */ one) => one * one));
    this.summary.textContent = residuals.length === 0
      ? "The radio map has no residuals of this beacon."
      : `Mean ${signed(mean, 1)} dB, root mean square ${number(Math.sqrt(square), 1)} dB, ${residuals.length} points`;
    this.body.replaceChildren(...residuals.map((/** @type {any} */ one) => {
      const point = this.radioMap.survey[one.point];
      const place = point ? `${number(point.x, 1)} m, ${number(point.y, 1)} m` : String(one.point);
      return make("tr", {}, make("td", {}, place), make("td", {}, number(one.rssi)), make("td", {}, number(one.predicted)),
        make("td", {}, signed(one.rssi - one.predicted)));
    }));
  }

  /** Returns the legend of the gaps; empty without a gap. */
  gapLegend() {
    if (!(this.radioMap.surveyGaps?.length > 0)) return [];
    const sample = make("canvas", { class: "sample", width: 36, height: 16 });
    hatch(sample.getContext("2d"), 0, 0, 36, 16, readPalette(document.documentElement));
    return [make("div", { class: "sampled" }, sample, "No survey point nearby")];
  }

  drawLegend() {
    const [name, text, unit] = quantities.find(([value]) => value === this.scene.quantity) ?? quantities[0];
    const [low, high] = bounds[/** @type {"expected"} */ (name)];
    const legend = byId("legend");
    legend.hidden = false;
    fillLegend(legend, `${text} (${unit})`, [low, (low + high) / 2, high]);
    legend.append(...this.gapLegend());
  }
}

/**
 * Shows a scale of colours with its values.
 * @param {HTMLElement} legend
 * @param {string} text
 * @param {number[]} values from the left to the right
 * @param {boolean} [isReversed] whether low values have the colours of high ones
 * @param {string} [mark] what precedes the last value
 */
export function fillLegend(legend, text, values, isReversed = false, mark = "") {
  const canvas = make("canvas", { width: 200, height: 1 });
  const context = canvas.getContext("2d");
  for (let x = 0; x < 200; x++) {
    const [red, green, blue] = scaleColor(isReversed ? 1 - x / 199 : x / 199);
    context.fillStyle = `rgb(${red} ${green} ${blue})`;
    context.fillRect(x, 0, 1, 1);
  }
  legend.replaceChildren(make("div", {}, text), canvas, make("div", { class: "names" }, ...values.map((value, index) => make(
    "span", {}, (index === values.length - 1 ? mark : "") + number(value, Number.isInteger(value) ? 0 : 1)))));
}

/** @param {any} beacon */
function optionText(beacon) {
  const name = beaconName(beacon.id);
  return beacon.findings?.length > 0 ? `! ${name}: suspicious` : name;
}

/** @param {number[]} values */
function meanOf(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
