// @ts-check
import { claim, drawLabel, font } from "./layer-venue.js";

/** The number of dots from which their pixels are written, from which they are small, and up to which they have names. */
const stampedDots = 300;
const manyDots = 1500;
const namedDots = 60;

/**
 * Draws the receivers and the tags of the shown map.
 *
 * A dot is a copy of a picture that is drawn once. Of many dots the page writes the pixels, which is faster than a call
 * for each of them.
 */
export class TagLayer {
  constructor() {
    /** The tags that were drawn, with their places in CSS pixels, for taps. @type {{tag: any, x: number, y: number}[]} */
    this.dots = [];
    this.key = "";
    /** @type {HTMLCanvasElement|null} */
    this.sprite = null;
    /** @type {ImageData|null} */
    this.image = null;
    this.count = 0;
  }

  /** @param {any} pass */
  draw(pass) {
    const { context, view, scene, width, height } = pass;
    const mapId = scene.map.id;
    /** @type {{tag: any, x: number, y: number}[]} */
    const dots = [];
    let count = 0;
    for (const tag of scene.tags.values()) {
      if (!tag.present || tag.position?.mapId !== mapId) continue;
      count++;
      const [x, y] = view.toScreen(tag.position.x, tag.position.y);
      if (x < -8 || y < -8 || x > width + 8 || y > height + 8) continue;
      dots.push({ tag, x, y });
    }
    this.dots = dots;
    this.count = count;
    const radius = dots.length > manyDots ? 3 : 5.5;
    const sprite = this.spriteOf(radius, pass.palette);
    const side = 2 * (radius + 2);
    if (dots.length > stampedDots) {
      this.stamp(context, dots, sprite);
    } else {
      for (const { x, y } of dots) context.drawImage(sprite, x - side / 2, y - side / 2, side, side);
    }
    for (const receiver of scene.receivers.values()) if (receiver.mapId === mapId) drawReceiver(pass, receiver);
    const selected = scene.tags.get(scene.selected);
    if (selected) drawSelected(pass, selected, scene.trail);
    if (dots.length <= namedDots) drawNames(pass, dots);
  }

  /**
   * @param {number} radius
   * @param {Record<string, string>} palette
   */
  spriteOf(radius, palette) {
    const ratio = window.devicePixelRatio || 1;
    const key = `${radius} ${ratio} ${palette.estimate} ${palette.halo}`;
    if (this.sprite && this.key === key) return this.sprite;
    const sprite = document.createElement("canvas");
    sprite.width = sprite.height = Math.ceil(2 * (radius + 2) * ratio);
    const context = /** @type {CanvasRenderingContext2D} */ (sprite.getContext("2d", { willReadFrequently: true }));
    context.scale(sprite.width / (2 * (radius + 2)), sprite.height / (2 * (radius + 2)));
    context.beginPath();
    context.arc(radius + 2, radius + 2, radius, 0, 2 * Math.PI);
    context.fillStyle = palette.estimate;
    context.fill();
    context.lineWidth = 1.5;
    context.strokeStyle = palette.halo;
    context.stroke();
    this.key = key;
    this.sprite = sprite;
    return sprite;
  }

  /**
   * Writes the pixels of dots into the empty canvas.
   * @param {CanvasRenderingContext2D} context
   * @param {{x: number, y: number}[]} dots
   * @param {HTMLCanvasElement} sprite
   */
  stamp(context, dots, sprite) {
    const { width, height } = context.canvas;
    if (this.image?.width !== width || this.image.height !== height) {
      this.image = context.createImageData(width, height);
    } else {
      this.image.data.fill(0);
    }
    const pixels = new Uint32Array(this.image.data.buffer);
    const side = sprite.width;
    const dotContext = /** @type {CanvasRenderingContext2D} */ (sprite.getContext("2d"));
    const dot = new Uint32Array(dotContext.getImageData(0, 0, side, side).data.buffer);
    const ratio = window.devicePixelRatio || 1;
    for (const { x, y } of dots) {
      const left = Math.round(x * ratio - side / 2);
      const top = Math.round(y * ratio - side / 2);
      for (let row = Math.max(0, -top); row < Math.min(side, height - top); row++) {
        const line = (top + row) * width + left;
        for (let column = Math.max(0, -left); column < Math.min(side, width - left); column++) {
          const pixel = dot[row * side + column];
          // The edge of a dot doesn't cover another dot.
          if (pixel >>> 24 >= pixels[line + column] >>> 24) pixels[line + column] = pixel;
        }
      }
    }
    context.putImageData(this.image, 0, 0);
  }

