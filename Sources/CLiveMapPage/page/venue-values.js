// @ts-check
/** Values of a venue's document. A change of an object returns a new one. */

export const isObject = (/** @type {any} */ value) => (
  typeof value === "object" && value !== null && !Array.isArray(value));
export const listOf = (/** @type {any} */ value) => (Array.isArray(value) ? value : []);
export const isNumber = (/** @type {any} */ value) => typeof value === "number";
/** Returns a length in metres, rounded to centimetres. */
export const centimetres = (/** @type {number} */ value) => Math.round(value * 100) / 100 + 0;
/** Returns places with coordinates rounded to centimetres. */
export const rounded = (/** @type {number[][]} */ places) => places.map(([x, y]) => [centimetres(x), centimetres(y)]);

/**
 * Returns the valid corners of a polygon or a polyline.
 * @param {any} line
 * @returns {[number, number][]}
 */
export function cornersOf(line) {
  return listOf(line).filter((one) => Array.isArray(one) && isNumber(one[0]) && isNumber(one[1]));
}

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
 * Returns an object with changed fields, in the same order; undefined removes a field.
 * @param {any} one
 * @param {Record<string, any>} fields
 */
export function withFields(one, fields) {
  const copy = Object.assign(Object.create(null), one, fields);
  for (const [key, value] of Object.entries(fields)) if (value === undefined) delete copy[key];
  return copy;
}

/**
 * Returns a number after those of all entries of a list.
 * @param {any} list
 */
export function nextNumber(list) {
  return listOf(list).reduce((highest, one) => Math.max(highest, isNumber(one?.id) ? one.id : 0), 0) + 1;
}
