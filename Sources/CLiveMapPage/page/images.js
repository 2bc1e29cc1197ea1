// @ts-check
/** The milliseconds after which an image that failed is tried again. */
const failurePause = 5000;

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
    image.decoding = "async";
    this.held.set(address, entry);
    this.load(address, entry).catch(() => setTimeout(() => {
      if (this.held.get(address) !== entry) return;
      this.held.delete(address);
      this.arrived();
    }, failurePause));
    if (this.held.size > this.limit) this.held.delete(/** @type {string} */ (this.held.keys().next().value));
    return null;
  }

  /**
   * Loads an image. The server is asked whether it has changed, which the browser omits for an image of the same
   * address that the page has had before.
   * @param {string} address
   * @param {{image: HTMLImageElement, isReady: boolean}} entry
   */
  async load(address, entry) {
    const isEmbedded = address.startsWith("data:");
    const url = isEmbedded ? address : URL.createObjectURL(await contentOf(address));
    try {
      await new Promise((resolve, reject) => {
        entry.image.addEventListener("load", resolve);
        entry.image.addEventListener("error", reject);
        entry.image.src = url;
      });
    } finally {
      if (!isEmbedded) URL.revokeObjectURL(url);
    }
    entry.isReady = true;
    this.arrived();
  }

  /** Forgets all images, as after a change of the venues. */
  clear() {
    this.held.clear();
  }
}

/** @param {string} address */
async function contentOf(address) {
  const answer = await fetch(address, { cache: "no-cache" });
  if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
  return answer.blob();
}