  /**
   * Returns the tag whose dot is nearest to a point, within the reach of a finger; null without one.
   * @param {number} x
   * @param {number} y
   */
  tagAt(x, y) {
    let best = null;
    let nearest = 22;
    for (const dot of this.dots) {
      const distance = Math.hypot(dot.x - x, dot.y - y);
      if (distance < nearest) {
        nearest = distance;
        best = dot.tag;
      }
    }
    return best;
  }
}

/**
 * Draws a receiver as a square: hollow while its health is unknown, filled if it works, and with a mark if it doesn't.
 * @param {any} pass
 * @param {any} receiver
 */
function drawReceiver(pass, receiver) {
  const { context, view, palette } = pass;
  const [x, y] = view.toScreen(receiver.x, receiver.y);
  const isBad = receiver.health !== undefined && receiver.health !== "healthy";
  const color = isBad ? palette.bad : receiver.health === "healthy" ? palette.heard : palette.beacon;
  context.fillStyle = palette.halo;
  context.fillRect(x - 7, y - 7, 14, 14);
  context.lineWidth = 1.6;
  context.strokeStyle = color;
  context.strokeRect(x - 5, y - 5, 10, 10);
  if (receiver.health === "healthy") {
    context.fillStyle = color;
    context.fillRect(x - 3, y - 3, 6, 6);
  }
  if (isBad) drawLabel(pass, "!", x + 12, y - 8, { color, size: 16, weight: 700 });
  if (isBad || view.scale > 30) drawLabel(pass, receiver.id, x, y + 15, { color, size: 11 });
}

/**
 * Draws the trail of the selected tag, its error radius, and a ring around its dot.
 * @param {any} pass
 * @param {any} tag
 * @param {any[]} trail
 */
function drawSelected(pass, tag, trail) {
  const { context, view, scene, palette } = pass;
  context.lineJoin = "round";
  context.lineCap = "round";
  for (const [color, width] of [[palette.halo, 5], [palette.route, 2.5]]) {
    context.strokeStyle = color;
    context.lineWidth = width;
    context.beginPath();
    let isOpen = false;
    for (const point of trail) {
      if (point.mapId !== scene.map.id) {
        isOpen = false;
        continue;
      }
      const [x, y] = view.toScreen(point.x, point.y);
      if (isOpen) context.lineTo(x, y);
      else context.moveTo(x, y);
      isOpen = true;
    }
    context.stroke();
  }
  if (!tag.present || tag.position?.mapId !== scene.map.id) return;
  const [x, y] = view.toScreen(tag.position.x, tag.position.y);
  context.beginPath();
  context.arc(x, y, Math.max(9, tag.position.radius * view.scale), 0, 2 * Math.PI);
  context.globalAlpha = 0.15;
  context.fillStyle = palette.accent;
  context.fill();
  context.globalAlpha = 1;
  context.lineWidth = 1.5;
  context.strokeStyle = palette.accent;
  context.stroke();
  context.beginPath();
  context.arc(x, y, 7, 0, 2 * Math.PI);
  context.fillStyle = palette.accent;
  context.fill();
  context.lineWidth = 2.5;
  context.strokeStyle = palette.halo;
  context.stroke();
  drawLabel(pass, tag.shown, x, y - 18, { color: palette.text, size: 13, weight: 600 });
}

/**
 * Draws the names of dots where they cover no dot, no receiver and no other name.
 * @param {any} pass
 * @param {{tag: any, x: number, y: number}[]} dots
 */
function drawNames(pass, dots) {
  const { context, view, scene, palette } = pass;
  /** @type {number[][]} */
  const boxes = dots.map(({ x, y }) => [x - 6, y - 6, x + 6, y + 6]);
  for (const receiver of scene.receivers.values()) {
    if (receiver.mapId !== scene.map.id) continue;
    const [x, y] = view.toScreen(receiver.x, receiver.y);
    boxes.push([x - 16, y - 16, x + 16, y + 22]);
  }
  const selected = dots.find(({ tag }) => tag.tag === scene.selected);
  if (selected) {
    context.font = font(13, 600);
    const half = context.measureText(selected.tag.shown).width / 2 + 2;
    boxes.push([selected.x - half, selected.y - 27, selected.x + half, selected.y - 9]);
  }
  for (const { tag, x, y } of dots) {
    if (tag.tag === scene.selected) continue;
    context.font = font(12);
    const half = context.measureText(tag.shown).width / 2 + 2;
    if (claim([x - half, y + 7, x + half, y + 23], boxes)) {
      drawLabel(pass, tag.shown, x, y + 15, { color: palette.text });
    }
  }
}
