// @ts-check
import { beaconName } from "./format.js";

/** The rooms, fences, points of interest and beacons of a map. */

const family = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
export const font = (/** @type {number} */ size, weight = 400) => `${weight} ${size}px ${family}`;

/**
 * Adds a box of left, top, right and bottom to others. Returns false, and adds nothing, if it overlaps one of them.
 * @param {number[]} box
 * @param {number[][]} boxes
 */
export function claim(box, boxes) {
  const [left, top, right, bottom] = box;
  if (boxes.some((other) => left < other[2] && other[0] < right && top < other[3] && other[1] < bottom)) return false;
  boxes.push(box);
  return true;
}

/**
 * Returns the box of a text in the middle of a place.
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @param {number} [weight]
 */
export function textBox(context, text, x, y, size, weight) {
  context.font = font(size, weight);
  const half = context.measureText(text).width / 2 + 2;
  return [x - half, y - size / 2 - 2, x + half, y + size / 2 + 2];
}

/**
 * Draws a text with a halo, so that it is legible over lines and images.
 * @param {import("./plan.js").Pass} pass
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {{color: string, size?: number, weight?: number, align?: CanvasTextAlign, baseline?: CanvasTextBaseline}} style
 */
export function drawLabel({ context, palette }, text, x, y, style) {
  context.font = font(style.size ?? 12, style.weight);
  context.textAlign = style.align ?? "center";
  context.textBaseline = style.baseline ?? "middle";
  context.lineJoin = "round";
  context.lineWidth = 3.5;
  context.strokeStyle = palette.halo;
  context.strokeText(text, x, y);
  context.fillStyle = style.color;
  context.fillText(text, x, y);
}

/**
 * Begins a path along points, which is interrupted where they are on another map.
 * @param {any} pass
 * @param {{mapId: number, x: number, y: number}[]} points
 */
export function traceTrail({ context, view, scene }, points) {
  context.beginPath();
  let isOpen = false;
  for (const point of points) {
    const isHere = point.mapId === scene.map.id;
    if (isHere) context[isOpen ? "lineTo" : "moveTo"](...view.toScreen(point.x, point.y));
    isOpen = isHere;
  }
}

/**
 * Adds the cells of a gap in a survey to the path. Returns their left, top, right and bottom.
 * @param {any} pass
 * @param {number[]} cells x, y, x, y, … in metres
 * @param {number} size the edge of a cell in metres
 */
export function traceGap({ context, view }, cells, size) {
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  for (let index = 0; index + 1 < cells.length; index += 2) {
    const [x, y] = view.toScreen(cells[index] - size / 2, cells[index + 1] - size / 2);
    const [endX, endY] = view.toScreen(cells[index] + size / 2, cells[index + 1] + size / 2);
    context.rect(x, y, endX - x, endY - y);
    box.splice(0, 4, Math.min(box[0], x), Math.min(box[1], y), Math.max(box[2], endX), Math.max(box[3], endY));
  }
  return box;
}

/**
 * Draws rooms and fences.
 * @param {import("./plan.js").Pass} pass
 * @param {boolean} hasPicture whether they lie over an image
 */
export function drawAreas(pass, hasPicture) {
  const { context, scene, palette } = pass;
  const { venue, map, layers } = scene;
  if (layers.has("rooms")) {
    for (const room of venue.rooms) {
      if (room.mapId !== map.id) continue;
      context.globalAlpha = hasPicture ? 0.15 : 1;
      context.fillStyle = palette.room;
      traceArea(pass, room);
      // A heat map keeps its own colours.
      if (!scene.radioMap && !scene.heats?.has(map.id)) context.fill();
      context.globalAlpha = 1;
      context.strokeStyle = palette["room-line"];
      context.lineWidth = 1;
      context.stroke();
    }
  }
  if (layers.has("fences")) {
    for (const fence of venue.fences) {
      if (fence.mapId !== map.id) continue;
      traceArea(pass, fence);
      context.globalAlpha = 0.08;
      context.fillStyle = palette.fence;
      context.fill();
      context.globalAlpha = 1;
      context.strokeStyle = palette.fence;
      context.lineWidth = 1.5;
      context.setLineDash([7, 4]);
      context.stroke();
      context.setLineDash([]);
    }
  }
}

/**
 * Draws the names of rooms and fences. They come after all areas, so that none covers another one's name. A name that
 * would cover another label at each place in its area is left out; larger areas come first.
 * @param {import("./plan.js").Pass} pass
 * @param {number[][]} boxes the boxes of labels, to which those of the names are added
 */
export function drawAreaNames(pass, boxes) {
  const { scene, palette } = pass;
  const { venue, map, layers } = scene;
  const draw = (/** @type {any[]} */ areas, /** @type {string} */ color, /** @type {number} */ shift) => {
    const here = areas.filter((area) => area.mapId === map.id).map((area) => ({ area, box: boundsOf(area) }));
    const size = (/** @type {any} */ box) => (box.right - box.left) * (box.bottom - box.top);
    here.sort((a, b) => size(b.box) - size(a.box));
    for (const { area, box } of here) drawName(pass, area.name, box, color, shift, boxes);
  };
  if (layers.has("names")) draw(venue.rooms, palette["room-text"], 0);
  if (layers.has("fences")) draw(venue.fences, palette.fence, 16);
}

/**
 * @param {import("./plan.js").Pass} pass
 * @param {any} area
 */
