// @ts-check
/** Numbers and names as the page shows them. */

const minus = "\u2212";

/**
 * Returns a number with a true minus sign.
 * @param {number} value
 * @param {number} digits
 */
export function number(value, digits = 0) {
  const text = Math.abs(value).toFixed(digits);
  return value < 0 && Number(text) !== 0 ? minus + text : text;
}

/**
 * Returns a number with its sign.
 * @param {number} value
 * @param {number} digits
 */
export function signed(value, digits = 0) {
  const text = number(value, digits);
  return value > 0 && Number(text) !== 0 ? "+" + text : text;
}

/**
 * Returns a length in metres; "—" without one.
 * @param {number|null|undefined} value
 * @param {number} [digits] the number of decimals; by default one below 100 m, and none from there on
 */
export function metres(value, digits) {
  return value === null || value === undefined ? "—" : `${number(value, digits ?? (value < 100 ? 1 : 0))}\u00a0m`;
}

/**
 * Returns a probability in per cent, which is 0 % or 100 % only if it is exact.
 * @param {number} value
 */
export function percent(value) {
  if (value > 0 && value < 0.01) return "<1\u00a0%";
  if (value < 1 && value > 0.99) return ">99\u00a0%";
  return `${Math.round(value * 100)}\u00a0%`;
}

/**
 * Returns an age in seconds.
 * @param {number} seconds
 */
export function age(seconds) {
  return `${number(seconds, seconds < 10 ? 1 : 0)}\u00a0s`;
}

/**
 * Returns an instant as m:ss or h:mm:ss.
 * @param {number} seconds
 */
export function clockTime(seconds) {
  const whole = Math.max(0, Math.floor(seconds + 1e-6));
  const h = Math.floor(whole / 3600);
  const m = Math.floor(whole / 60) % 60;
  const s = String(whole % 60).padStart(2, "0");
  return h > 0 ? `${h}:${String(m).padStart(2, "0")}:${s}` : `${m}:${s}`;
}

/** The begin of the UUID of a beacon that is known by its address alone, which follows. */
const addressUUID = "42454143-4F4E-8000-8000-";

/**
 * Returns the short name of a beacon: its address if it is known by that alone, the instance of an Eddystone-UID, which
 * has no major and minor, and otherwise major/minor.
 * @param {string} id `UUID/major/minor`
 */
export function beaconName(id) {
  const parts = id.split("/");
  if (id.endsWith("/0/0")) {
    return id.startsWith(addressUUID) ? parts[0].slice(-12).replace(/..(?=.)/g, "$&:") : parts[0].slice(-12);
  }
  return parts.length === 3 ? `${parts[1]}/${parts[2]}` : id;
}

/**
 * Returns the point of the compass for a course on the plan, with the plan's top as "up".
 * @param {number} degrees
 */
export function courseName(degrees) {
  const names = ["up", "up right", "right", "down right", "down", "down left", "left", "up left"];
  return names[Math.round((((degrees % 360) + 360) % 360) / 45) % 8];
}

/**
 * Returns the value below which a fraction of the values lies; the values are sorted.
 * @param {number[]} sorted
 * @param {number} fraction
 */
export function quantile(sorted, fraction) {
  if (sorted.length === 0) return NaN;
  const place = fraction * (sorted.length - 1);
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - below);
}

/**
 * Returns a time of the day, with the date if it isn't that of another time.
 * @param {number} t seconds since 1970
 * @param {number} reference
 * @param {boolean} [hasSeconds]
 */
export function dayTime(t, reference, hasSeconds = false) {
  const date = new Date(t * 1000);
  const clock = date.toLocaleTimeString(undefined, {
    hour: "2-digit", minute: "2-digit", ...(hasSeconds ? { second: "2-digit" } : {}),
  });
  if (date.toDateString() === new Date(reference * 1000).toDateString()) return clock;
  return `${date.toLocaleDateString(undefined, { day: "numeric", month: "short" })}, ${clock}`;
}

/**
 * Returns a number with a noun.
 * @param {number} count
 * @param {string} noun in the singular
 */
export function counted(count, noun) { return `${count} ${noun}${count === 1 ? "" : "s"}`; }
