// @ts-check
/** The objects of a venue's document, and changes of them. A change returns a new document. */
import { withPlace } from "./venue-interactions.js";
import { fewest, kindNamed, kinds } from "./venue-kinds.js";
import { endsOf, withEnds, withNodeId, withoutNode, withPath } from "./venue-paths.js";
import { centimetres, cornersOf, isNumber, isObject, listOf, rounded, withFields } from "./venue-values.js";
import { withWalkPoints } from "./venue-walk.js";

/**
 * An object of the document: its kind, its index in the list of its kind, and the index of the map that has the list.
 * @typedef {{kind: string, index: number, map?: number}} Reference
 */

/**
 * Returns the maps that can be drawn.
 * @param {any} document
 */
export function mapsOf(document) {
  return listOf(document?.maps).flatMap((map, index) => (isObject(map) && isNumber(map.id) && map.widthMeters > 0
    && map.heightMeters > 0 ? [{
      id: map.id, index, name: String(map.name ?? `Map ${map.id}`), level: Number(map.level) || 0,
      width: map.widthMeters, height: map.heightMeters,
    }] : []));
}

/**
 * Returns the keys and indexes that lead to the list of an object's kind.
 * @param {Reference} reference
 */
const wayTo = (reference) => kindNamed(reference.kind).list.map((key) => (key === "map" ? reference.map ?? -1 : key));

/**
 * Returns the list that has an object.
 * @param {any} document
 * @param {Reference} reference
 */
function listAt(document, reference) {
  return listOf(wayTo(reference).reduce((value, key) => value?.[key], document));
}

/**
 * Returns an object; undefined if the document doesn't have it.
 * @param {any} document
 * @param {Reference|null} reference
 */
export function objectAt(document, reference) {
  return reference ? listAt(document, reference)[reference.index] : undefined;
}

/**
 * Returns the kind that an object of a reference has now: a beacon can become a receiver.
 * @param {any} document
 * @param {Reference|null} reference
 * @returns {Reference|null}
 */
export function settled(document, reference) {
  const one = objectAt(document, reference);
  if (!reference || one === undefined) return null;
  const { list } = kindNamed(reference.kind);
  const kind = kinds.find((kind) => String(kind.list.map(String)) === String(list.map(String)) && kind.has(one));
  return kind && kind.id !== reference.kind ? { ...reference, kind: kind.id } : reference;
}

/**
 * Whether two references are of the same object.
 * @param {Reference|null} a
 * @param {Reference|null} b
 */
export function isSame(a, b) {
  return a !== null && b !== null && a.kind === b.kind && a.index === b.index && a.map === b.map;
}

/**
 * @param {any} document
 * @param {Reference} reference
 * @param {any} one
 * @returns {number[][]}
 */
function cornersAt(document, reference, one) {
  switch (kindNamed(reference.kind).shape) {
    case "line": case "polygon": return cornersOf(one);
    case "link": return (endsOf(document, one) ?? []).map((node) => [node.x, node.y]);
    default:
      if (Array.isArray(one?.polygon)) return cornersOf(one.polygon);
      return isNumber(one?.x) && isNumber(one?.y) ? [[one.x, one.y]] : [];
  }
}

/**
 * Returns the references of all objects on a map, in the order of the kinds.
 * @param {any} document
 * @param {number} mapId
 * @returns {Reference[]}
 */
export function objectsOn(document, mapId) {
  const map = listOf(document?.maps).findIndex((one) => isObject(one) && one.id === mapId);
  return kinds.flatMap((kind) => {
    const isOfMap = kind.list.includes("map");
    const list = listAt(document, { kind: kind.id, index: 0, map });
    return list.flatMap((one, index) => {
      const reference = isOfMap ? { kind: kind.id, index, map } : { kind: kind.id, index };
      const isHere = isOfMap || (isObject(one) && kind.has(one) && mapIdsAt(document, reference).includes(mapId));
      return isHere && cornersAt(document, reference, one).length > 0 ? [reference] : [];
    });
  });
}

/**
 * Returns the numbers of objects in words, such as "12 rooms, 1 wall".
 * @param {Reference[]} references
 */
export function countsOf(references) {
  return kinds.flatMap((kind) => {
    const count = references.filter((one) => one.kind === kind.id).length;
    return count === 0 ? [] : [`${count} ${count === 1 ? kind.title.toLowerCase() : kind.plural}`];
  }).join(", ");
}

/**
 * @param {any} document
 * @param {Reference} reference
 */
function mapIdsAt(document, reference) {
  const one = objectAt(document, reference);
  if (kindNamed(reference.kind).shape === "link") return (endsOf(document, one) ?? []).map((node) => node.mapId);
  return reference.map === undefined ? [one?.mapId] : [document.maps[reference.map]?.id];
}

/**
 * Whether an object of the document is on a map.
 * @param {any} document
 * @param {Reference|null} reference
 * @param {any} map a map that can be drawn
 */
export function isOnMap(document, reference, map) {
  return Boolean(reference && map && objectAt(document, reference)) && mapIdsAt(
    document, /** @type {Reference} */ (reference)).includes(map.id);
}

