// @ts-check
/**
 * Draws the visible tiles of a Deep Zoom image: the level that fits the screen's resolution, over coarser levels that
 * stand in until its tiles have loaded. Returns false if the page has no tiles.
 * @param {import("./plan.js").Pass} pass
 * @param {import("./images.js").Images} images
 */
export function drawTiles(pass, images) {
  const { context, width, height, view, scene } = pass;
  const { map, venue } = scene;
  const tiles = map.tiles;
  if (!images.source.tileAddress(venue.id, map.id, 0, 0, 0)) return false;
  const top = Math.ceil(Math.log2(Math.max(tiles.width, tiles.height)));
  const pixelsPerMetre = view.scale * (window.devicePixelRatio || 1);
  const wanted = Math.ceil(top + Math.log2(pixelsPerMetre / (tiles.width / map.width)) - 0.25);
  const level = Math.min(top, Math.max(0, wanted));
  for (const step of [Math.max(0, level - 3), Math.max(0, level - 1), level]) {
    drawLevel({ context, width, height, view, map, tiles, venue, images }, step, top);
  }
  return true;
}

/**
 * @param {any} pass
 * @param {number} level
 * @param {number} top
 */
function drawLevel({ context, width, height, view, map, tiles, venue, images }, level, top) {
  const shrink = 2 ** (top - level);
  const levelWidth = Math.ceil(tiles.width / shrink);
  const levelHeight = Math.ceil(tiles.height / shrink);
  // CSS pixels per pixel of the level.
  const unitX = (map.width * view.scale) / levelWidth;
  const unitY = (map.height * view.scale) / levelHeight;
  const columnAt = (/** @type {number} */ px) => Math.floor((px - view.x) / unitX / tiles.tileSize);
  const rowAt = (/** @type {number} */ py) => Math.floor((py - view.y) / unitY / tiles.tileSize);
  const firstColumn = Math.max(0, columnAt(0));
  const lastColumn = Math.min(Math.ceil(levelWidth / tiles.tileSize) - 1, columnAt(width));
  const firstRow = Math.max(0, rowAt(0));
  const lastRow = Math.min(Math.ceil(levelHeight / tiles.tileSize) - 1, rowAt(height));
  for (let row = firstRow; row <= lastRow; row++) {
    for (let column = firstColumn; column <= lastColumn; column++) {
      const image = images.tile(venue.id, map.id, level, column, row);
      if (!image) continue;
      // A tile has a border of `overlap` pixels towards each neighbour.
      const x = column * tiles.tileSize - (column > 0 ? tiles.overlap : 0);
      const y = row * tiles.tileSize - (row > 0 ? tiles.overlap : 0);
      context.drawImage(
        image, view.x + x * unitX, view.y + y * unitY, image.naturalWidth * unitX, image.naturalHeight * unitY);
    }
  }
}
