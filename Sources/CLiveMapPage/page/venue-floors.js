// @ts-check
/** The floors of a venue's document. A change returns a new document. */
import { withPlaces } from "./venue-interactions.js";
import { isNumber, listOf, nextNumber, rounded, withFields } from "./venue-values.js";
import { withWalkOn } from "./venue-walk.js";

/** The lists of objects that have a field `mapId`. */
const lists = ["beacons", "anchors", "rooms", "pois", "events"];
/** The lists of objects that a copy of a floor has, too. Radios are only at one place. */
const copiedLists = ["rooms", "pois", "events"];

/** Returns the usual name of a floor. */
export const floorName = (/** @type {number} */ level) => (
  level === 0 ? "Ground floor" : level > 0 ? `Floor ${level}` : `Basement ${-level}`);

const mapAt = (/** @type {any} */ document, /** @type {number} */ mapId) => (
  listOf(document.maps).find((one) => one?.id === mapId));
const nextLevel = (/** @type {any} */ document) => (
  listOf(document.maps).reduce((highest, one) => Math.max(highest, Number(one?.level) || 0), -1) + 1);

/**
 * Returns the document with changed fields of a map.
 * @param {any} document
 * @param {number} mapId
 * @param {Record<string, any>} fields
 */
export function withMap(document, mapId, fields) {
  return withFields(document, {
    maps: document.maps.map((/** @type {any} */ map) => (map?.id === mapId ? withFields(map, fields) : map)),
  });
}

/**
 * Returns the document with an empty floor above the others, and its number. It has the size of another map.
 * @param {any} document
 * @param {any} model a map that can be drawn; null for 20 by 15 m
 */
export function withNewFloor(document, model) {
  const id = nextNumber(document.maps);
  const level = nextLevel(document);
  const map = {
    id, name: floorName(level), level, widthMeters: model?.width ?? 20, heightMeters: model?.height ?? 15 };
  return { document: withFields(document, { maps: [...listOf(document.maps), map] }), id };
}

/**
 * Returns the document with a copy of a floor above the others, and its number: the plan, walls, areas, points of
 * interest, fences and paths.
 * @param {any} document
 * @param {number} mapId
 */
export function withCopiedFloor(document, mapId) {
  const id = nextNumber(document.maps);
  const level = nextLevel(document);
  const map = withFields(mapAt(document, mapId), { id, name: floorName(level), level, elevation: undefined });
  /** @type {Record<string, any>} */
  const fields = { maps: [...document.maps, map] };
  for (const key of copiedLists) {
    const list = listOf(document[key]);
    let next = nextNumber(list);
    const copies = list.filter((one) => one?.mapId === mapId).map((one) => withFields(one, { id: next++, mapId: id }));
    if (copies.length > 0) fields[key] = [...list, ...copies];
  }
  const nodes = listOf(document.paths?.nodes);
  let next = nextNumber(nodes);
  const numbers = new Map(nodes.filter((node) => node?.mapId === mapId).map((node) => [node.id, next++]));
  if (numbers.size > 0) {
    const edges = listOf(document.paths.edges);
    const copies = edges.filter((edge) => numbers.has(edge?.from) && numbers.has(edge?.to))
      .map((edge) => withFields(edge, { from: numbers.get(edge.from), to: numbers.get(edge.to) }));
    fields.paths = withFields(document.paths, {
      nodes: [...nodes, ...nodes.filter((node) => node?.mapId === mapId).map(
        (node) => withFields(node, { id: numbers.get(node.id), mapId: id }))],
      edges: [...edges, ...copies],
    });
  }
  return { document: withFields(document, fields), id };
}

/**
 * Returns the document without a floor, its objects, and the interactions with them.
 * @param {any} document
 * @param {number} mapId
 */