/**
 * Returns the corners of an object: one for a point and a circle.
 * @param {any} document
 * @param {Reference} reference
 * @returns {number[][]}
 */
export function shapeAt(document, reference) {
  const one = objectAt(document, reference);
  return one ? cornersAt(document, reference, one) : [];
}

/**
 * Returns the places that a pointer drags: the corners, and for a circle its middle and a place on its line.
 * @param {any} document
 * @param {Reference} reference
 */
export function handlesAt(document, reference) {
  const radius = radiusAt(document, reference);
  const corners = shapeAt(document, reference);
  return radius === null ? corners : corners.flatMap(([x, y]) => [[x, y], [x + radius, y]]);
}

/**
 * Returns the radius of a circle in metres; null for another object.
 * @param {any} document
 * @param {Reference} reference
 */
export function radiusAt(document, reference) {
  if (kindNamed(reference.kind).shape !== "area") return null;
  const one = objectAt(document, reference);
  return !Array.isArray(one?.polygon) && isNumber(one?.radius) ? Math.max(0, one.radius) : null;
}

/**
 * Whether the object is an area or a line with several corners.
 * @param {any} document
 * @param {Reference} reference
 */
export function hasCorners(document, reference) {
  const { shape } = kindNamed(reference.kind);
  return shape !== "point" && (shape !== "area" || Array.isArray(objectAt(document, reference)?.polygon));
}

/**
 * Whether the object is an area, whose last corner is joined to the first.
 * @param {any} document
 * @param {Reference} reference
 */
export function isClosed(document, reference) {
  const { shape } = kindNamed(reference.kind);
  return shape === "polygon" || (shape === "area" && hasCorners(document, reference));
}

/** The smallest number of corners of an object. */
export const fewestCorners = (/** @type {string} */ kind) => fewest[kindNamed(kind).shape];

/**
 * Returns a value with a part replaced by another one. What is missing on the way becomes an object.
 * @param {any} value
 * @param {(string|number|symbol)[]} way
 * @param {any} part
 * @returns {any}
 */
function withPart(value, way, part) {
  if (way.length === 0) return part;
  const [key, ...rest] = way;
  const inner = withPart(value?.[key], rest, part);
  if (!Array.isArray(value)) return withFields(value ?? {}, { [key]: inner });
  const copy = [...value];
  copy[/** @type {number} */ (key)] = inner;
  return copy;
}

/**
 * Returns the document with another object at a reference; undefined removes it, and what can't be without it. Interactions
 * with a room, a point of interest or a fence follow its number.
 * @param {any} document
 * @param {Reference} reference
 * @param {any} value
 */
export function replaced(document, reference, value) {
  if (reference.kind === "node" && value === undefined) return withoutNode(document, reference.index);
  const list = [...listAt(document, reference)];
  const before = list[reference.index]?.id;
  if (value === undefined) list.splice(reference.index, 1);
  else list[reference.index] = value;
  const way = wayTo(reference);
  const changed = withPlace(withPart(document, way, list), way[0], before, value?.id);
  return reference.kind === "coordinate" && list.length === 0 ? withoutCoordinates(changed, reference.map ?? 0) : changed;
}

/**
 * Returns the document with a map whose plan has no place on Earth by coordinates.
 * @param {any} document
 * @param {number} map
 */
function withoutCoordinates(document, map) {
  const rest = withFields(document.maps[map].georeference, { controlPoints: undefined });
  return withPart(document, ["maps", map], withFields(
    document.maps[map], { georeference: Object.keys(rest).length > 0 ? rest : undefined }));
}

/**
 * Returns the document with a plan that two or more coordinates place on Earth, instead of a centre and a direction.
 * @param {any} document
 * @param {Reference} reference the new coordinate
 */
function withoutCentre(document, { index, map = 0 }) {
  if (index < 1) return document;
  const way = ["maps", map, "georeference"];
  return withPart(document, way, withFields(
    document.maps[map].georeference, { center: undefined, bearing: undefined }));
}

/**
 * Returns the document with changed fields of an object.
 * @param {any} document
 * @param {Reference} reference
 * @param {Record<string, any>} fields
 */
export function changed(document, reference, fields) {
  if (reference.kind === "node" && "id" in fields) return withNodeId(document, reference.index, fields.id);
  return replaced(document, reference, withFields(objectAt(document, reference), fields));
}

/**
 * Returns the document with other corners of an object. A second corner of a circle is on its line.
 * @param {any} document
 * @param {Reference} reference
 * @param {number[][]} corners
 */
export function reshaped(document, reference, corners) {
  const places = rounded(corners);
  const one = objectAt(document, reference);
  switch (kindNamed(reference.kind).shape) {
    case "line": case "polygon": return replaced(document, reference, places);
    case "link": return withEnds(document, reference.index, places);
    default:
      if (Array.isArray(one.polygon)) return changed(document, reference, { polygon: places });
  }
  const [[x, y], rim] = places;
  const radius = rim ? { radius: Math.max(0.1, centimetres(Math.hypot(rim[0] - x, rim[1] - y))) } : {};
  return changed(document, reference, { x, y, ...radius });
}

