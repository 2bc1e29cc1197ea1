// @ts-check
import { groupsOf } from "./clusters.js";
import { claim, drawLabel, font, traceTrail } from "./layer-venue.js";

/** The number of dots from which they are small and their pixels are written, and up to which they have names. */
const manyDots = 1500;
const namedDots = 150;

/**
 * Draws the receivers and the tags of the shown map. Dots that would cover each other are drawn as a group with their
 * number, unless there are so many that they show where the tags are by their density.
 *
 * A dot is a copy of a picture that is drawn once. Of many dots the page writes the pixels, which is faster than a call
 * for each of them.
 */
export class TagLayer {
  constructor() {
    /** The dots and groups that were drawn, for taps. @type {import("./clusters.js").Group[]} */
    this.groups = [];
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
    this.count = count;
    const isMany = dots.length > manyDots;
    const radius = isMany ? 3 : 5.5;
    const sprite = this.spriteOf(radius, pass.palette);
    const side = 2 * (radius + 2);
    const drawReceivers = () => {
      for (const receiver of scene.receivers.values()) if (receiver.mapId === mapId) drawReceiver(pass, receiver);
    };
    const selected = scene.tags.get(scene.selected);
    if (isMany) {
      this.groups = dots.map((dot) => ({ dots: [dot], x: dot.x, y: dot.y, radius }));
      this.stamp(context, dots, sprite);
      drawReceivers();
      if (selected) drawSelected(pass, selected, scene.trail);
      return;
    }
    drawReceivers();
    const chosen = dots.filter((dot) => dot.tag.tag === scene.selected);
    const groups = groupsOf(dots.filter((dot) => dot.tag.tag !== scene.selected));
    for (const group of groups) {
      if (group.dots.length > 1) drawGroup(pass, group);
      else context.drawImage(sprite, group.x - side / 2, group.y - side / 2, side, side);
    }
    if (selected) drawSelected(pass, selected, scene.trail);
    drawNames(pass, groups, chosen[0]);
    this.groups = [...groups, ...chosen.map((dot) => ({ dots: [dot], x: dot.x, y: dot.y, radius: 9 }))];
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
   * Returns the dot or the group that is nearest to a point, within the reach of a finger; null without one.
   * @param {number} x
   * @param {number} y
   */
  groupAt(x, y) {
    let best = null;
    let nearest = 15;
    for (const group of this.groups) {
      const distance = Math.hypot(group.x - x, group.y - y) - group.radius;
      if (distance < nearest) {
        nearest = distance;
        best = group;
      }
    }
    return best;
  }
}

/**
 * Draws a group of dots as a disc with their number.
 * @param {any} pass
 * @param {import("./clusters.js").Group} group
 */
function drawGroup({ context, palette }, { dots, x, y, radius }) {
  context.beginPath();
  context.arc(x, y, radius - 1.5, 0, 2 * Math.PI);
  context.fillStyle = palette.estimate;
  context.fill();
  context.lineWidth = 1.5;
  context.strokeStyle = palette.halo;
  context.stroke();
  context.font = font(dots.length < 100 ? 12 : 11, 600);
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillStyle = palette.halo;
  context.fillText(String(dots.length), x, y + 0.5);
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
    traceTrail(pass, trail);
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
 * Draws the names of dots where they cover no dot, no group, no receiver and no other name.
 * @param {any} pass
 * @param {import("./clusters.js").Group[]} groups
 * @param {{tag: any, x: number, y: number}|undefined} selected
 */
function drawNames(pass, groups, selected) {
  const { context, view, scene, palette } = pass;
  const single = groups.filter((group) => group.dots.length === 1);
  if (single.length > namedDots) return;
  /** @type {number[][]} */
  const boxes = groups.map(({ x, y, radius }) => [x - radius, y - radius, x + radius, y + radius]);
  boxes.push(...(scene.labelBoxes ?? []));
  for (const receiver of scene.receivers.values()) {
    if (receiver.mapId !== scene.map.id) continue;
    const [x, y] = view.toScreen(receiver.x, receiver.y);
    boxes.push([x - 16, y - 16, x + 16, y + 22]);
  }
  if (selected) {
    context.font = font(13, 600);
    const half = context.measureText(selected.tag.shown).width / 2 + 2;
    boxes.push([selected.x - half, selected.y - 27, selected.x + half, selected.y - 9]);
    boxes.push([selected.x - 9, selected.y - 9, selected.x + 9, selected.y + 9]);
  }
  for (const { dots: [{ tag }], x, y } of single) {
    context.font = font(12);
    const half = context.measureText(tag.shown).width / 2 + 2;
    // Below the dot, or else above it, to the right or to the left.
    for (const [dx, dy] of [[0, 15], [0, -15], [half + 9, 0], [-half - 9, 0]]) {
      if (x + dx - half < 0 || x + dx + half > pass.width) continue;
      if (!claim([x + dx - half, y + dy - 8, x + dx + half, y + dy + 8], boxes)) continue;
      drawLabel(pass, tag.shown, x + dx, y + dy, { color: palette.text });
      break;
    }
  }
}