function traceArea({ context, view }, area) {
  context.beginPath();
  if (area.circle) {
    const [x, y] = view.toScreen(area.circle.x, area.circle.y);
    context.arc(x, y, area.circle.radius * view.scale, 0, 2 * Math.PI);
    return;
  }
  const polygon = area.polygon ?? [];
  for (let index = 0; index + 1 < polygon.length; index += 2) {
    const [x, y] = view.toScreen(polygon[index], polygon[index + 1]);
    if (index === 0) context.moveTo(x, y);
    else context.lineTo(x, y);
  }
  context.closePath();
}

/**
 * Draws the name of an area if it fits into the area's width, and covers no other label.
 * @param {import("./plan.js").Pass} pass
 * @param {string} name
 * @param {{left: number, right: number, top: number, bottom: number}} box
 * @param {string} color
 * @param {number} shift pixels down from the middle
 * @param {number[][]} boxes
 */
function drawName(pass, name, box, color, shift, boxes) {
  const { context, view } = pass;
  const heightLeft = (box.bottom - box.top) * view.scale;
  if (name === "" || heightLeft < 15) return;
  if (heightLeft < 16 + 2 * shift) shift = 0;
  const [x, middle] = view.toScreen((box.left + box.right) / 2, (box.top + box.bottom) / 2);
  for (const step of [shift, shift + 16, shift - 16]) {
    if (step !== shift && Math.abs(step) + 9 > heightLeft / 2) continue;
    const label = textBox(context, name, x, middle + step, 12, 500);
    if (label[2] - label[0] - 4 > (box.right - box.left) * view.scale - 8) return;
    if (!claim(label, boxes)) continue;
    drawLabel(pass, name, x, middle + step, { color, weight: 500 });
    return;
  }
}

/** @param {any} area */
function boundsOf(area) {
  if (area.circle) {
    const { x, y, radius } = area.circle;
    return { left: x - radius, right: x + radius, top: y - radius, bottom: y + radius };
  }
  const xs = (area.polygon ?? []).filter((/** @type {number} */ _, /** @type {number} */ index) => index % 2 === 0);
  const ys = (area.polygon ?? []).filter((/** @type {number} */ _, /** @type {number} */ index) => index % 2 === 1);
  return { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
}

/**
 * Returns the boxes of the points of interest and their names, for labels that must not cover them.
 * @param {import("./plan.js").Pass} pass
 * @returns {number[][]}
 */
export function pointBoxes({ context, view, scene }) {
  if (!scene.layers.has("points")) return [];
  context.font = font(12);
  return scene.venue.pointsOfInterest.flatMap((/** @type {any} */ point) => {
    if (point.mapId !== scene.map.id) return [];
    const [x, y] = view.toScreen(point.x, point.y);
    const half = context.measureText(point.name).width / 2 + 2;
    return [[x - 8, y - 21, x + 8, y], [x - half, y + 1, x + half, y + 17]];
  });
}

/**
 * Draws points of interest as pins with names.
 * @param {import("./plan.js").Pass} pass
 * @param {number[][]} [boxes] the boxes of labels, which the names must not cover; without it, all names are drawn
 */
export function drawPoints(pass, boxes) {
  const { context, view, scene, palette } = pass;
  for (const point of scene.venue.pointsOfInterest) {
    if (point.mapId !== scene.map.id) continue;
    const [x, y] = view.toScreen(point.x, point.y);
    context.beginPath();
    context.moveTo(x, y);
    context.quadraticCurveTo(x - 7, y - 8, x - 6, y - 13);
    context.arc(x, y - 13, 6, Math.PI, 0);
    context.quadraticCurveTo(x + 7, y - 8, x, y);
    context.lineWidth = 2.5;
    context.strokeStyle = palette.halo;
    context.stroke();
    context.fillStyle = palette.point;
    context.fill();
    context.beginPath();
    context.arc(x, y - 13, 2.2, 0, 2 * Math.PI);
    context.fillStyle = palette.halo;
    context.fill();
    // Below the pin, or else above it.
    const places = boxes ? [y + 9, y - 29] : [y + 9];
    const free = places.find((place) => !boxes || claim(textBox(context, point.name, x, place, 12), boxes));
    if (free !== undefined) drawLabel(pass, point.name, x, free, { color: palette.point });
  }
}

/**
 * Draws the venue's beacons as hollow squares; the session's layer fills those that are heard.
 * @param {import("./plan.js").Pass} pass
 */
export function drawFixedBeacons(pass) {
  const { context, view, scene, palette } = pass;
  const chosen = scene.radioMap?.beacons[scene.beacon]?.id ?? null;
  const suspicious = new Set(scene.radioMap?.beacons.filter(
    (/** @type {any} */ one) => one.findings?.length > 0).map((/** @type {any} */ one) => one.id));
  for (const beacon of scene.venue.beacons) {
    if (beacon.mapId !== scene.map.id) continue;
    const [x, y] = view.toScreen(beacon.x, beacon.y);
    const isChosen = beacon.id === chosen;
    context.lineWidth = isChosen ? 3 : 1.6;
    const half = isChosen ? 11 : 4;
    context.fillStyle = palette.halo;
    context.strokeStyle = isChosen ? palette.accent : palette.beacon;
    // The chosen beacon of a radio map has a frame, within which the survey point at its place stays visible.
    if (!isChosen) context.fillRect(x - half - 1, y - half - 1, 2 * half + 2, 2 * half + 2);
    context.strokeRect(x - half, y - half, 2 * half, 2 * half);
    if (suspicious.has(beacon.id)) {
      drawLabel(pass, "!", x + half + 7, y - half - 3, { color: palette.bad, size: 16, weight: 700 });
    }
    if (isChosen || view.scale > 45) {
      const color = isChosen ? palette.text : palette.beacon;
      drawLabel(pass, beaconName(beacon.id), x, y + half + 9, { color, size: 11 });
    }
  }
}
