// @ts-check
/** What beacons and receivers are recognised by. */
import { isNumber, isObject, listOf, withFields } from "./venue-values.js";

/** The kinds of a beacon's name with their fields. */
export const namings = [
  { id: "uuid", title: "iBeacon", fields: ["uuid", "major", "minor"] },
  { id: "eddystoneUID", title: "Eddystone-UID", fields: ["namespace", "instance"] },
  { id: "altBeacon", title: "AltBeacon", fields: ["altBeaconId"] },
  { id: "address", title: "Address alone", fields: ["address"] },
];

export const isReceiver = (/** @type {any} */ one) => one?.role === "receiver";

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
 * Returns an id that no receiver has.
 * @param {any} document
 */
export function nextReceiverId(document) {
  const taken = new Set(listOf(document.beacons).flatMap((one) => [one?.id, ...listOf(one?.aliases)]));
  let number = 1;
  while (taken.has(`receiver-${number}`)) number++;
  return `receiver-${number}`;
}

/**
 * Returns the fields that all beacons, or all receivers, of a map share.
 * @param {any} document
 * @param {number} mapId
 * @param {boolean} ofReceivers
 */
export function commonFields(document, mapId, ofReceivers) {
  const alike = listOf(document.beacons).filter((one) => one?.mapId === mapId && isReceiver(one) === ofReceivers);
  return Object.fromEntries((ofReceivers ? ["z"] : ["z", "measuredPower"]).flatMap((key) => {
    const value = alike[0]?.[key];
    return isNumber(value) && alike.every((one) => one[key] === value) ? [[key, value]] : [];
  }));
}

/**
 * Returns the kind of a beacon's name.
 * @param {any} beacon
 */
export function namingOf(beacon) {
  const found = namings.find((naming) => naming.id !== "address" && naming.fields.some((key) => key in beacon));
  return found ?? namings[3];
}

const nameFields = namings.flatMap((naming) => naming.fields);
const without = (/** @type {string[]} */ keys) => Object.fromEntries(keys.map((key) => [key, undefined]));

/**
 * Returns a beacon with the fields of another kind of name.
 * @param {any} beacon
 * @param {string} id
 * @param {any} identity the fields of a new iBeacon
 */
export function renamed(beacon, id, identity) {
  const chosen = namings.find((naming) => naming.id === id) ?? namings[0];
  const bare = withFields(beacon, without(nameFields.filter((key) => key !== "address")));
  for (const key of chosen.fields) bare[key] = chosen.id === "uuid" ? identity[key] : bare[key] ?? "";
  return bare;
}

/**
 * Returns a beacon as a receiver at the same place, or a receiver as a beacon.
 * @param {any} document
 * @param {any} one
 */
export function withOtherRole(document, one) {
  if (isReceiver(one)) {
    const bare = withFields(one, { ...without(["role", "id", "aliases"]), ...without(nameFields) });
    return { ...nextIdentity(document, one.mapId), ...bare };
  }
  const bare = withFields(one, without([...nameFields, "addressType", "measuredPower"]));
  return { role: "receiver", id: nextReceiverId(document), ...bare };
}

/**
 * Returns a short name.
 * @param {any} one
 * @param {number} index
 */
export function radioName(one, index) {
  if (isReceiver(one)) return String(one.id ?? "receiver");
  if (typeof one.uuid === "string") return `${one.major}/${one.minor}`;
  return String(one.instance ?? one.altBeaconId ?? one.address ?? `beacon ${index + 1}`);
}

/**
 * Returns what a beacon or a receiver is recognised by, as a comparable text; empty if it is incomplete.
 * @param {any} beacon
 */
export function identityOf(beacon) {
  if (isReceiver(beacon)) return beacon.id ? `receiver ${beacon.id}` : "";
  const digits = (/** @type {any} */ text) => String(text).toUpperCase().replace(/[^0-9A-F]/g, "");
  const word = (/** @type {any} */ number) => Number(number).toString(16).toUpperCase().padStart(4, "0");
  const naming = namingOf(beacon);
  if (naming.fields.some((key) => beacon[key] === undefined || beacon[key] === "")) return "";
  switch (naming.id) {
    case "uuid": return digits(beacon.uuid) + word(beacon.major) + word(beacon.minor);
    case "eddystoneUID": return `${digits(beacon.namespace)}${digits(beacon.instance)}00000000`;
    case "altBeacon": return digits(beacon.altBeaconId);
    default: return `address ${digits(beacon.address)}`;
  }
}
