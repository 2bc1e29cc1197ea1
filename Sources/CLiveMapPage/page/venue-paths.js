// @ts-check
/** The graph of paths. A change returns a new document. */
import { centimetres, distanceToSegment, isNumber, isObject, listOf, nextNumber, withFields } from "./venue-values.js";

/** The distance in metres within which a place is the same as a node, or is on a path. */
const same = 0.011;

/** @type {WeakMap<any[], Map<any, any>>} */
const indexes = new WeakMap();

/**
 * Returns a node; undefined if the document doesn't have it.
 * @param {any} document
 * @param {any} id
 */
export function nodeNamed(document, id) {
  const nodes = document?.paths?.nodes;
  if (!Array.isArray(nodes)) return undefined;
  let found = indexes.get(nodes);
  if (!found) {
    found = new Map(nodes.filter(isObject).map((node) => [node.id, node]));
    indexes.set(nodes, found);
  }
  return found.get(id);
}

/**
 * Returns the two nodes of a path; null if one of them is missing.
 * @param {any} document
 * @param {any} edge
 * @returns {any[]|null}
 */
export function endsOf(document, edge) {
  const ends = [nodeNamed(document, edge?.from), nodeNamed(document, edge?.to)];
  return ends.every((one) => one && isNumber(one.x) && isNumber(one.y)) ? ends : null;
}

/**
 * @param {any} document
 * @param {any[]} nodes
 * @param {any[]} edges
 */
function withGraph(document, nodes, edges) {
  return withFields(document, { paths: withFields(document.paths ?? {}, { nodes, edges }) });
}

/**
 * Returns the document with moved ends of a path. A third place between them divides the path.
 * @param {any} document
 * @param {number} index
 * @param {number[][]} places rounded
 */
export function withEnds(document, index, places) {
  const edge = document.paths.edges[index];
  const ends = [places[0], places[places.length - 1]];
  const nodes = document.paths.nodes.map((/** @type {any} */ node) => {
    const end = [edge.from, edge.to].indexOf(node?.id);
    if (end < 0 || (node.x === ends[end][0] && node.y === ends[end][1])) return node;
    return withFields(node, { x: ends[end][0], y: ends[end][1] });
  });
  const changed = withGraph(document, nodes, document.paths.edges);
  return places.length > 2 ? divided(changed, index, places[1]).document : changed;
}

/**
 * Returns the document with a new node on a path, and the number of the node.
 * @param {any} document
 * @param {number} index
 * @param {number[]} place
 */
export function divided(document, index, place) {
  const edge = document.paths.edges[index];
  const [from, to] = /** @type {any[]} */ (endsOf(document, edge));
  const id = nextNumber(document.paths.nodes);
  const node = { id, mapId: from.mapId, x: centimetres(place[0]), y: centimetres(place[1]) };
  const lengths = [from, to].map((end) => Math.hypot(end.x - node.x, end.y - node.y));
  const part = lengths[0] / (lengths[0] + lengths[1] || 1);
  const weights = isNumber(edge.weight)
    ? [{ weight: centimetres(edge.weight * part) }, { weight: centimetres(edge.weight * (1 - part)) }] : [{}, {}];
  const edges = [...document.paths.edges];
  edges.splice(index, 1, withFields(edge, { to: id, ...weights[0] }), withFields(edge, { from: id, ...weights[1] }));
  return { document: withGraph(document, [...document.paths.nodes, node], edges), id };
}

/**
 * Returns the document with a path along places. A place of a node joins the path to it, and a place on another path
 * divides that one.
 * @param {any} document
 * @param {number} mapId
 * @param {number[][]} places rounded
 */
export function withPath(document, mapId, places) {
  let changed = withGraph(document, listOf(document.paths?.nodes), listOf(document.paths?.edges));
  const ids = places.map((place) => {
    const far = (/** @type {any} */ one) => Math.hypot(one.x - place[0], one.y - place[1]);
    const known = changed.paths.nodes.find((/** @type {any} */ one) => one?.mapId === mapId && far(one) <= same);
    if (known) return known.id;
    const crossed = changed.paths.edges.findIndex((/** @type {any} */ edge) => {
      const ends = endsOf(changed, edge);
      if (ends === null || ends.some((end) => end.mapId !== mapId)) return false;
      const [from, to] = ends.map(({ x, y }) => [x, y]);
      return distanceToSegment(place, from, to) <= same;
    });
    if (crossed >= 0) {
      const result = divided(changed, crossed, place);
      changed = result.document;
      return result.id;
    }
    const id = nextNumber(changed.paths.nodes);
    const node = { id, mapId, x: place[0], y: place[1] };
    changed = withGraph(changed, [...changed.paths.nodes, node], changed.paths.edges);
    return id;
  });
  const edges = [...changed.paths.edges];
  for (let index = 0; index + 1 < ids.length; index++) {
    const [from, to] = [ids[index], ids[index + 1]];
    const isKnown = edges.some((one) => (one.from === from && one.to === to) || (one.from === to && one.to === from));
    if (from !== to && !isKnown) edges.push({ from, to });
  }
  return withGraph(changed, changed.paths.nodes, edges);
}

/**
 * Returns the document without a node and the paths that end there.
 * @param {any} document
 * @param {number} index
 */
export function withoutNode(document, index) {
  const { id } = document.paths.nodes[index];
  return withGraph(
    document, document.paths.nodes.filter((/** @type {any} */ _, /** @type {number} */ one) => one !== index),
    listOf(document.paths.edges).filter((edge) => edge?.from !== id && edge?.to !== id));
}

/**
 * Returns the document with another number of a node, also in the paths that end there.
 * @param {any} document
 * @param {number} index
 * @param {number} id
 */
export function withNodeId(document, index, id) {
  const nodes = [...document.paths.nodes];
  const old = nodes[index].id;
  nodes[index] = withFields(nodes[index], { id });
  const isShared = nodes.some((node) => node?.id === old);
  const edges = isShared ? document.paths.edges : listOf(document.paths.edges).map((edge) => (
    edge?.from === old || edge?.to === old
      ? withFields(edge, { from: edge.from === old ? id : edge.from, to: edge.to === old ? id : edge.to }) : edge));
  return withGraph(document, nodes, edges);
}

/**
 * Returns the document with stairs between two nodes of different floors.
 * @param {any} document
 * @param {number} from
 * @param {number} to
 */
export function withStairs(document, from, to) {
  const edges = [...listOf(document.paths.edges), { from, to, kind: "stairs" }];
  return withGraph(document, document.paths.nodes, edges);
}

/**
 * Returns the nodes of other floors that a node isn't joined to, the nearest on the plan first.
 * @param {any} document
 * @param {any} node
 */
export function nodesToJoin(document, node) {
  const joined = new Set(listOf(document.paths?.edges).flatMap(
    (edge) => (edge?.from === node.id ? [edge.to] : edge?.to === node.id ? [edge.from] : [])));
  return listOf(document.paths?.nodes)
    .filter((one) => isObject(one) && one.mapId !== node.mapId && isNumber(one.x) && isNumber(one.y) && !joined.has(one.id))
    .map((one) => ({ node: one, far: Math.hypot(one.x - node.x, one.y - node.y) }))
    .sort((a, b) => a.far - b.far).slice(0, 20);
}
