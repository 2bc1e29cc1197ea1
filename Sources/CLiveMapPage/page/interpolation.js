// @ts-check
/**
 * The estimate between two frames. A recording has the next frame; a running session moves from the last estimate to
 * the latest one. Without motion, if the user prefers so, the estimate is that of the frame.
 */
export class Interpolation {
  /** @param {() => void} changed */
  constructor(changed) {
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    this.calm.addEventListener("change", changed);
    /** @type {any} */
    this.estimate = null;
    /** Whether the estimate still moves without a change of the frame. */
    this.isMoving = false;
    /** @type {any} */
    this.frame = null;
    /** @type {any} */
    this.from = null;
    this.since = 0;
  }

  /**
   * Computes the estimate. Returns whether it differs from the last one.
   * @param {any} frame
   * @param {any} next
   * @param {import("./clock.js").Clock} clock
   * @param {number} now milliseconds
   */
  update(frame, next, clock, now) {
    const before = this.estimate;
    this.isMoving = false;
    if (!frame?.estimate || this.calm.matches) this.estimate = frame?.estimate ?? null;
    else if (clock.atEdge) this.estimate = this.glide(frame, now);
    else this.estimate = clock.isRunning ? between(frame, next, clock.t) : frame.estimate;
    this.frame = frame;
    return before !== this.estimate;
  }

  /**
   * @param {any} frame
   * @param {number} now
   */
  glide(frame, now) {
    if (frame !== this.frame) {
      this.from = this.frame?.venueId === frame.venueId ? this.estimate : null;
      this.since = now;
    }
    const fraction = (now - this.since) / 300;
    if (!this.from || this.from.mapId !== frame.estimate.mapId || fraction >= 1) return frame.estimate;
    this.isMoving = true;
    return mix(this.from, frame.estimate, fraction * (2 - fraction));
  }
}

/**
 * @param {any} frame
 * @param {any} next
 * @param {number} t
 */
function between(frame, next, t) {
  const isOneMove = next?.estimate && next.venueId === frame.venueId && next.estimate.mapId === frame.estimate.mapId && next.t > frame.t
    && next.t - frame.t < 3;
  if (!isOneMove) return frame.estimate;
  return mix(frame.estimate, next.estimate, Math.min(1, Math.max(0, (t - frame.t) / (next.t - frame.t))));
}

/**
 * @param {any} a
 * @param {any} b
 * @param {number} fraction
 */
function mix(a, b, fraction) {
  const lerp = (/** @type {number} */ from, /** @type {number} */ to) => from + (to - from) * fraction;
  let course = b.course ?? null;
  if (typeof a.course === "number" && typeof b.course === "number") {
    // The shorter way around the circle.
    course = a.course + (((b.course - a.course + 540) % 360) - 180) * fraction;
  }
  return { ...b, x: lerp(a.x, b.x), y: lerp(a.y, b.y), radius: lerp(a.radius, b.radius), course };
}
