// @ts-check
/** What an editor draws over the plan: beacons, the selected object with its handles, and the shape being drawn. */
import { edgesOf } from "./edit-geometry.js";
import { drawLabel } from "./layer-venue.js";
import { hasCorners, isOnMap, objectAt, objectsOn, shapeAt, titleOf } from "./venue-objects.js";

/**
 * The state of an editor that is drawn.
 * @typedef {{
 *   document: any, selected: import("./venue-objects.js").Reference|null, corner: number|null,
 *   draft: {kind: string, corners: number[][]}|null, pointer: number[]|null, isSnapped: boolean,
 *   faulty: Set<any>,
 * }} Edited
 */

/**
 * @param {import("./plan.js").Pass} pass
 * @param {Edited} edited
 */
export function drawEditing(pass, edited) {
  const { scene } = pass;
  for (const reference of objectsOn(edited.document, scene.map.id)) {
    const one = objectAt(edited.document, reference);
    if (reference.kind === "beacon") drawBeacon(pass, edited, reference);
    if (edited.faulty.has(one)) drawFault(pass, shapeAt(edited.document, reference)[0]);
  }
  if (edited.selected && isOnMap(edited.document, edited.selected, scene.map)) drawSelected(pass, edited, edited.selected);
  if (edited.draft) drawDraft(pass, edited, edited.draft);
  if (edited.pointer && edited.isSnapped) drawRing(pass, edited.pointer);
}

/**
 * @param {import("./plan.js").Pass} pass
 * @param {Edited} edited
 * @param {import("./venue-objects.js").Reference} reference
 */
function drawBeacon(pass, { document, selected }, reference) {
  const { context, view, palette } = pass;
  const [[mx, my]] = shapeAt(document, reference);
  const [x, y] = view.toScreen(mx, my);
  const isChosen = selected?.kind === "beacon" && selected.index === reference.index;
  const half = isChosen ? 8 : 5.5;
  context.fillStyle = isChosen ? palette.accent : palette.halo;
  context.strokeStyle = isChosen ? palette.halo : palette.beacon;
  context.lineWidth = 2;
  context.fillRect(x - half, y - half, 2 * half, 2 * half);
  context.strokeRect(x - half, y - half, 2 * half, 2 * half);
  if (isChosen || view.scale > 22) {
    const color = isChosen ? palette.text : palette.beacon;
    drawLabel(pass, titleOf(document, reference), x, y + half + 9, { color, size: 11, weight: isChosen ? 600 : 400 });
  }
}

/**
 * @param {import("./plan.js").Pass} pass
 * @param {number[]} place
 */
function drawFault(pass, place) {
  const [x, y] = pass.view.toScreen(place[0], place[1]);
  drawLabel(pass, "!", x + 13, y - 9, { color: pass.palette.bad, size: 18, weight: 700 });
}

/**
 * @param {import("./plan.js").Pass} pass
 * @param {Edited} edited
 * @param {import("./venue-objects.js").Reference} reference
 */
function drawSelected(pass, { document, corner }, reference) {
  const { context, view, palette } = pass;
  context.strokeStyle = palette.accent;
  context.lineWidth = 3;
  context.lineJoin = "round";
  if (!hasCorners(document, reference)) {
    if (reference.kind === "beacon") return;
    const [[mx, my]] = shapeAt(document, reference);
    const [x, y] = view.toScreen(mx, my);
    context.beginPath();
    context.arc(x, y, Math.max(4, (Number(objectAt(document, reference).radius) || 0) * view.scale), 0, 2 * Math.PI);
    context.stroke();
    return;
  }
  const edges = edgesOf(document, reference);
  context.beginPath();
  for (const [[ax, ay], [bx, by]] of edges) {
    context.moveTo(...view.toScreen(ax, ay));
    context.lineTo(...view.toScreen(bx, by));
  }
  context.stroke();
  context.lineWidth = 2;
  context.fillStyle = palette.halo;
  for (const [[ax, ay], [bx, by]] of edges) {
    if (Math.hypot(bx - ax, by - ay) * view.scale > 40) drawDot(pass, [(ax + bx) / 2, (ay + by) / 2], 3.5);
  }
  shapeAt(document, reference).forEach((place, index) => {
    context.fillStyle = index === corner ? palette.accent : palette.halo;
    drawDot(pass, place, index === corner ? 7 : 6);
  });
}

/**
 * @param {import("./plan.js").Pass} pass
 * @param {number[]} place
 * @param {number} radius
 */
function drawDot({ context, view }, place, radius) {
  context.beginPath();
  context.arc(...view.toScreen(place[0], place[1]), radius, 0, 2 * Math.PI);
  context.fill();
  context.stroke();
}

/**
 * @param {import("./plan.js").Pass} pass
 * @param {Edited} edited
 * @param {{kind: string, corners: number[][]}} draft
 */
function drawDraft(pass, { pointer }, draft) {
  const { context, view, palette } = pass;
  const all = pointer ? [...draft.corners, pointer] : draft.corners;
  if (all.length === 0) return;
  context.beginPath();
  all.forEach(([x, y], index) => {
    if (index === 0) context.moveTo(...view.toScreen(x, y));
    else context.lineTo(...view.toScreen(x, y));
  });
  if (draft.kind === "room") {
    context.globalAlpha = 0.18;
    context.fillStyle = palette.accent;
    context.fill();
    context.globalAlpha = 1;
  }
  context.strokeStyle = palette.accent;
  context.lineWidth = draft.kind === "wall" ? 3 : 2;
  context.setLineDash([6, 4]);
  context.stroke();
  context.setLineDash([]);
  context.fillStyle = palette.halo;
  context.lineWidth = 2;
  draft.corners.forEach((place, index) => drawDot(pass, place, index === 0 ? 7 : 5));
}

/**
 * @param {import("./plan.js").Pass} pass
 * @param {number[]} place
 */
function drawRing({ context, view, palette }, place) {
  context.strokeStyle = palette.accent;
  context.lineWidth = 2;
  context.beginPath();
  context.arc(...view.toScreen(place[0], place[1]), 10, 0, 2 * Math.PI);
  context.stroke();
}
