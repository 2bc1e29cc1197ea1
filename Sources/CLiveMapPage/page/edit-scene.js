// @ts-check
/** The venue of a document in the form that the layers of a live map draw. */
import { mapsOf } from "./venue-objects.js";
import { cornersOf, listOf } from "./venue-values.js";

const flat = (/** @type {any} */ line) => cornersOf(line).flat();
const isPlace = (/** @type {any} */ one) => typeof one?.x === "number" && typeof one?.y === "number";

/**
 * @param {any} one a room or a fence
 * @param {number} index
 */
function areaOf(one, index) {
  const common = { id: index, name: String(one?.name ?? ""), mapId: one?.mapId };
  if (Array.isArray(one?.polygon)) return [{ ...common, polygon: flat(one.polygon) }];
  if (!isPlace(one) || typeof one.radius !== "number") return [];
  return [{ ...common, circle: { x: one.x, y: one.y, radius: Math.max(0, one.radius) } }];
}

/**
 * @param {any} document
 * @param {any} overview
 */
export function sceneVenue(document, overview) {
  const stored = new Map(listOf(overview.maps).map((map) => [map.id, map]));
  return {
    id: overview.venueId,
    maps: mapsOf(document).map((map) => ({
      ...map, hasImage: typeof document.maps[map.index].image === "string",
      // The server has the tiles of the stored document only.
      tiles: typeof document.maps[map.index].tiles === "string" ? stored.get(map.id)?.tiles ?? null : null,
      walls: listOf(document.maps[map.index].walls).map(flat),
      walkable: listOf(document.maps[map.index].walkable).map(flat),
    })),
    rooms: listOf(document.rooms).flatMap(areaOf),
    fences: listOf(document.events).flatMap(areaOf),
    pointsOfInterest: listOf(document.pois).filter(isPlace).map((/** @type {any} */ one) => ({
      id: one.id, name: String(one.name ?? ""), mapId: one.mapId, x: one.x, y: one.y,
    })),
    beacons: [],
    // The editor draws beacons and anchors itself; names keep away from them.
    marks: [...listOf(document.beacons), ...listOf(document.anchors)].filter(isPlace),
  };
}