/**
 * Returns the document with an area as a circle, or with a circle as a polygon.
 * @param {any} document
 * @param {Reference} reference
 */
export function withOtherShape(document, reference) {
  const corners = shapeAt(document, reference);
  const radius = radiusAt(document, reference);
  if (radius !== null) {
    const [[x, y]] = corners;
    const polygon = Array.from({ length: 16 }, (_, index) => (
      [x + radius * Math.cos(index * Math.PI / 8), y + radius * Math.sin(index * Math.PI / 8)]));
    return changed(document, reference, { x: undefined, y: undefined, radius: undefined, polygon: rounded(polygon) });
  }
  const [x, y] = [0, 1].map((axis) => corners.reduce((sum, one) => sum + one[axis], 0) / corners.length);
  const far = corners.reduce((sum, one) => sum + Math.hypot(one[0] - x, one[1] - y), 0) / corners.length;
  return changed(document, reference, {
    polygon: undefined, x: centimetres(x), y: centimetres(y), radius: Math.max(0.1, centimetres(far)) });
}

/**
 * Returns the document with a new object behind the others, and its reference.
 * @param {any} document
 * @param {string} name the kind
 * @param {number} mapId
 * @param {number[][]} corners
 * @param {number} [after] the point of the walk that new ones follow
 * @returns {{document: any, reference: Reference}}
 */
export function added(document, name, mapId, corners, after) {
  if (name === "walk") {
    const result = withWalkPoints(document, mapId, corners, after);
    return { document: result.document, reference: { kind: name, index: result.last } };
  }
  const places = rounded(corners);
  const kind = kindNamed(name);
  if (kind.shape === "link") {
    const result = withPath(document, mapId, places);
    return { document: result, reference: { kind: name, index: result.paths.edges.length - 1 } };
  }
  const map = kind.list.includes("map")
    ? { map: document.maps.findIndex((/** @type {any} */ one) => one?.id === mapId) } : {};
  const reference = { kind: name, index: 0, ...map };
  const list = listAt(document, reference);
  reference.index = list.length;
  const [[x, y]] = places;
  const isList = kind.shape === "line" || kind.shape === "polygon";
  const shape = kind.shape === "area" ? { polygon: places } : { x, y };
  const { z, measuredPower, ...names } = kind.begin(document, mapId, list);
  const rest = Object.fromEntries(Object.entries({ z, measuredPower }).filter(([, value]) => value !== undefined));
  const floor = kind.list.includes("map") ? {} : { mapId };
  const result = replaced(document, reference, isList ? places : { ...names, ...floor, ...shape, ...rest });
  return { document: name === "coordinate" ? withoutCentre(result, reference) : result, reference };
}

/**
 * Returns a short name of an object.
 * @param {any} document
 * @param {Reference} reference
 */
export function titleOf(document, reference) {
  return kindNamed(reference.kind).name(objectAt(document, reference) ?? {}, reference.index);
}

/**
 * Returns the object that a path of the server names; null for another part of the document.
 * @param {any} document
 * @param {string} path such as `$.beacons[3].mapId`
 * @returns {Reference|null}
 */
export function referenceOf(document, path) {
  for (const kind of kinds) {
    const pattern = kind.list.map((key) => (key === "map" ? "\\[(\\d+)\\]" : `\\.${String(key)}`)).join("");
    const found = new RegExp(`^\\$${pattern}\\[(\\d+)\\]`).exec(path);
    if (!found) continue;
    const [map, index] = found.length > 2 ? [Number(found[1]), Number(found[2])] : [undefined, Number(found[1])];
    return settled(document, map === undefined ? { kind: kind.id, index } : { kind: kind.id, index, map });
  }
  return null;
}

/**
 * Returns the references of all objects of the document by the objects.
 * @param {any} document
 * @returns {Map<any, Reference>}
 */
export function placesOf(document) {
  const found = new Map();
  for (const kind of kinds) {
    const maps = kind.list.includes("map") ? listOf(document.maps).map((_, map) => ({ map })) : [{}];
    for (const map of maps) {
      listAt(document, { kind: kind.id, index: 0, ...map }).forEach((one, index) => {
        if (kind.has(one)) found.set(one, { kind: kind.id, index, ...map });
      });
    }
  }
  return found;
}

/**
 * Returns the objects with the identity of another one of their kind, in words.
 * @param {any} document
 * @returns {{reference: Reference, message: string}[]}
 */
export function duplicatesIn(document) {
  return kinds.flatMap((kind) => {
    const { identity } = kind;
    if (!identity) return [];
    /** @type {Map<string, number>} */
    const first = new Map();
    return listAt(document, { kind: kind.id, index: 0 }).flatMap((one, index) => {
      const name = isObject(one) && kind.has(one) ? identity(one) : "";
      if (name === "") return [];
      const earlier = first.get(name);
      if (earlier === undefined) {
        first.set(name, index);
        return [];
      }
      const what = kind.id === "beacon" ? "identity" : "id";
      return [{
        reference: { kind: kind.id, index },
        message: `has the ${what} of ${titleOf(document, { kind: kind.id, index: earlier })}`,
      }];
    });
  });
}
