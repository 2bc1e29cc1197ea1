// @ts-check
/** The colours of the style sheet, for the canvases. */

const names = [
  "text", "quiet", "line", "panel", "plan", "wall", "drawn", "walkable", "room", "room-line", "room-text", "fence", "beacon",
  "heard", "point", "estimate", "particles", "truth", "route", "halo", "accent", "warn", "bad", "state-none", "state-search",
  "state-floor", "state-running", "state-error",
];

/**
 * Returns the colours of an element's theme by name.
 * @param {Element} element
 * @returns {Record<string, string>}
 */
export function readPalette(element) {
  const style = getComputedStyle(element);
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

/**
 * Returns the red, green and blue of a colour "#rrggbb".
 * @param {string} color
 */
export function channels(color) {
  const value = parseInt(color.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/**
 * Returns the kind of a session's state, which decides its colour.
 * @param {string} state the name of a state
 */
export function stateKind(state) {
  switch (state) {
    case "localizationRunning": return "running";
    case "findFloor": return "floor";
    case "searchVenue":
    case "getPacket":
    case "started": return "search";
    case "error": return "error";
    default: return "none";
  }
}

/** The colours of a scale from low to high, which keep their order without hue, by rising lightness. */
const stops = ["#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#fde725"].map(channels);

/**
 * Returns red, green and blue of a scale's value.
 * @param {number} fraction in [0, 1]
 */
export function scaleColor(fraction) {
  const place = Math.min(1, Math.max(0, fraction)) * (stops.length - 1);
  const below = Math.min(stops.length - 2, Math.floor(place));
  return stops[below].map((value, index) => Math.round(value + (stops[below + 1][index] - value) * (place - below)));
}