export function withoutFloor(document, mapId) {
  const isHere = (/** @type {any} */ one) => one?.mapId === mapId;
  /** @type {Record<string, any>} */
  const fields = { maps: document.maps.filter((/** @type {any} */ map) => map?.id !== mapId) };
  for (const key of lists) {
    if (listOf(document[key]).some(isHere)) fields[key] = document[key].filter((/** @type {any} */ one) => !isHere(one));
  }
  const gone = new Set(listOf(document.paths?.nodes).filter(isHere).map((node) => node.id));
  if (gone.size > 0) {
    fields.paths = withFields(document.paths, {
      nodes: document.paths.nodes.filter((/** @type {any} */ node) => !isHere(node)),
      edges: listOf(document.paths.edges).filter((edge) => !gone.has(edge?.from) && !gone.has(edge?.to)),
    });
  }
  let changed = withFields(withWalkOn(document, mapId, () => null), fields);
  for (const key of copiedLists) {
    changed = withPlaces(changed, key, new Map(listOf(document[key]).filter(isHere).map((one) => [one.id, undefined])));
  }
  return changed;
}

/**
 * Returns an object with coordinates and lengths multiplied by a factor.
 * @param {any} one
 * @param {number} factor
 */
function scaled(one, factor) {
  /** @type {Record<string, any>} */
  const fields = {};
  for (const key of ["x", "y", "radius"]) if (isNumber(one[key])) fields[key] = rounded([[one[key] * factor, 0]])[0][0];
  if (Array.isArray(one.polygon)) fields.polygon = scaledLine(one.polygon, factor);
  return withFields(one, fields);
}

const scaledLine = (/** @type {any} */ line, /** @type {number} */ factor) => (
  Array.isArray(line) ? rounded(line.map((one) => [one?.[0] * factor, one?.[1] * factor])) : line);

/**
 * Returns the document with another scale of a floor.
 * @param {any} document
 * @param {number} mapId
 * @param {number} factor the new length of a line on the image divided by its present one
 * @param {boolean} keepsImagePlaces whether objects keep their places on the image; otherwise, their coordinates in metres
 */
export function withScale(document, mapId, factor, keepsImagePlaces) {
  const map = mapAt(document, mapId);
  const millimetres = (/** @type {number} */ length) => Math.round(length * factor * 1000) / 1000;
  /** @type {Record<string, any>} */
  const size = { widthMeters: millimetres(map.widthMeters), heightMeters: millimetres(map.heightMeters) };
  const points = map.georeference?.controlPoints;
  // These are places of the image.
  if (Array.isArray(points)) {
    size.georeference = withFields(map.georeference, { controlPoints: points.map((one) => scaled(one, factor)) });
  }
  if (!keepsImagePlaces) return withMap(document, mapId, size);
  for (const key of ["walls", "walkable"]) {
    if (Array.isArray(map[key])) size[key] = map[key].map((/** @type {any} */ line) => scaledLine(line, factor));
  }
  const isHere = (/** @type {any} */ one) => one?.mapId === mapId;
  /** @type {Record<string, any>} */
  const fields = {};
  const change = (/** @type {any} */ list) => list.map((/** @type {any} */ one) => (isHere(one) ? scaled(one, factor) : one));
  for (const key of lists) if (listOf(document[key]).some(isHere)) fields[key] = change(document[key]);
  const nodes = listOf(document.paths?.nodes);
  if (nodes.some(isHere)) {
    const here = new Set(nodes.filter(isHere).map((node) => node.id));
    fields.paths = withFields(document.paths, {
      nodes: change(nodes),
      edges: listOf(document.paths.edges).map((edge) => (here.has(edge?.from) && here.has(edge?.to) && isNumber(edge.weight)
        ? withFields(edge, { weight: rounded([[edge.weight * factor, 0]])[0][0] }) : edge)),
    });
  }
  return withMap(withFields(withWalkOn(document, mapId, (one) => scaled(one, factor)), fields), mapId, size);
}

/**
 * Returns the document with another image of a floor's plan. The width of the plan stays, and the height follows from the
 * image. Tiles show the earlier image.
 * @param {any} document
 * @param {number} mapId
 * @param {string} path
 * @param {{width: number, height: number}} size in pixels
 */
export function withImage(document, mapId, path, size) {
  const map = mapAt(document, mapId);
  const height = Math.round(map.widthMeters * size.height / size.width * 1000) / 1000;
  const isAlike = Math.abs(height / map.heightMeters - 1) < 0.005;
  return withMap(document, mapId, {
    image: path, widthPixels: size.width, heightPixels: size.height, tiles: undefined,
    heightMeters: isAlike ? map.heightMeters : height,
  });
}
