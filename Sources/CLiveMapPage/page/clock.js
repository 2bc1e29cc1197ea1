// @ts-check
/** The speeds of playback, relative to real time. */
export const speeds = [0.25, 0.5, 1, 2, 4, 8, 16];

/** The instant that the page shows: a player's position, or the latest frame of a running session. */
export class Clock {
  /**
   * @param {boolean} isLive
   * @param {() => void} changed
   */
  constructor(isLive, changed) {
    this.isLive = isLive;
    this.changed = changed;
    this.t = 0;
    this.start = 0;
    this.end = 0;
    this.speed = 1;
    this.playing = isLive;
    /** Whether the clock keeps to the latest frame. */
    this.atEdge = isLive;
    this.last = 0;
  }

  /**
   * Sets the bounds of the session.
   * @param {number} start
   * @param {number} end
   */
  setBounds(start, end) {
    this.start = start;
    this.end = end;
    if (this.atEdge) this.t = end;
    this.t = Math.min(end, Math.max(start, this.t));
  }

  /** Whether the clock moves by itself, so that the page draws frame after frame. */
  get isRunning() { return this.playing && !this.atEdge; }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    if (!this.isLive && this.t >= this.end - 1e-6) this.t = this.start;
    this.playing = true;
    this.last = 0;
    this.changed();
  }

  pause() {
    this.playing = false;
    this.atEdge = false;
    this.changed();
  }

  /** @param {number} t */
  seek(t) {
    this.t = Math.min(this.end, Math.max(this.start, t));
    this.atEdge = false;
    this.last = 0;
    this.changed();
  }

  /** Returns to the latest frame of a running session. */
  seekEdge() {
    this.atEdge = true;
    this.playing = true;
    this.t = this.end;
    this.changed();
  }

  /** @param {number} speed */
  setSpeed(speed) {
    this.speed = speed;
    this.changed();
  }

  /**
   * Moves on with the screen.
   * @param {number} now milliseconds
   */
  tick(now) {
    if (!this.isRunning) return;
    // A page in the background gets no ticks; it doesn't jump afterwards.
    const elapsed = this.last === 0 ? 0 : Math.min(0.5, (now - this.last) / 1000);
    this.last = now;
    this.t = Math.min(this.end, this.t + elapsed * this.speed);
    if (this.t < this.end) return;
    if (this.isLive) this.atEdge = true;
    else this.playing = false;
    this.changed();
  }
}
