// @ts-check
/** Groups of dots that would cover each other. */

/** The radius of a dot with its halo, and of the smallest and the largest group, in CSS pixels. */
const dotRadius = 7, smallest = 12, largest = 20;
/** The side of a cell of the grid, which is at least the sum of the largest radii. */
const cell = 2 * largest;

/**
 * A group of dots: its tags, its place in CSS pixels, and its radius.
 * @typedef {{dots: {tag: any, x: number, y: number}[], x: number, y: number, radius: number}} Group
 */

/**
 * Returns the radius of a group.
 * @param {number} count
 */
function radiusOf(count) {
  return count === 1 ? dotRadius : Math.min(largest, smallest + 2.6 * Math.log10(count) * Math.SQRT2);
}

/**
 * Returns groups of dots that don't cover each other. The same dots in the same order have the same groups.
 * @param {{tag: any, x: number, y: number}[]} dots
 * @returns {Group[]}
 */
export function groupsOf(dots) {
  /** @type {Map<string, Set<Group>>} */
  const cells = new Map();
  const keyOf = (/** @type {number} */ x, /** @type {number} */ y) => `${Math.floor(x / cell)},${Math.floor(y / cell)}`;
  /** @type {Set<Group>} */
  const groups = new Set();

  const coveredBy = (/** @type {Group} */ one) => {
    for (const dx of [-cell, 0, cell]) {
      for (const dy of [-cell, 0, cell]) {
        for (const other of cells.get(keyOf(one.x + dx, one.y + dy)) ?? []) {
          if (Math.hypot(other.x - one.x, other.y - one.y) < other.radius + one.radius) return other;
        }
      }
    }
    return null;
  };

  for (const dot of dots) {
    /** @type {Group} */
    let group = { dots: [dot], x: dot.x, y: dot.y, radius: radiusOf(1) };
    for (let other = coveredBy(group); other; other = coveredBy(group)) {
      groups.delete(other);
      cells.get(keyOf(other.x, other.y))?.delete(other);
      const [a, b] = [other.dots.length, group.dots.length];
      group = {
        dots: [...other.dots, ...group.dots], x: (a * other.x + b * group.x) / (a + b),
        y: (a * other.y + b * group.y) / (a + b), radius: radiusOf(a + b),
      };
    }
    groups.add(group);
    const key = keyOf(group.x, group.y);
    const here = cells.get(key);
    if (here) here.add(group);
    else cells.set(key, new Set([group]));
  }
  return [...groups];
}
