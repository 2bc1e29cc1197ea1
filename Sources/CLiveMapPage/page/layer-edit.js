// @ts-check
/** What an editor draws over the plan: beacons, the selected object with its handles, and the shape being drawn. */
import { edgesOf } from "./edit-geometry.js";
import { claim, drawLabel, textBox } from "./layer-venue.js";
import { kindNamed } from "./venue-kinds.js";
import { handlesAt, hasCorners, isClosed, isOnMap, isSame, objectAt, objectsOn, radiusAt, shapeAt } from "./venue-objects.js";
import { titleOf } from "./venue-objects.js";

/**
 * The state of an editor that is drawn.
 * @typedef {{
 *   document: any, selected: import("./venue-objects.js").Reference|null, corner: number|null,
 *   draft: {kind: string, corners: number[][]}|null, pointer: number[]|null, isSnapped: boolean,
 *   faulty: Set<any>, isShown: (kind: string) => boolean, boxes: number[][],
 * }} Edited
 */

/** The pixels of a metre from which the names of points are shown. */
const namedFrom = 22;

/**
 * @param {import("./plan.js").Pass} pass
 * @param {Edited} edited `boxes` are the labels of the plan, which others must not cover
 */
export function drawEditing(pass, edited) {
  const { scene } = pass;
  const shown = objectsOn(edited.document, scene.map.id).filter((one) => edited.isShown(one.kind));
  const of = (/** @type {string} */ kind) => shown.filter((one) => one.kind === kind);
  for (const one of of("walkable")) drawWalkable(pass, edited, one);
  for (const one of of("path")) drawPath(pass, edited, one);
  for (const one of of("node")) drawNode(pass, edited, one);
  const points = shown.filter((one) => marks[/** @type {"beacon"} */ (one.kind)]);
  for (const one of points) if (!isSame(one, edited.selected)) drawMark(pass, edited, one);
  if (pass.view.scale > namedFrom) drawNames(pass, edited, points);
  for (const one of shown) {
    if (edited.faulty.has(objectAt(edited.document, one))) drawFault(pass, shapeAt(edited.document, one)[0]);
  }
  if (edited.selected && isOnMap(edited.document, edited.selected, scene.map)) drawSelected(pass, edited, edited.selected);
  if (edited.draft) drawDraft(pass, edited, edited.draft);
  if (edited.pointer && edited.isSnapped) drawRing(pass, edited.pointer);
}

