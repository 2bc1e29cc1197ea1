// @ts-check
/** The kinds of objects of a venue: where the document has them, their shape, their fields, and how a new one begins. */
import { commonFields, identityOf, isReceiver, namingOf, nextIdentity, nextReceiverId, radioName } from "./venue-beacons.js";
import { isNumber, listOf, nextNumber } from "./venue-values.js";
import { walkKey } from "./venue-walk.js";

/**
 * A field of an object in the panel.
 * @typedef {{
 *   key: string, title: string, isRequired?: boolean, options?: string[][],
 *   type: "number"|"integer"|"text"|"words"|"json"|"choice"|"check"|"floor"|"naming"|"role"|"shape"|"join",
 * }} Field
 */

/**
 * A kind of objects. `list` is the place of its list in the document; "map" stands for each map. The shapes:
 * - point: `x` and `y`
 * - line and polygon: a list of corners
 * - area: `polygon`, or `x`, `y` and `radius`
 * - link: a line between the two nodes `from` and `to`
 * Points can be drawn several at once, as a line.
 * @typedef {{
 *   id: string, title: string, plural: string, hint: string, key: string|null, list: (string|symbol)[], drawn?: "line",
 *   shape: "point"|"line"|"polygon"|"area"|"link", has: (one: any) => boolean,
 *   name: (one: any, index: number) => string, identity: ((one: any) => string)|null,
 *   fields: (one: any) => Field[][], begin: (document: any, mapId: number, list: any) => any,
 * }} Kind
 */

/** @type {(key: string, title: string, isRequired?: boolean) => Field} */
const number = (key, title, isRequired = false) => ({ key, title, isRequired, type: "number" });
/** @type {(key: string, title: string) => Field} */
const text = (key, title) => ({ key, title, type: "text" });
/** @type {(key: string, title: string, options: string[][]) => Field} */
const choice = (key, title, options) => ({ key, title, options, type: "choice" });

/** @type {Field} */
const floor = { key: "mapId", title: "Floor", type: "floor" };
/** @type {Field} */
const id = { key: "id", title: "Id", type: "integer", isRequired: true };
/** @type {Field} */
const payload = { key: "payload", title: "Payload (JSON)", type: "json" };
/** @type {Field} */
const role = { key: "role", title: "Use", type: "role" };
const place = [[floor], [number("x", "x (m)", true), number("y", "y (m)", true)]];
const height = [number("z", "Height above the floor (m)")];
const radio = [number("measuredPower", "RSSI at 1 m (dBm)"), number("pathLossExponent", "Path loss exponent")];
/** @type {Record<string, Field>} */
const nameFields = {
  uuid: text("uuid", "UUID"), major: number("major", "Major", true), minor: number("minor", "Minor", true),
  namespace: text("namespace", "Namespace"), instance: text("instance", "Instance"),
  altBeaconId: text("altBeaconId", "AltBeacon id"), address: text("address", "Address"),
};
const addressType = choice(
  "addressType", "Type of the address", [["", "not stated"], ["public", "public"], ["random", "random"]]);

/** @param {any} one */
function beaconFields(one) {
  const keys = namingOf(one).fields.filter((key) => key !== "address");
  const names = keys.includes("major") ? [["uuid"], ["major", "minor"]] : keys.map((key) => [key]);
  /** @type {Field} */
  const naming = { key: "naming", title: "Kind", type: "naming" };
  return [
    [role], [naming], ...names.map((row) => row.map((key) => nameFields[key])), [nameFields.address], [addressType],
    ...place, height, radio,
  ];
}

/** @param {any} one */
function areaFields(one) {
  /** @type {Field} */
  const shape = { key: "shape", title: "Shape", type: "shape" };
  return "radius" in one
    ? [[floor], [shape], [number("x", "x (m)", true), number("y", "y (m)", true)], [number("radius", "Radius (m)", true)]]
    : [[floor], ...(Array.isArray(one.polygon) ? [[shape]] : [])];
}

const numbered = (/** @type {any} */ one) => (isNumber(one.id) ? String(one.id) : "");
const nothing = () => ({});

