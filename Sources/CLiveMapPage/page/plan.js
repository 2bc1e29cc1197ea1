// @ts-check
import { prepareCanvas } from "./dom.js";
import { View } from "./view.js";

/**
 * What the layers draw.
 * @typedef {{
 *   venue: any, map: any, frame: any, radioMap: any, beacon: number, quantity: string, trail: any[],
 *   layers: Set<string>, estimate: any, hasOneVenue: boolean, heats: Map<number, any>|null,
 * }} Scene
 */

/**
 * Whether a frame belongs to the shown venue. Map numbers are unique only within a venue. A frame without a venue can
 * have a ground truth; it belongs to the only venue.
 * @param {any} frame
 * @param {Scene} scene
 */
export function isOfShownVenue(frame, scene) {
  return typeof frame?.venueId === "number" ? frame.venueId === scene.venue?.id : scene.hasOneVenue;
}

/**
 * A pass of drawing.
 * @typedef {{
 *   context: CanvasRenderingContext2D, width: number, height: number, view: View, scene: Scene,
 *   palette: Record<string, string>,
 * }} Pass
 */

/**
 * The plan on three canvases. Each is drawn only after a change: the plan itself and the particles keep their pixels
 * while only the session moves.
 */
export class Plan {
  /**
   * @param {HTMLElement} root
   * @param {{plan: HTMLCanvasElement, particles: HTMLCanvasElement, session: HTMLCanvasElement}} canvases
   * @param {Record<string, (pass: any) => void>} painters the function that draws each canvas
   */
  constructor(root, canvases, painters) {
    this.root = root;
    this.canvases = canvases;
    this.painters = painters;
    this.view = new View();
    /** @type {Scene} */
    this.scene = {
      venue: null, map: null, frame: null, radioMap: null, beacon: 0, quantity: "expected", trail: [], layers: new Set(),
      estimate: null, hasOneVenue: true, heats: null,
    };
    /** @type {Record<string, string>} */
    this.palette = {};
    /** The colours over an image. @type {Record<string, string>} */
    this.imagePalette = {};
    /** @type {Set<string>} */
    this.stale = new Set();
    this.isScheduled = false;
    /** The elements that cover a part of the plan. @type {HTMLElement[]} */
    this.controls = [];
    /** Called before each drawing with the milliseconds of the screen; returns whether to draw again. */
    this.beforeDrawing = (/** @type {number} */ _now) => false;
    this.afterDrawing = () => {};
    /** The number of drawings, for tests of the speed. */
    this.drawings = 0;
    new ResizeObserver(() => this.invalidate()).observe(root);
  }

  /**
   * Draws canvases at the next refresh of the screen.
   * @param {...string} names all without a name
   */
  invalidate(...names) {
    for (const name of names.length === 0 ? Object.keys(this.canvases) : names) this.stale.add(name);
    this.schedule();
  }

  /**
   * Returns the point of the viewport in CSS pixels at a place in metres.
   * @param {number} x
   * @param {number} y
   */
  viewportPoint(x, y) {
    const box = this.root.getBoundingClientRect();
    const [px, py] = this.view.toScreen(x, y);
    return { x: box.left + px, y: box.top + py };
  }

  /**
   * Moves a rectangle of the map, in metres, into the middle if a part of it is not visible.
   * @param {number} left
   * @param {number} top
   * @param {number} right
   * @param {number} bottom
   */
  show(left, top, right, bottom) {
    const { view } = this;
    const [x, y] = view.toScreen(left, top);
    const [endX, endY] = view.toScreen(right, bottom);
    if (![x, y, endX, endY].every(Number.isFinite)) return;
    if (x >= 0 && y >= 0 && endX <= view.width && endY <= view.height) return;
    view.centre((left + right) / 2, (top + bottom) / 2);
    this.invalidate();
  }

  /** Fits the map into what the controls leave free, if it is shown as a whole. */
  refit() {
    this.view.frames = this.freeFrames(this.root.getBoundingClientRect());
    if (this.view.isFitted) this.view.fit();
    this.invalidate();
  }

  schedule() {
    if (this.isScheduled) return;
    this.isScheduled = true;
    requestAnimationFrame((now) => this.draw(now));
  }

  /**
   * Returns insets that leave the controls over the plan free: below them, or beside them.
   * @param {DOMRect} box
   */
  freeFrames(box) {
    const margin = 16;
    const frame = { top: margin, right: margin, bottom: 44, left: margin };
    /** @type {typeof frame[]} */
    let found = [frame];
    for (const controls of this.controls) {
      const covered = controls.getBoundingClientRect();
      if (covered.width === 0) continue;
      const isLeft = covered.left - box.left < box.width / 2;
      const beside = isLeft ? covered.right - box.left + margin : box.right - covered.left + margin;
      const isTop = covered.top - box.top < box.height / 2;
      found = found.flatMap((one) => [
        isTop ? { ...one, top: Math.max(one.top, covered.bottom - box.top + margin) }
          : { ...one, bottom: Math.max(one.bottom, box.bottom - covered.top + margin) },
        isLeft ? { ...one, left: Math.max(one.left, beside) } : { ...one, right: Math.max(one.right, beside) },
      ]);
    }
    return found;
  }

  /** @param {number} now */
  draw(now) {
    this.isScheduled = false;
    const box = this.root.getBoundingClientRect();
    this.view.frames = this.freeFrames(box);
    this.view.resize(box.width, box.height);
    const goesOn = this.beforeDrawing(now);
    const stale = this.stale;
    this.stale = new Set();
    const { map, layers } = this.scene;
    const palette = map && layers.has("image") && (map.hasImage || map.tiles) ? this.imagePalette : this.palette;
    for (const name of stale) {
      const prepared = prepareCanvas(this.canvases[/** @type {"plan"} */ (name)]);
      if (prepared && this.scene.map) {
        this.painters[name]({ ...prepared, view: this.view, scene: this.scene, palette });
      }
    }
    if (stale.size > 0) this.drawings++;
    this.afterDrawing();
    if (goesOn) this.schedule();
  }
}
