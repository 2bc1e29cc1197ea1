// @ts-check
/** What an editor draws of simulations: the walk, its truth and the estimated positions, and proposed beacons. */
import { drawLabel, traceTrail } from "./layer-venue.js";
import { walkOf } from "./venue-walk.js";

/**
 * Draws the walk that the user has drawn, and the line to the shape that continues it.
 * @param {import("./plan.js").Pass} pass
 * @param {{document: any, selected: any, draft: any, pointer: number[]|null, tool: string}} edited
 */
export function drawWalk(pass, { document, selected, draft, pointer, tool }) {
  const { points } = walkOf(document);
  const mapId = pass.scene.map.id;
  line(pass, points, pass.palette.route, 2, [2, 4]);
  const chosen = selected?.kind === "walk" ? selected.index : -1;
  const before = points[chosen < 0 ? points.length - 1 : chosen];
  const next = draft?.kind === "walk" ? draft.corners[0] : pointer;
  if (tool === "walk" && before?.mapId === mapId && next) {
    line(pass, [before, { mapId, x: next[0], y: next[1] }], pass.palette.accent, 2, [6, 4]);
  }
  const { context, view, palette } = pass;
  points.forEach((/** @type {any} */ one, /** @type {number} */ index) => {
    if (one.mapId !== mapId) return;
    const [x, y] = view.toScreen(one.x, one.y);
    context.beginPath();
    context.arc(x, y, index === chosen ? 11 : 9, 0, 2 * Math.PI);
    context.fillStyle = index === chosen ? palette.accent : palette.halo;
    context.fill();
    context.strokeStyle = index === chosen ? palette.halo : palette.route;
    context.lineWidth = 2;
    context.stroke();
    context.fillStyle = index === chosen ? palette.halo : palette.text;
    context.font = "600 11px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(String(index + 1), x, y + 0.5);
  });
}

/**
 * Draws the truth of a simulated walk, and the estimated positions.
 * @param {import("./plan.js").Pass} pass
 * @param {any} result
 */
export function drawSimulatedWalk(pass, result) {
  line(pass, result.truth, pass.palette.truth, 3, []);
  line(pass, result.positions, pass.palette.halo, 5, []);
  line(pass, result.positions, pass.palette.estimate, 2.5, []);
}

/**
 * Draws a line along places of the shown map.
 * @param {import("./plan.js").Pass} pass
 * @param {any[]} places
 * @param {string} color
 * @param {number} width
 * @param {number[]} dash
 */
function line(pass, places, color, width, dash) {
  const { context } = pass;
  traceTrail(pass, places);
  context.lineJoin = "round";
  context.strokeStyle = color;
  context.lineWidth = width;
  context.setLineDash(dash);
  context.stroke();
  context.setLineDash([]);
}

/**
 * Draws the places of proposed beacons with their numbers.
 * @param {import("./plan.js").Pass} pass
 * @param {{mapId: number, x: number, y: number, number: number}[]} proposals
 */
export function drawProposals(pass, proposals) {
  const { context, view, palette, scene } = pass;
  for (const one of proposals) {
    if (one.mapId !== scene.map.id) continue;
    const [x, y] = view.toScreen(one.x, one.y);
    context.fillStyle = palette.halo;
    context.strokeStyle = palette.bad;
    context.lineWidth = 2;
    context.setLineDash([3, 2]);
    context.beginPath();
    context.rect(x - 7, y - 7, 14, 14);
    context.fill();
    context.stroke();
    context.setLineDash([]);
    drawLabel(pass, String(one.number), x, y, { color: palette.bad, size: 11, weight: 700 });
  }
}
