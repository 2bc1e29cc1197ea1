// @ts-check
/** The beacons, rooms and walls of a venue's document, and changes of them. A change returns a new document. */

/**
 * An object of the document: its kind, its index, and for a wall the index of its map.
 * @typedef {{kind: "beacon"|"room"|"wall", index: number, map?: number}} Reference
 */

/** The kinds of a beacon's name with their fields. */
export const namings = [
  { id: "uuid", title: "iBeacon", fields: ["uuid", "major", "minor"] },
  { id: "eddystoneUID", title: "Eddystone-UID", fields: ["namespace", "instance"] },
  { id: "altBeacon", title: "AltBeacon", fields: ["altBeaconId"] },
  { id: "address", title: "Address alone", fields: ["address"] },
];

const isObject = (/** @type {any} */ value) => typeof value === "object" && value !== null && !Array.isArray(value);
export const listOf = (/** @type {any} */ value) => (Array.isArray(value) ? value : []);
const isNumber = (/** @type {any} */ value) => typeof value === "number";
/** Returns a length in metres, rounded to centimetres. */
export const centimetres = (/** @type {number} */ value) => Math.round(value * 100) / 100 + 0;

/**
 * Returns the valid corners of a polygon or a polyline.
 * @param {any} line
 * @returns {[number, number][]}
 */
export function cornersOf(line) {
  return listOf(line).filter((one) => Array.isArray(one) && isNumber(one[0]) && isNumber(one[1]));
}

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
 * Returns the references of all objects on a map.
 * @param {any} document
 * @param {number} mapId
 * @returns {Reference[]}
 */
export function objectsOn(document, mapId) {
  const on = (/** @type {any} */ one) => isObject(one) && one.mapId === mapId;
  const of = (/** @type {"beacon"|"room"} */ kind, /** @type {any} */ list) => listOf(list).flatMap(
    (one, index) => (on(one) && cornersAt({ kind, index }, one).length > 0 ? [{ kind, index }] : []));
  const map = listOf(document?.maps).findIndex((one) => isObject(one) && one.id === mapId);
  const walls = map < 0 ? [] : listOf(document.maps[map].walls);
  return [
    ...of("beacon", document?.beacons), ...of("room", document?.rooms),
    ...walls.flatMap((wall, index) => (cornersOf(wall).length === 0 ? [] : [
      { kind: /** @type {"wall"} */ ("wall"), index, map }])),
  ];
}

/**
 * @param {Reference} reference
 * @param {any} one
 */
function cornersAt(reference, one) {
  if (reference.kind === "wall") return cornersOf(one);
  if (reference.kind === "room" && Array.isArray(one.polygon)) return cornersOf(one.polygon);
  return isNumber(one.x) && isNumber(one.y) ? [[one.x, one.y]] : [];
}

/**
 * Returns an object; undefined if the document doesn't have it.
 * @param {any} document
 * @param {Reference|null} reference
 */
export function objectAt(document, reference) {
  if (!reference) return undefined;
  if (reference.kind === "wall") return listOf(document?.maps?.[reference.map ?? -1]?.walls)[reference.index];
  return listOf(reference.kind === "beacon" ? document?.beacons : document?.rooms)[reference.index];
}

/**
 * Returns the corners of an object: one for a beacon and a round room.
 * @param {any} document
 * @param {Reference} reference
 * @returns {number[][]}
 */
export function shapeAt(document, reference) {
  const one = objectAt(document, reference);
  return one ? cornersAt(reference, one) : [];
}

/**
 * Whether the object is an area or a line with several corners.
 * @param {any} document
 * @param {Reference} reference
 */
export function hasCorners(document, reference) {
  return reference.kind === "wall" || Array.isArray(objectAt(document, reference)?.polygon);
}

/**
 * Whether an object of the document is on a map.
 * @param {any} document
 * @param {Reference|null} reference
 * @param {any} map a map that can be drawn
 */
export function isOnMap(document, reference, map) {
  const one = objectAt(document, reference);
  if (!one || !reference || !map) return false;
  return reference.kind === "wall" ? reference.map === map.index : one.mapId === map.id;
}

