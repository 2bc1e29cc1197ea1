// @ts-check
/** The frames of a session that the page holds, in order of time. */
export class FrameStore {
  /**
   * @param {{detailBudget?: number, capacity?: number}} [limits] the characters of particles and beacons, and the
   *   number of frames to keep
   */
  constructor(limits = {}) {
    /** @type {any[]} */
    this.frames = [];
    /** Increases with each change. */
    this.version = 0;
    /** The instant around which particles and beacons are kept. */
    this.focus = 0;
    this.detailBudget = limits.detailBudget ?? 96e6;
    this.capacity = limits.capacity ?? Infinity;
    this.detailSize = 0;
  }

  get first() { return this.frames[0] ?? null; }

  get last() { return this.frames[this.frames.length - 1] ?? null; }

  /**
   * Returns the index of the latest frame at an instant; the first frame before the session began; -1 without frames.
   * @param {number} t
   */
  indexAt(t) {
    let low = 0;
    let high = this.frames.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.frames[middle].t <= t + 1e-9) low = middle + 1;
      else high = middle;
    }
    return this.frames.length === 0 ? -1 : Math.max(0, low - 1);
  }

  /**
   * Adds frames. A frame with the number of a held frame replaces it.
   * @param {any[]} frames
   */
  add(frames) {
    for (const frame of frames) this.insert(frame);
    if (this.frames.length > this.capacity) {
      for (const frame of this.frames.splice(0, this.frames.length - this.capacity)) this.detailSize -= sizeOf(frame);
    }
    if (this.detailSize > this.detailBudget) this.thin();
    if (frames.length > 0) this.version++;
  }

  /** @param {any} frame */
  insert(frame) {
    this.detailSize += sizeOf(frame);
    const last = this.last;
    if (!last || frame.t > last.t) {
      this.frames.push(frame);
      return;
    }
    let index = this.indexAt(frame.t);
    for (let place = index; place >= 0 && this.frames[place].t === frame.t; place--) {
      if (this.frames[place].id === frame.id) {
        this.detailSize -= sizeOf(this.frames[place]);
        this.frames[place] = frame;
        return;
      }
    }
    if (this.frames[index].t <= frame.t) index++;
    this.frames.splice(index, 0, frame);
  }

  /**
   * Drops the particles and beacons that are the furthest in time from the focus. Such frames have null in their place,
   * and `isThinned`.
   */
  thin() {
    const held = this.frames.filter((frame) => sizeOf(frame) > 0);
    held.sort((a, b) => Math.abs(b.t - this.focus) - Math.abs(a.t - this.focus));
    for (const frame of held) {
      if (this.detailSize < 0.7 * this.detailBudget) return;
      this.detailSize -= sizeOf(frame);
      frame.particles = null;
      frame.beacons = null;
      frame.isThinned = true;
    }
  }

  clear() {
    this.frames = [];
    this.detailSize = 0;
    this.version++;
  }
}

/** The characters that a beacon takes, about. */
const beaconSize = 150;

/** @param {any} frame */
function sizeOf(frame) {
  let size = beaconSize * (frame.beacons?.length ?? 0);
  for (const cloud of frame.particles ?? []) size += cloud.points.length;
  return size;
}
