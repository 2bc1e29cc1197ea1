// @ts-check
/** The images of plans and their tiles, loaded when they are first drawn. */
export class Images {
  /**
   * @param {any} source
   * @param {() => void} arrived called after an image has loaded
   */
  constructor(source, arrived) {
    this.source = source;
    this.arrived = arrived;
    /** @type {Map<string, {image: HTMLImageElement, isReady: boolean}>} */
    this.held = new Map();
    this.limit = 400;
  }

  /**
   * Returns the image of a map; null until it has loaded.
   * @param {number} venue
   * @param {number} map
   */
  plan(venue, map) {
    return this.get(this.source.planAddress(venue, map));
  }

  /**
   * Returns a tile; null until it has loaded.
   * @param {number} venue
   * @param {number} map
   * @param {number} level
   * @param {number} column
   * @param {number} row
   */
  tile(venue, map, level, column, row) {
    return this.get(this.source.tileAddress(venue, map, level, column, row));
  }

  /** @param {string|null} address */
  get(address) {
    if (!address) return null;
    const known = this.held.get(address);
    if (known) {
      // The first of the map is the one that was not used for the longest time.
      this.held.delete(address);
      this.held.set(address, known);
      return known.isReady ? known.image : null;
    }
    const image = new Image();
    const entry = { image, isReady: false };
    image.addEventListener("load", () => {
      entry.isReady = true;
      this.arrived();
    });
    image.decoding = "async";
    image.src = address;
    this.held.set(address, entry);
    if (this.held.size > this.limit) this.held.delete(/** @type {string} */ (this.held.keys().next().value));
    return null;
  }
}