/** @type {Kind[]} */
export const kinds = [
  {
    id: "beacon", title: "Beacon", plural: "beacons", key: "b", list: ["beacons"], shape: "point",
    hint: "Click where the beacon is.", has: (one) => !isReceiver(one), name: radioName, identity: identityOf,
    fields: beaconFields,
    begin: (document, mapId) => ({ ...nextIdentity(document, mapId), ...commonFields(document, mapId, false) }),
  },
  {
    id: "receiver", title: "Receiver", plural: "receivers", key: "g", list: ["beacons"], shape: "point",
    hint: "Click where the receiver is.", has: isReceiver, name: radioName, identity: identityOf,
    fields: () => [
      [role], [text("id", "Id")], [{ key: "aliases", title: "Other names, with commas between", type: "words" }],
      ...place, height, radio,
    ],
    begin: (document, mapId) => ({
      role: "receiver", id: nextReceiverId(document), ...commonFields(document, mapId, true) }),
  },
  {
    id: "anchor", title: "Anchor", plural: "anchors", key: "n", list: ["anchors"], shape: "point",
    hint: "Click where the anchor is.", has: () => true, name: (one) => String(one.id ?? "anchor"),
    identity: (one) => (typeof one.id === "string" ? one.id : ""),
    fields: () => [[text("id", "Id")], ...place, height],
    begin: (_document, _mapId, list) => {
      const taken = new Set(listOf(list).map((one) => one?.id));
      let next = 1;
      while (taken.has(`anchor-${next}`)) next++;
      return { id: `anchor-${next}` };
    },
  },
  {
    id: "poi", title: "Point of interest", plural: "points of interest", key: "p", list: ["pois"], shape: "point",
    hint: "Click where the point of interest is.", has: () => true, name: (one) => String(one.name ?? `Point ${one.id}`),
    identity: numbered,
    fields: () => [
      [text("name", "Name")], [text("description", "Description")], [id], ...place, [payload]],
    begin: (_document, _mapId, list) => ({ id: nextNumber(list), name: `Point ${nextNumber(list)}` }),
  },
  {
    id: "room", title: "Room", plural: "rooms", key: "r", list: ["rooms"], shape: "area",
    hint: "Click each corner. Enter, a double click or the first corner ends the room.",
    has: () => true, name: (one) => String(one.name ?? `Room ${one.id}`), identity: numbered,
    fields: (one) => [[text("name", "Name")], [id], ...areaFields(one)],
    begin: (_document, _mapId, list) => ({ id: nextNumber(list), name: `Room ${nextNumber(list)}` }),
  },
  {
    id: "fence", title: "Fence", plural: "fences", key: "f", list: ["events"], shape: "area",
    hint: "Click each corner. Enter, a double click or the first corner ends the fence.",
    has: () => true, name: (one) => String(one.name ?? `Fence ${one.id}`), identity: numbered,
    fields: (one) => [
      [text("name", "Name")], [id], ...areaFields(one),
      [number("timeout", "Silent after an exit (s)"), number("exitDelay", "Delay of the exit (s)")],
      [number("exitMargin", "Margin of the exit (m)")], [payload],
    ],
    begin: (_document, _mapId, list) => ({ id: nextNumber(list), name: `Fence ${nextNumber(list)}` }),
  },
  {
    id: "walkable", title: "Walkable area", plural: "walkable areas", key: "a", list: ["maps", "map", "walkable"],
    shape: "polygon", hint: "Click each corner. Enter, a double click or the first corner ends the area.",
    has: () => true, name: (_, index) => `Walkable area ${index + 1}`, identity: null, fields: () => [], begin: nothing,
  },
  {
    id: "wall", title: "Wall", plural: "walls", key: "w", list: ["maps", "map", "walls"], shape: "line",
    hint: "Click each corner. Enter or a double click ends the wall.",
    has: () => true, name: (_, index) => `Wall ${index + 1}`, identity: null, fields: () => [], begin: nothing,
  },
  {
    id: "coordinate", title: "Coordinate", plural: "coordinates", key: "c",
    list: ["maps", "map", "georeference", "controlPoints"], shape: "point",
    hint: "Click a place whose coordinate you know. Two or more of them, far apart, place the plan on Earth.",
    has: () => true, name: (one) => `${one.latitude}, ${one.longitude}`, identity: null,
    fields: () => [
      [number("latitude", "Latitude (°)", true), number("longitude", "Longitude (°)", true)],
      [number("x", "x (m)", true), number("y", "y (m)", true)],
    ],
    begin: (document) => ({
      latitude: document.coordinate?.latitude ?? 0, longitude: document.coordinate?.longitude ?? 0 }),
  },
  {
    id: "node", title: "Node", plural: "nodes", key: null, list: ["paths", "nodes"], shape: "point", hint: "",
    has: () => true, name: (one) => `Node ${one.id}`, identity: numbered,
    fields: () => [[id], ...place, [{ key: "join", title: "Join to another floor", type: "join" }]], begin: nothing,
  },
  {
    id: "path", title: "Path", plural: "paths", key: "l", list: ["paths", "edges"], shape: "link",
    hint: "Click each place, or a place of another path to join it. Enter or a double click ends the path.",
    has: () => true, name: (one) => `Path ${one.from}–${one.to}`, identity: null,
    fields: () => [
      [choice("kind", "Kind", [["", "walk"], ["stairs", "stairs"], ["elevator", "elevator"], ["escalator", "escalator"]])],
      [{ key: "oneWay", title: "One way", type: "check" }], [number("weight", "Cost (m)")],
      [{ key: "tags", title: "Tags, with commas between", type: "words" }],
    ],
    begin: nothing,
  },
  {
    id: "walk", title: "Walk", plural: "walk points", key: "k", list: [walkKey, "points"], shape: "point", drawn: "line",
    hint: "Click where the walk leads. Enter or a double click ends it.",
    has: () => true, name: (_, index) => `Walk point ${index + 1}`, identity: null,
    fields: () => [
      ...place, [number("pause", "Pause (s)"), number("heading", "Heading then (°)")],
      [number("speed", "Speed to here (m/s)"), number("seconds", "Seconds to here")],
      [choice("by", "If it comes from another floor", [["", "by stairs"], ["elevator", "by elevator"]])],
      [{ key: "outdoors", title: "Outdoors", type: "check" }],
    ],
    begin: nothing,
  },
];

const byName = new Map(kinds.map((kind) => [kind.id, kind]));

/**
 * Returns the kind with a name.
 * @param {string} name
 * @returns {Kind}
 */
export function kindNamed(name) {
  const found = byName.get(name);
  if (!found) throw new Error(`there is no kind ${name}`);
  return found;
}

/** The fewest corners of a shape that is drawn. */
export const fewest = { point: 1, line: 2, link: 2, polygon: 3, area: 3 };
