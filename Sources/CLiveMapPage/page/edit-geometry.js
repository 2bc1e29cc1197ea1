// @ts-check
/** Geometry of editing: what lies below a pointer, and to which place it snaps. Places are in metres. */
import { kindNamed, kinds } from "./venue-kinds.js";
import { handlesAt, hasCorners, isClosed, objectsOn, radiusAt, shapeAt } from "./venue-objects.js";
import { distanceToSegment } from "./venue-values.js";

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
 * Returns the area of a polygon in square metres.
 * @param {number[][]} polygon
 */
export function areaOf(polygon) {
  return Math.abs(polygon.reduce((sum, [x, y], index) => {
    const [nextX, nextY] = polygon[(index + 1) % polygon.length];
    return sum + x * nextY - nextX * y;
  }, 0)) / 2;
}

/**
 * Returns the edges of an object as pairs of corners.
 * @param {any} document
 * @param {import("./venue-objects.js").Reference} reference
 */
export function edgesOf(document, reference) {
  const corners = shapeAt(document, reference);
  const ends = isClosed(document, reference) ? corners.length : corners.length - 1;
  return Array.from({ length: Math.max(0, ends) }, (_, index) => [
    corners[index], corners[(index + 1) % corners.length]]);
}

/**
 * Returns the rectangle around an object: left, top, right and bottom in metres.
 * @param {any} document
 * @param {import("./venue-objects.js").Reference} reference
 */
export function boundsOf(document, reference) {
  const corners = shapeAt(document, reference);
  const radius = radiusAt(document, reference) ?? 0;
  const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)];
  return [Math.min(...xs) - radius, Math.min(...ys) - radius, Math.max(...xs) + radius, Math.max(...ys) + radius];
}

/**
 * Returns the objects at a place, the one that a click means first: points before lines, and lines before areas; the
 * nearest point or line, and the smallest area; of equal areas the last one of the first kind.
 * @param {any} document
 * @param {number} mapId
 * @param {number[]} place
 * @param {number} reach metres around a line or a point
 * @param {(kind: string) => boolean} isShown
 * @returns {import("./venue-objects.js").Reference[]}
 */
export function objectsUnder(document, mapId, place, reach, isShown) {
  const far = (/** @type {number[]} */ one) => Math.hypot(one[0] - place[0], one[1] - place[1]);
  const found = objectsOn(document, mapId).filter((one) => isShown(one.kind)).flatMap((one) => {
    const { shape } = kindNamed(one.kind);
    const corners = shapeAt(document, one);
    if (shape === "point") {
      const rank = one.kind === "node" ? 1 : 0;
      const [[x, y]] = corners;
      // A point of interest has a pin above its place.
      const nearest = distanceToSegment(place, [x, y], [x, one.kind === "poi" ? y - 1.4 * reach : y]);
      return nearest <= reach ? [{ one, rank, measure: nearest }] : [];
    }
    if (!isClosed(document, one) && hasCorners(document, one)) {
      const nearest = Math.min(...edgesOf(document, one).map(([a, b]) => distanceToSegment(place, a, b)));
      return nearest <= reach ? [{ one, rank: 2, measure: nearest }] : [];
    }
    const radius = radiusAt(document, one);
    const isHit = hasCorners(document, one) ? isInside(place, corners) : far(corners[0]) <= (radius || reach);
    const area = radius === null ? areaOf(corners) : Math.PI * radius * radius;
    return isHit ? [{ one, rank: one.kind === "walkable" ? 4 : 3, measure: area }] : [];
  });
  const order = (/** @type {string} */ kind) => kinds.findIndex((one) => one.id === kind);
  found.sort((a, b) => a.rank - b.rank || a.measure - b.measure
    || order(a.one.kind) - order(b.one.kind) || b.one.index - a.one.index);
  return found.map(({ one }) => one);
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
  if (!reference) return null;
  const near = (/** @type {number[]} */ one) => Math.hypot(one[0] - place[0], one[1] - place[1]) <= reach;
  const handles = handlesAt(document, reference);
  if (!hasCorners(document, reference)) {
    // The middle of a circle moves all of it.
    return handles.length > 1 && near(handles[1]) ? { corner: 1, isNew: false } : null;
  }
  const corner = handles.findIndex(near);
  if (corner >= 0) return { corner, isNew: false };
  const edge = edgesOf(document, reference).findIndex(([a, b]) => near([(a[0] + b[0]) / 2, (a[1] + b[1]) / 2]));
  return edge >= 0 ? { corner: edge + 1, isNew: true } : null;
}

/**
 * Returns the place to which a pointer snaps: a corner of the map's areas and walls, or a place of its paths, within
 * reach, or else the place itself, on the axis through `origin` if the pointer keeps to it.
 * @param {any} document
 * @param {number} mapId
 * @param {number[]} place
 * @param {{
 *   reach: number, to: "nothing"|"corners"|"paths", toAxis: boolean, origin: number[]|null, own: number[][],
 *   isShown: (kind: string) => boolean,
 * }} rules `own` are corners that move with the pointer
 */
export function snapped(document, mapId, place, rules) {
  let [x, y] = place;
  const { origin, reach } = rules;
  if (rules.toAxis && origin) {
    if (Math.abs(x - origin[0]) >= Math.abs(y - origin[1])) y = origin[1];
    else x = origin[0];
  }
  if (rules.to === "nothing") return { place: [x, y], isCorner: false };
  const isOwn = (/** @type {number[]} */ one) => rules.own.some((own) => own[0] === one[0] && own[1] === one[1]);
  const isOnAxis = (/** @type {number[]} */ one) => !rules.toAxis || !origin || one[0] === origin[0] || one[1] === origin[1];
  const nearest = (/** @type {number[][]} */ places) => {
    let best = null;
    let shortest = reach;
    for (const one of places) {
      const far = Math.hypot(one[0] - x, one[1] - y);
      if (far <= shortest && isOnAxis(one) && !isOwn(one)) [best, shortest] = [one, far];
    }
    return best;
  };
  const targets = objectsOn(document, mapId).filter((one) => (rules.to === "paths"
    ? one.kind === "node" || one.kind === "path"
    : one.kind !== "path" && rules.isShown(one.kind) && hasCorners(document, one)));
  const [lines, others] = rules.to === "paths"
    ? [targets.filter((one) => one.kind === "path"), targets.filter((one) => one.kind === "node")] : [[], targets];
  const found = nearest(others.flatMap((one) => shapeAt(document, one)))
    ?? nearest(lines.flatMap((one) => edgesOf(document, one).map(([a, b]) => nearestOn([x, y], a, b))));
  return found ? { place: [...found], isCorner: true } : { place: [x, y], isCorner: false };
}

/**
 * Returns the place on the segment between two others that is the nearest to a place.
 * @param {number[]} p
 * @param {number[]} a
 * @param {number[]} b
 */
function nearestOn(p, a, b) {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const along = ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / (dx * dx + dy * dy || 1);
  const clamped = Math.min(1, Math.max(0, along));
  return [a[0] + clamped * dx, a[1] + clamped * dy];
}
