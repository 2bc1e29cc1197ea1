// @ts-check
/**
 * The walk that is drawn in an editor. It isn't part of the venue: the document keeps it below a symbol, which is never
 * written, so that the walk is changed and undone as the other objects are.
 */
import { isNumber, isObject, listOf, rounded, withFields } from "./venue-values.js";

export const walkKey = Symbol("walk");
const format = "indoor-localization-walk";
/** The walking speed in m/s without another one. */
export const usualSpeed = 1.2;

/**
 * Returns the walk of a document: the content of a walk's file.
 * @param {any} document
 */
export const walkOf = (document) => document?.[walkKey] ?? { format, version: 1, points: [] };

/** Returns the document with another walk; undefined removes it. */
export const withWalk = (/** @type {any} */ document, /** @type {any} */ walk) => withFields(document, { [walkKey]: walk });

/**
 * Whether two documents have the same venue.
 * @param {any} a
 * @param {any} b
 */
export function isSameVenue(a, b) {
  if (a === b || !isObject(a) || !isObject(b)) return a === b;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

/**
 * Returns the document with further points of the walk, and the index of the last one.
 * @param {any} document
 * @param {number} mapId
 * @param {number[][]} places
 * @param {number} [after] the point that they follow; the last one without it
 */
export function withWalkPoints(document, mapId, places, after) {
  const walk = walkOf(document);
  const points = [...walk.points];
  const start = after === undefined ? points.length : after + 1;
  points.splice(start, 0, ...rounded(places).map(([x, y]) => ({ mapId, x, y })));
  return { document: withWalk(document, withFields(walk, { points })), last: start + places.length - 1 };
}

/**
 * Returns the document with changed points of the walk on a floor; null removes a point.
 * @param {any} document
 * @param {number} mapId
 * @param {(point: any) => any} change
 */
export function withWalkOn(document, mapId, change) {
  const walk = walkOf(document);
  if (!walk.points.some((/** @type {any} */ one) => one.mapId === mapId)) return document;
  const points = walk.points.flatMap((/** @type {any} */ one) => (one.mapId === mapId ? change(one) ?? [] : one));
  return withWalk(document, withFields(walk, { points }));
}

/**
 * Returns a walk without its points on floors that a document doesn't have, and these points.
 * @param {any} walk
 * @param {any} document
 * @returns {{walk: any, lost: any[]}}
 */
export function dividedByFloors(walk, document) {
  const known = new Set(listOf(document?.maps).map((map) => map?.id));
  const isKnown = (/** @type {any} */ one) => known.has(one.mapId);
  const lost = walk.points.filter((/** @type {any} */ one) => !isKnown(one));
  return { walk: lost.length > 0 ? withFields(walk, { points: walk.points.filter(isKnown) }) : walk, lost };
}

/**
 * Returns the length of the walk on the floors in metres.
 * @param {any} walk
 */
export function lengthOf(walk) {
  return walk.points.reduce((/** @type {number} */ sum, /** @type {any} */ one, /** @type {number} */ index) => {
    const before = walk.points[index - 1];
    return before ? sum + Math.hypot(one.x - before.x, one.y - before.y) : 0;
  }, 0);
}

/**
 * Reads a walk's file; throws an error that says what is wrong.
 * @param {string} text
 */
export function readWalk(text) {
  /** @type {any} */
  let walk = null;
  try {
    walk = JSON.parse(text);
  } catch {
    // The message below fits.
  }
  if (!isObject(walk) || walk.format !== format || walk.version !== 1) {
    throw new Error(`The file isn't a walk: it must be JSON with "format": "${format}" and "version": 1.`);
  }
  const isPoint = (/** @type {any} */ one) => isObject(one) && [one.mapId, one.x, one.y].every(isNumber);
  const wrong = listOf(walk.points).findIndex((one) => !isPoint(one));
  if (wrong >= 0 || !Array.isArray(walk.points)) {
    throw new Error(`The walk's points[${Math.max(0, wrong)}] must have the numbers mapId, x and y.`);
  }
  return walk;
}

/**
 * Writes a walk's file, with one line for each point.
 * @param {any} walk
 */
export function walkText(walk) {
  const fields = Object.keys(walk).map((key) => `  ${JSON.stringify(key)}: ${key === "points"
    ? `[\n${walk.points.map((/** @type {any} */ one) => `    ${JSON.stringify(one)}`).join(",\n")}\n  ]`
    : JSON.stringify(walk[key])}`);
  return `{\n${fields.join(",\n")}\n}\n`;
}
