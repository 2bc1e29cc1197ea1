// @ts-check
import { bytesOf } from "./base64.js";
import { signed } from "./format.js";
import { claim, drawLabel, traceGap } from "./layer-venue.js";
import { scaleColor } from "./palette.js";

/** The bounds of a quantity's scale of colours: dBm for the expected RSSI, dB for the deviation. */
export const bounds = { expected: [-100, -45], deviation: [0, 10] };

/**
 * The last grid that was drawn, and its image.
 * @type {{value: {grid: any, quantity: string, canvas: HTMLCanvasElement}|null}}
 */
const cached = { value: null };

/**
 * Draws the survey points, and the residuals of the chosen beacon.
 * @param {import("./plan.js").Pass} pass
 */
export function drawSurveyPoints(pass) {
  if (pass.scene.layers.has("survey")) drawSurvey(pass);
  if (pass.scene.layers.has("residuals")) drawResiduals(pass);
}

/**
 * Draws the heat map of the chosen beacon, and the gaps of the survey.
 * @param {import("./plan.js").Pass} pass
 */
export function drawRadioMap(pass) {
  const { scene } = pass;
  const beacon = scene.radioMap.beacons[scene.beacon];
  const grid = beacon?.grids.find((/** @type {any} */ one) => one.mapId === scene.map.id);
  if (grid && scene.layers.has("heat")) drawHeat(pass, grid, heatOf(grid, scene.quantity));
  if (scene.layers.has("gaps")) drawGaps(pass);
}

/**
 * Draws the heat map of a grid.
 * @param {import("./plan.js").Pass} pass
 * @param {{cellSize: number, columns: number, rows: number}} grid
 * @param {HTMLCanvasElement} canvas a pixel for each cell
 */
export function drawHeat({ context, view, scene }, grid, canvas) {
  const [left, top] = view.toScreen(0, 0);
  context.save();
  context.beginPath();
  // The last cells may be partly beside the plan.
  context.rect(left, top, scene.map.width * view.scale, scene.map.height * view.scale);
  context.clip();
  context.imageSmoothingEnabled = false;
  context.globalAlpha = scene.map.hasImage ? 0.75 : 0.95;
  const size = grid.cellSize * view.scale;
  context.drawImage(canvas, left, top, grid.columns * size, grid.rows * size);
  context.restore();
}

/**
 * Returns the values of a grid; NaN where the beacon is not expected.
 * @param {any} grid
 * @param {string} quantity "expected" or "deviation"
 * @returns {number[]}
 */
export function valuesOf(grid, quantity) {
  const expected = new Int8Array(bytesOf(grid.expected));
  const deviation = quantity === "deviation" ? bytesOf(grid.deviation) : null;
  return Array.from(expected, (value, index) => (value === -128 ? NaN : deviation ? deviation[index] / 10 : value));
}

/**
 * @param {any} grid
 * @param {string} quantity
 */
function heatOf(grid, quantity) {
  const last = cached.value;
  if (last && last.grid === grid && last.quantity === quantity) return last.canvas;
  const [low, high] = bounds[/** @type {"expected"} */ (quantity)];
  const canvas = heatOfValues(
    grid.columns, grid.rows, valuesOf(grid, quantity).map((value) => (value - low) / (high - low)));
  cached.value = { grid, quantity, canvas };
  return canvas;
}

/**
 * Returns a canvas with a pixel for each cell.
 * @param {number} columns
 * @param {number} rows
 * @param {number[]} fractions the places of the values on the scale of colours, in [0, 1]; NaN for none
 */
export function heatOfValues(columns, rows, fractions) {
  const canvas = document.createElement("canvas");
  canvas.width = columns;
  canvas.height = rows;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = context.createImageData(columns, rows);
  fractions.forEach((value, index) => {
    if (!Number.isNaN(value)) image.data.set([...scaleColor(value), 255], 4 * index);
  });
  context.putImageData(image, 0, 0);
  return canvas;
}

/**
 * Draws the gaps of the survey with hatching, which differs from the colours of the heat map without hue.
 * @param {import("./plan.js").Pass} pass
 */
function drawGaps(pass) {
  const { context, scene, palette } = pass;
  for (const gap of scene.radioMap.surveyGaps ?? []) {
    if (gap.mapId !== scene.map.id) continue;
    context.save();
    context.beginPath();
    const [left, top, right, bottom] = traceGap(pass, gap.cells, gap.cellSize);
    context.clip();
    const { width, height } = context.canvas;
    hatch(context, Math.max(0, left), Math.max(0, top), Math.min(width, right), Math.min(height, bottom), palette);
    context.restore();
  }
}

/**
 * Draws the hatching of gaps in a rectangle.
 * @param {CanvasRenderingContext2D} context
 * @param {number} left
 * @param {number} top
 * @param {number} right
 * @param {number} bottom
 * @param {Record<string, string>} palette
 */
export function hatch(context, left, top, right, bottom, palette) {
  const distance = 14;
  context.beginPath();
  for (let sum = Math.ceil((left + top) / distance) * distance; sum < right + bottom; sum += distance) {
    context.moveTo(sum - top, top);
    context.lineTo(sum - bottom, bottom);
  }
  for (const [color, width] of /** @type {[string, number][]} */ ([[palette.halo, 3.5], [palette.bad, 1.5]])) {
    context.strokeStyle = color;
    context.lineWidth = width;
    context.stroke();
  }
}

/** @param {import("./plan.js").Pass} pass */
function drawSurvey({ context, view, scene, palette }) {
  for (const point of scene.radioMap.survey) {
    if (point.mapId !== scene.map.id) continue;
    const [x, y] = view.toScreen(point.x, point.y);
    context.beginPath();
    context.arc(x, y, 3.5, 0, 2 * Math.PI);
    context.fillStyle = palette.text;
    context.fill();
    context.lineWidth = 1.5;
    context.strokeStyle = palette.halo;
    context.stroke();
  }
}

/** @param {import("./plan.js").Pass} pass */
function drawResiduals(pass) {
  const { context, view, scene, palette } = pass;
  // Circles are smaller on a small plan, so that they cover each other less.
  const share = Math.min(1, Math.max(0.45, view.scale / 20));
  const labels = [];
  for (const residual of scene.radioMap.residuals) {
    if (residual.beacon !== scene.beacon) continue;
    const point = scene.radioMap.survey[residual.point];
    if (!point || point.mapId !== scene.map.id) continue;
    const [x, y] = view.toScreen(point.x, point.y);
    const difference = residual.rssi - residual.predicted;
    // The size and the sign show the difference without hue.
    context.beginPath();
    context.arc(x, y, share * (4 + Math.min(10, Math.abs(difference)) * 0.6), 0, 2 * Math.PI);
    context.fillStyle = difference >= 0 ? palette.route : palette.estimate;
    context.fill();
    context.lineWidth = 1.5;
    context.strokeStyle = palette.halo;
    context.stroke();
    labels.push({ text: signed(difference), x, y });
  }
  /** @type {number[][]} */
  const boxes = [];
  for (const { text, x, y } of labels) {
    const box = [x - 4.5 * text.length, y - 24, x + 4.5 * text.length, y - 8];
    if (claim(box, boxes)) drawLabel(pass, text, x, y - 16, { color: palette.text, size: 11, weight: 600 });
  }
}