/** The shapes of the marks of points; `half` is half of their size in pixels. */
const marks = {
  coordinate: (/** @type {any} */ context, /** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ half) => {
    context.moveTo(x, y - half - 2);
    context.lineTo(x + half + 2, y);
    context.lineTo(x, y + half + 2);
    context.lineTo(x - half - 2, y);
    context.closePath();
  },
  beacon: (/** @type {any} */ context, /** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ half) => (
    context.rect(x - half, y - half, 2 * half, 2 * half)),
  receiver: (/** @type {any} */ context, /** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ half) => (
    context.arc(x, y, half + 1, 0, 2 * Math.PI)),
  anchor: (/** @type {any} */ context, /** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ half) => {
    context.moveTo(x, y - half - 2);
    context.lineTo(x + half + 2, y + half);
    context.lineTo(x - half - 2, y + half);
    context.closePath();
  },
};

/**
 * @param {import("./plan.js").Pass} pass
 * @param {Edited} edited
 * @param {import("./venue-objects.js").Reference} reference
 */
function drawMark(pass, { document, selected }, reference) {
  const { context, view, palette } = pass;
  const [[mx, my]] = shapeAt(document, reference);
  const [x, y] = view.toScreen(mx, my);
  const isChosen = isSame(selected, reference);
  const half = isChosen ? 8 : 5.5;
  context.fillStyle = isChosen ? palette.accent : palette.halo;
  context.strokeStyle = isChosen ? palette.halo : palette.beacon;
  context.lineWidth = 2;
  context.beginPath();
  marks[/** @type {"beacon"} */ (reference.kind)](context, x, y, half);
  context.fill();
  context.stroke();
  if (reference.kind !== "receiver") return;
  context.fillStyle = isChosen ? palette.halo : palette.beacon;
  context.beginPath();
  context.arc(x, y, 2, 0, 2 * Math.PI);
  context.fill();
}

/**
 * Draws the names of beacons, receivers and anchors where they cover neither another name nor another mark.
 * @param {import("./plan.js").Pass} pass
 * @param {Edited} edited
 * @param {import("./venue-objects.js").Reference[]} points
 */
function drawNames(pass, { document, boxes, selected }, points) {
  const { context, view, palette } = pass;
  const places = points.map((one) => view.toScreen(...shapeAt(document, one)[0]));
  const taken = boxes.concat(places.map(([x, y]) => [x - 7, y - 7, x + 7, y + 7]));
  points.forEach((one, index) => {
    if (isSame(one, selected)) return;
    const [x, y] = places[index];
    const text = titleOf(document, one);
    if (!claim(textBox(context, text, x, y + 15, 11), taken)) return;
    drawLabel(pass, text, x, y + 15, { color: palette.beacon, size: 11 });
  });
}

/**
 * @param {import("./plan.js").Pass} pass
 * @param {Edited} edited
 * @param {import("./venue-objects.js").Reference} reference
 */
function drawWalkable(pass, { document }, reference) {
  const { context, palette } = pass;
  trace(pass, shapeAt(document, reference), true);
  context.globalAlpha = 0.08;
  context.fillStyle = palette.heard;
  context.fill();
  context.globalAlpha = 1;
  context.strokeStyle = palette.heard;
  context.lineWidth = 1.5;
  context.setLineDash([3, 3]);
  context.stroke();
  context.setLineDash([]);
}

/**
 * @param {import("./plan.js").Pass} pass
 * @param {Edited} edited
 * @param {import("./venue-objects.js").Reference} reference
 */
function drawPath(pass, { document }, reference) {
  const { context, palette } = pass;
  const edge = objectAt(document, reference);
  trace(pass, shapeAt(document, reference), false);
  context.strokeStyle = palette.halo;
  context.lineWidth = 4;
  context.stroke();
  context.strokeStyle = palette.route;
  context.lineWidth = 2;
  // What leads to another floor is not a line on this one.
  context.setLineDash((edge.kind ?? "walk") === "walk" ? [] : [5, 4]);
  context.stroke();
  context.setLineDash([]);
}

/**
 * @param {import("./plan.js").Pass} pass
 * @param {Edited} edited
 * @param {import("./venue-objects.js").Reference} reference
 */
function drawNode(pass, { document, selected }, reference) {
  const { context, palette } = pass;
  const isChosen = isSame(selected, reference);
  context.fillStyle = isChosen ? palette.accent : palette.halo;
  context.strokeStyle = isChosen ? palette.halo : palette.route;
  context.lineWidth = 2;
  drawDot(pass, shapeAt(document, reference)[0], isChosen ? 7 : 4);
}

/**
 * Begins a path along places.
 * @param {import("./plan.js").Pass} pass
 * @param {number[][]} places
 * @param {boolean} isClosed
 */
function trace({ context, view }, places, isClosed) {
  context.beginPath();
  places.forEach(([x, y], index) => {
    if (index === 0) context.moveTo(...view.toScreen(x, y));
    else context.lineTo(...view.toScreen(x, y));
  });
  if (isClosed) context.closePath();
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
function drawSelected(pass, edited, reference) {
  const { document, corner } = edited;
  const { context, view, palette } = pass;
  context.lineJoin = "round";
  const [place] = shapeAt(document, reference);
  if (!place) return;
  const [x, y] = view.toScreen(place[0], place[1]);
  if (kindNamed(reference.kind).shape === "point") {
    if (reference.kind in marks) {
      drawMark(pass, edited, reference);
      drawLabel(pass, titleOf(document, reference), x, y + 17, { color: palette.text, size: 11, weight: 600 });
    } else if (reference.kind === "poi") {
      context.strokeStyle = palette.accent;
      context.lineWidth = 3;
      context.beginPath();
      context.arc(x, y - 11, 15, 0, 2 * Math.PI);
      context.stroke();
    }
    return;
  }
  const radius = radiusAt(document, reference);
  if (!hasCorners(document, reference)) {
    context.beginPath();
    context.arc(x, y, Math.max(4, (radius ?? 0) * view.scale), 0, 2 * Math.PI);
    strokeSelected(pass);
    context.fillStyle = palette.halo;
    for (const handle of handlesAt(document, reference)) drawDot(pass, handle, 6);
    return;
  }
  trace(pass, shapeAt(document, reference), isClosed(document, reference));
  strokeSelected(pass);
  context.lineWidth = 2;
  context.fillStyle = palette.halo;
  for (const [[ax, ay], [bx, by]] of edgesOf(document, reference)) {
    if (Math.hypot(bx - ax, by - ay) * view.scale > 40) drawDot(pass, [(ax + bx) / 2, (ay + by) / 2], 3.5);
  }
  shapeAt(document, reference).forEach((place, index) => {
    context.fillStyle = index === corner ? palette.accent : palette.halo;
    drawDot(pass, place, index === corner ? 7 : 6);
  });
}

/** @param {import("./plan.js").Pass} pass */
function strokeSelected({ context, palette }) {
  context.strokeStyle = palette.halo;
  context.lineWidth = 6;
  context.stroke();
  context.strokeStyle = palette.accent;
  context.lineWidth = 3;
  context.stroke();
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
  const { context, palette } = pass;
  const all = pointer ? [...draft.corners, pointer] : draft.corners;
  if (all.length === 0) return;
  trace(pass, all, false);
  const shape = draft.kind === "scale" ? "line" : kindNamed(draft.kind).drawn ?? kindNamed(draft.kind).shape;
  if (shape === "area" || shape === "polygon") {
    context.globalAlpha = 0.18;
    context.fillStyle = palette.accent;
    context.fill();
    context.globalAlpha = 1;
  }
  context.strokeStyle = palette.accent;
  context.lineWidth = shape === "line" ? 3 : 2;
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