/** The smallest number of corners of an object. */
export const fewestCorners = (/** @type {Reference} */ reference) => (reference.kind === "wall" ? 2 : 3);

/**
 * Returns the document with another object at a reference; undefined removes it.
 * @param {any} document
 * @param {Reference} reference
 * @param {any} value
 */
export function replaced(document, reference, value) {
  const change = (/** @type {any} */ list) => {
    const copy = [...listOf(list)];
    if (value === undefined) copy.splice(reference.index, 1);
    else copy[reference.index] = value;
    return copy;
  };
  const copy = withFields(document, {});
  if (reference.kind !== "wall") {
    const key = reference.kind === "beacon" ? "beacons" : "rooms";
    copy[key] = change(document[key]);
    return copy;
  }
  copy.maps = [...document.maps];
  const map = copy.maps[reference.map ?? 0];
  copy.maps[reference.map ?? 0] = withFields(map, { walls: change(map.walls) });
  return copy;
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
 * Returns the document with other corners of an object.
 * @param {any} document
 * @param {Reference} reference
 * @param {number[][]} corners
 */
export function reshaped(document, reference, corners) {
  const rounded = corners.map(([x, y]) => [centimetres(x), centimetres(y)]);
  const one = objectAt(document, reference);
  if (reference.kind === "wall") return replaced(document, reference, rounded);
  if (Array.isArray(one.polygon)) return replaced(document, reference, withFields(one, { polygon: rounded }));
  const [[x, y]] = rounded;
  return replaced(document, reference, withFields(one, { x, y }));
}

/**
 * Returns the document with a moved object.
 * @param {any} document
 * @param {Reference} reference
 * @param {number} dx metres
 * @param {number} dy metres
 */
export function moved(document, reference, dx, dy) {
  return reshaped(document, reference, shapeAt(document, reference).map(([x, y]) => [x + dx, y + dy]));
}

/**
 * Returns the document with a new object behind the others, and its reference.
 * @param {any} document
 * @param {Reference["kind"]} kind
 * @param {number} mapId
 * @param {number[][]} corners
 * @returns {{document: any, reference: Reference}}
 */
export function added(document, kind, mapId, corners) {
  const rounded = corners.map(([x, y]) => [centimetres(x), centimetres(y)]);
  if (kind === "wall") {
    const map = document.maps.findIndex((/** @type {any} */ one) => one?.id === mapId);
    const reference = { kind, map, index: listOf(document.maps[map].walls).length };
    return { document: replaced(document, reference, rounded), reference };
  }
  if (kind === "room") {
    const ids = listOf(document.rooms).map((room) => room?.id).filter(isNumber);
    const id = Math.max(0, ...ids) + 1;
    const reference = { kind, index: listOf(document.rooms).length };
    return { document: replaced(document, reference, { id, name: `Room ${id}`, mapId, polygon: rounded }), reference };
  }
  const [[x, y]] = rounded;
  const reference = { kind, index: listOf(document.beacons).length };
  const beacon = { ...nextIdentity(document, mapId), mapId, x, y, ...commonFields(document, mapId) };
  return { document: replaced(document, reference, beacon), reference };
}

/**
 * Returns the first free identity after those of the map's beacons: the same UUID and major, and the next minor.
 * @param {any} document
 * @param {number} mapId
 */
export function nextIdentity(document, mapId) {
  const named = listOf(document.beacons).filter(
    (one) => isObject(one) && typeof one.uuid === "string" && isNumber(one.major) && isNumber(one.minor));
  const model = named.findLast((one) => one.mapId === mapId);
  const uuid = model?.uuid ?? named[0]?.uuid ?? crypto.randomUUID().toUpperCase();
  const alike = named.filter((one) => one.uuid.toUpperCase() === uuid.toUpperCase());
  const majors = alike.map((one) => one.major);
  const major = model?.major ?? Math.min(65535, Math.max(0, ...majors) + 1);
  const taken = new Set(alike.filter((one) => one.major === major).map((one) => one.minor));
  let minor = Math.min(65535, Math.max(0, ...taken) + 1);
  while (taken.has(minor)) minor = (minor + 1) % 65536;
  return { uuid, major, minor };
}

/**
 * Returns the height and the power if all beacons of the map have the same.
 * @param {any} document
 * @param {number} mapId
 */
function commonFields(document, mapId) {
  const beacons = listOf(document.beacons).filter((one) => one?.mapId === mapId && one.role !== "receiver");
  return Object.fromEntries(["z", "measuredPower"].flatMap((key) => {
    const value = beacons[0]?.[key];
    return isNumber(value) && beacons.every((one) => one[key] === value) ? [[key, value]] : [];
  }));
}

/**
 * Returns the kind of a beacon's name; null for a receiver.
 * @param {any} beacon
 */
export function namingOf(beacon) {
  if (beacon.role === "receiver") return null;
  const found = namings.find((naming) => naming.id !== "address" && naming.fields.some((key) => key in beacon));
  return found ?? namings[3];
}

/**
 * Returns a beacon with the fields of another kind of name.
 * @param {any} beacon
 * @param {string} id
 * @param {any} identity the fields of a new iBeacon
 */
export function renamed(beacon, id, identity) {
  const others = Object.fromEntries(namings.flatMap((naming) => naming.fields).filter((key) => key !== "address")
    .map((key) => [key, undefined]));
  const chosen = namings.find((naming) => naming.id === id) ?? namings[0];
  const bare = withFields(beacon, others);
  for (const key of chosen.fields) bare[key] = chosen.id === "uuid" ? identity[key] : bare[key] ?? "";
  return bare;
}

/**
 * Returns a short name of an object.
 * @param {any} document
 * @param {Reference} reference
 */
export function titleOf(document, reference) {
  const one = objectAt(document, reference);
  if (reference.kind === "wall") return `Wall ${reference.index + 1}`;
  if (reference.kind === "room") return String(one.name ?? `Room ${one.id}`);
  if (one.role === "receiver") return String(one.id ?? "receiver");
  if (typeof one.uuid === "string") return `${one.major}/${one.minor}`;
  return String(one.instance ?? one.altBeaconId ?? one.address ?? `beacon ${reference.index + 1}`);
}

/**
 * Returns the beacons with the identity of another one, and the rooms with the id of another one, in words.
 * @param {any} document
 * @returns {{reference: Reference, message: string}[]}
 */
export function duplicatesIn(document) {
  const found = (/** @type {"beacon"|"room"} */ kind, /** @type {any[]} */ list, /** @type {(one: any) => string} */ key) => {
    /** @type {Map<string, number>} */
    const first = new Map();
    return list.flatMap((one, index) => {
      const name = isObject(one) ? key(one) : "";
      if (name === "") return [];
      if (!first.has(name)) first.set(name, index);
      const earlier = first.get(name) ?? index;
      const message = `has the ${kind === "beacon" ? "identity" : "id"} of ${titleOf(document, { kind, index: earlier })}`;
      return earlier === index ? [] : [{ reference: { kind, index }, message }];
    });
  };
  const room = (/** @type {any} */ one) => (isNumber(one.id) ? String(one.id) : "");
  return [...found("beacon", listOf(document.beacons), identityOf), ...found("room", listOf(document.rooms), room)];
}

/**
 * Returns what a transmitter is recognised by, as a comparable text; empty if it is incomplete.
 * @param {any} beacon
 */
function identityOf(beacon) {
  if (beacon.role === "receiver") return beacon.id ? `receiver ${beacon.id}` : "";
  const digits = (/** @type {any} */ text) => String(text).toUpperCase().replace(/[^0-9A-F]/g, "");
  const word = (/** @type {any} */ number) => Number(number).toString(16).toUpperCase().padStart(4, "0");
  const naming = namingOf(beacon) ?? namings[0];
  if (naming.fields.some((key) => beacon[key] === undefined || beacon[key] === "")) return "";
  switch (naming.id) {
    case "uuid": return digits(beacon.uuid) + word(beacon.major) + word(beacon.minor);
    case "eddystoneUID": return `${digits(beacon.namespace)}${digits(beacon.instance)}00000000`;
    case "altBeacon": return digits(beacon.altBeaconId);
    default: return `address ${digits(beacon.address)}`;
  }
}
