// @ts-check
/** The transform from metres on a map to CSS pixels on the plan's element. */
export class View {
  constructor() {
    /** CSS pixels per metre. */
    this.scale = 1;
    /** The place of the map's top left corner. */
    this.x = 0;
    this.y = 0;
    this.width = 0;
    this.height = 0;
    this.mapWidth = 1;
    this.mapHeight = 1;
    /** The insets of the element within which the whole map may be shown, any one of them; CSS pixels. */
    this.frames = [{ top: 24, right: 24, bottom: 24, left: 24 }];
    /** Whether the whole map is shown as after `fit`. */
    this.isFitted = true;
  }

  /**
   * Sets the size of the element, in CSS pixels.
   * @param {number} width
   * @param {number} height
   */
  resize(width, height) {
    if (width === this.width && height === this.height) return;
    const [centreX, centreY] = this.toMap(this.width / 2, this.height / 2);
    this.width = width;
    this.height = height;
    if (this.isFitted) this.fit();
    else this.centre(centreX, centreY);
  }

  /**
   * Sets the size of the map, in metres. The view stays if the maps have the same size.
   * @param {number} width
   * @param {number} height
   */
  setMap(width, height) {
    if (Math.abs(width - this.mapWidth) < 0.01 && Math.abs(height - this.mapHeight) < 0.01) return;
    this.mapWidth = width;
    this.mapHeight = height;
    this.fit();
  }

  /** Returns the insets with which the map is the largest, and its scale. */
  fitting() {
    let best = { frame: this.frames[0], scale: 1e-3 };
    for (const frame of this.frames) {
      const wide = (this.width - frame.left - frame.right) / this.mapWidth;
      const high = (this.height - frame.top - frame.bottom) / this.mapHeight;
      if (Math.min(wide, high) > best.scale) best = { frame, scale: Math.min(wide, high) };
    }
    return best;
  }

  fit() {
    const { frame, scale } = this.fitting();
    this.scale = scale;
    this.x = frame.left + (this.width - frame.left - frame.right - this.mapWidth * scale) / 2;
    this.y = frame.top + (this.height - frame.top - frame.bottom - this.mapHeight * scale) / 2;
    this.isFitted = true;
  }

  /**
   * Moves a place of the map to the middle.
   * @param {number} x
   * @param {number} y
   */
  centre(x, y) {
    this.x = this.width / 2 - x * this.scale;
    this.y = this.height / 2 - y * this.scale;
    this.isFitted = false;
    this.restrain();
  }

  /**
   * Multiplies the scale about a point of the element.
   * @param {number} factor
   * @param {number} px
   * @param {number} py
   */
  zoom(factor, px = this.width / 2, py = this.height / 2) {
    const [x, y] = this.toMap(px, py);
    const fitting = this.fitting().scale;
    this.scale = Math.min(Math.max(400, fitting), Math.max(fitting / 4, this.scale * factor));
    this.x = px - x * this.scale;
    this.y = py - y * this.scale;
    this.isFitted = false;
    this.restrain();
  }

  /**
   * @param {number} dx
   * @param {number} dy
   */
  pan(dx, dy) {
    this.x += dx;
    this.y += dy;
    this.isFitted = false;
    this.restrain();
  }

  /** Keeps a part of the map on the screen. */
  restrain() {
    const rest = Math.min(80, this.width / 4, this.height / 4);
    this.x = Math.min(this.width - rest, Math.max(rest - this.mapWidth * this.scale, this.x));
    this.y = Math.min(this.height - rest, Math.max(rest - this.mapHeight * this.scale, this.y));
  }

  /**
   * @param {number} x metres
   * @param {number} y metres
   * @returns {[number, number]}
   */
  toScreen(x, y) {
    return [this.x + x * this.scale, this.y + y * this.scale];
  }

  /**
   * @param {number} px
   * @param {number} py
   * @returns {[number, number]}
   */
  toMap(px, py) {
    return [(px - this.x) / this.scale, (py - this.y) / this.scale];
  }
}
