// @ts-check
/** Geometry of editing: what lies below a pointer, and to which place it snaps. Places are in metres. */
import { hasCorners, objectsOn, shapeAt } from "./venue-objects.js";

/**
 * Returns the distance of a place from the segment between two others.
 * @param {number[]} p
 * @param {number[]} a
 * @param {number[]} b
 */
export function distanceToSegment(p, a, b) {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const length = dx * dx + dy * dy;
  const along = length === 0 ? 0 : Math.min(1, Math.max(0, ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / length));
  return Math.hypot(p[0] - a[0] - along * dx, p[1] - a[1] - along * dy);
}

/**
 * Whether a place is inside of a polygon, by the even-odd rule.
 * @param {number[]} p
 * @param {number[][]} polygon
 */
export function isInside(p, polygon) {
  let inside = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
    const [a, b] = [polygon[i], polygon[j]];
    if ((a[1] > p[1]) !== (b[1] > p[1]) && p[0] < ((b[0] - a[0]) * (p[1] - a[1])) / (b[1] - a[1]) + a[0]) {
      inside = !inside;
    }
  }
  return inside;
}

/**
 * Returns the edges of an object as pairs of corners.
 * @param {any} document
 * @param {import("./venue-objects.js").Reference} reference
 */
export function edgesOf(document, reference) {
  const corners = shapeAt(document, reference);
  const ends = reference.kind === "wall" ? corners.length - 1 : corners.length;
  return Array.from({ length: Math.max(0, ends) }, (_, index) => [
    corners[index], corners[(index + 1) % corners.length]]);
}

/**
 * Returns the object at a place: beacons before walls, and walls before rooms; of rooms the last one.
 * @param {any} document
 * @param {number} mapId
 * @param {number[]} place
 * @param {number} reach metres around a line or a point
 */
export function objectUnder(document, mapId, place, reach) {
  const all = objectsOn(document, mapId);
  const nearest = (/** @type {string} */ kind, /** @type {(one: any) => number} */ distance) => {
    const near = all.filter((one) => one.kind === kind).map((one) => ({ one, far: distance(one) }))
      .filter(({ far }) => far <= reach).sort((a, b) => a.far - b.far);
    return near[0]?.one ?? null;
  };
  const beacon = nearest("beacon", (one) => {
    const [corner] = shapeAt(document, one);
    return Math.hypot(place[0] - corner[0], place[1] - corner[1]);
  });
  const wall = beacon ?? nearest("wall", (one) => Math.min(
    ...edgesOf(document, one).map(([a, b]) => distanceToSegment(place, a, b))));
  if (wall) return wall;
  return all.findLast((one) => {
    if (one.kind !== "room") return false;
    const corners = shapeAt(document, one);
    if (hasCorners(document, one)) return isInside(place, corners);
    const radius = document.rooms[one.index].radius;
    return Math.hypot(place[0] - corners[0][0], place[1] - corners[0][1]) <= (Number(radius) || reach);
  }) ?? null;
}

/**
 * Returns the handle of an object at a place: a corner, or the middle of an edge; null if there is none.
 * @param {any} document
 * @param {import("./venue-objects.js").Reference|null} reference
 * @param {number[]} place
 * @param {number} reach
 * @returns {{corner: number, isNew: boolean}|null}
 */
export function handleUnder(document, reference, place, reach) {
  if (!reference || !hasCorners(document, reference)) return null;
  const near = (/** @type {number[]} */ one) => Math.hypot(one[0] - place[0], one[1] - place[1]) <= reach;
  const corner = shapeAt(document, reference).findIndex(near);
  if (corner >= 0) return { corner, isNew: false };
  const edge = edgesOf(document, reference).findIndex(([a, b]) => near([(a[0] + b[0]) / 2, (a[1] + b[1]) / 2]));
  return edge >= 0 ? { corner: edge + 1, isNew: true } : null;
}

/**
 * Returns the place to which a pointer snaps: a corner of the map's rooms and walls within reach, or else the place
 * itself, on the axis through `origin` if the pointer keeps to it.
 * @param {any} document
 * @param {number} mapId
 * @param {number[]} place
 * @param {{reach: number, toCorners: boolean, toAxis: boolean, origin: number[]|null, own: number[][]}} rules `own` are
 *   corners that move with the pointer
 */
export function snapped(document, mapId, place, rules) {
  let [x, y] = place;
  const { origin, reach } = rules;
  if (rules.toAxis && origin) {
    if (Math.abs(x - origin[0]) >= Math.abs(y - origin[1])) y = origin[1];
    else x = origin[0];
  }
  if (!rules.toCorners) return { place: [x, y], isCorner: false };
  const isOwn = (/** @type {number[]} */ one) => rules.own.some((own) => own[0] === one[0] && own[1] === one[1]);
  let best = null;
  let shortest = reach;
  for (const reference of objectsOn(document, mapId)) {
    if (reference.kind === "beacon" || !hasCorners(document, reference)) continue;
    for (const corner of shapeAt(document, reference)) {
      const far = Math.hypot(corner[0] - x, corner[1] - y);
      const isOnAxis = !rules.toAxis || !origin || corner[0] === origin[0] || corner[1] === origin[1];
      if (far <= shortest && isOnAxis && !isOwn(corner)) [best, shortest] = [corner, far];
    }
  }
  return best ? { place: [...best], isCorner: true } : { place: [x, y], isCorner: false };
}
