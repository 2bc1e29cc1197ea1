// @ts-check
import { wordsOf } from "./base64.js";
import { channels } from "./palette.js";
import { isOfShownVenue } from "./plan.js";

/**
 * Draws the particles as points of pixels, denser where there are more. Writing pixels is faster than drawing shapes:
 * the work is one write per pixel of a point, and one copy of the rectangle around the particles.
 */
export class ParticleLayer {
  constructor() {
    /** @type {any} */
    this.frame = null;
    this.mapId = -1;
    this.points = new Uint16Array(0);
    /** @type {ImageData|null} */
    this.image = null;
    /** @type {Uint32Array} */
    this.pixels = new Uint32Array(0);
    /** The number of particles of the last drawing. */
    this.count = 0;
  }

  /**
   * Decodes the particles of a frame once.
   * @param {any} frame
   * @param {number} mapId
   */
  decode(frame, mapId) {
    if (frame === this.frame && mapId === this.mapId && this.hadParticles === Boolean(frame?.particles)) return;
    this.frame = frame;
    this.mapId = mapId;
    this.hadParticles = Boolean(frame?.particles);
    const cloud = (frame?.particles ?? []).find((/** @type {any} */ one) => one.mapId === mapId);
    this.points = cloud ? wordsOf(cloud.points) : new Uint16Array(0);
  }

  /** @param {import("./plan.js").Pass} pass */
  draw({ context, view, scene, palette }) {
    this.count = 0;
    if (!scene.layers.has("particles") || !isOfShownVenue(scene.frame, scene) || !scene.frame) return;
    this.decode(scene.frame, scene.map.id);
    const points = this.points;
    if (points.length < 2) return;
    const canvas = context.canvas;
    const ratio = window.devicePixelRatio || 1;
    const size = Math.max(2, Math.round(1.8 * ratio));
    const scaleX = (scene.map.width * view.scale * ratio) / 65535;
    const scaleY = (scene.map.height * view.scale * ratio) / 65535;
    const left = view.x * ratio - size / 2;
    const top = view.y * ratio - size / 2;

    let minX = 65535, maxX = 0, minY = 65535, maxY = 0;
    for (let index = 0; index + 1 < points.length; index += 2) {
      const x = points[index];
      const y = points[index + 1];
      if (x < minX) minX = x;
      if (x > maxX) maxX = x;
      if (y < minY) minY = y;
      if (y > maxY) maxY = y;
    }
    const x0 = Math.max(0, Math.floor(left + minX * scaleX));
    const y0 = Math.max(0, Math.floor(top + minY * scaleY));
    const x1 = Math.min(canvas.width, Math.ceil(left + maxX * scaleX) + size + 1);
    const y1 = Math.min(canvas.height, Math.ceil(top + maxY * scaleY) + size + 1);
    if (x1 - x0 <= size || y1 - y0 <= size) return;
    const width = x1 - x0;
    const height = y1 - y0;
    const { image, pixels } = this.buffer(context, width, height);

    const [red, green, blue] = channels(palette.particles);
    const color = (blue << 16) | (green << 8) | red;
    const density = points.length > 6000 ? 0x48 : 0x70;
    for (let index = 0; index + 1 < points.length; index += 2) {
      const x = Math.round(left + points[index] * scaleX) - x0;
      const y = Math.round(top + points[index + 1] * scaleY) - y0;
      if (x < 0 || y < 0 || x + size > width || y + size > height) continue;
      for (let row = 0; row < size; row++) {
        let place = (y + row) * image.width + x;
        for (let column = 0; column < size; column++, place++) {
          const alpha = (pixels[place] >>> 24) + density;
          pixels[place] = ((alpha > 176 ? 176 : alpha) << 24) | color;
        }
      }
      this.count++;
    }
    context.putImageData(image, x0, y0, 0, 0, width, height);
  }

  /**
   * Returns clear pixels, in a buffer that is used again while it is large enough.
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   * @param {number} height
   */
  buffer(context, width, height) {
    if (!this.image || this.image.width < width || this.image.height < height) {
      const wide = Math.max(width, this.image?.width ?? 0);
      const high = Math.max(height, this.image?.height ?? 0);
      this.image = context.createImageData(wide, high);
      this.pixels = new Uint32Array(this.image.data.buffer);
    } else {
      this.pixels.fill(0, 0, this.image.width * height);
    }
    return { image: this.image, pixels: this.pixels };
  }
}
