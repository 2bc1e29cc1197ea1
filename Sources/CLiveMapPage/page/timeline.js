// @ts-check
import { prepareCanvas } from "./dom.js";
import { clockTime } from "./format.js";
import { stateKind } from "./palette.js";

/** The rows of the time line, in CSS pixels from its top. */
const rows = { error: [0, 26], state: [29, 37], floor: [39, 52] };

/** The height of a state's bar as a share of its row, so that states differ without hue. */
const shares = { none: 0.2, search: 0.45, floor: 0.7, running: 1, error: 1 };

/** A slider over the session with its states, floors, events and errors. */
export class Timeline {
  /**
   * @param {HTMLElement} root
   * @param {HTMLCanvasElement} canvas
   * @param {(t: number) => void} seek
   */
  constructor(root, canvas, seek) {
    this.root = root;
    this.canvas = canvas;
    this.seek = seek;
    this.start = 0;
    this.end = 0;
    /** The drawing without the mark of the instant. @type {HTMLCanvasElement|null} */
    this.backdrop = null;
    this.key = "";
    root.addEventListener("pointerdown", (event) => {
      root.setPointerCapture(event.pointerId);
      this.point(event);
    });
    root.addEventListener("pointermove", (event) => {
      if (root.hasPointerCapture(event.pointerId)) this.point(event);
    });
  }

  /** @param {PointerEvent} event */
  point(event) {
    const box = this.root.getBoundingClientRect();
    const fraction = Math.min(1, Math.max(0, (event.clientX - box.left) / Math.max(1, box.width)));
    this.seek(this.start + fraction * (this.end - this.start));
  }

  /**
   * Returns a text that differs after each change of the drawing behind the mark.
   * @param {any} content
   */
  keyOf(content) { return [content.store.version, content.events.length].join(); }

  /**
   * Returns the instant in words.
   * @param {any} content
   */
  textOf({ clock, text }) {
    return `${clockTime(clock.t - this.start)} of ${clockTime(this.end - this.start)}, ${text}`;
  }

  /**
   * Draws the time line.
   * @param {{
   *   clock: import("./clock.js").Clock, store: import("./frame-store.js").FrameStore, events: any[],
   *   maps: Map<number, any>, loaded: [number, number][]|null, palette: Record<string, string>, theme: string, text: string,
   * }} content
   */
  draw(content) {
    const { clock, palette } = content;
    this.start = clock.start;
    this.end = Math.max(clock.end, clock.start + 1e-3);
    const prepared = prepareCanvas(this.canvas);
    if (!prepared) return;
    const { context, width, height } = prepared;
    const key = [
      this.keyOf(content), width, height, content.theme, this.start, this.end, window.devicePixelRatio,
    ].join();
    if (key !== this.key || !this.backdrop) {
      this.backdrop = this.backdrop ?? document.createElement("canvas");
      this.backdrop.width = this.canvas.width;
      this.backdrop.height = this.canvas.height;
      const behind = /** @type {CanvasRenderingContext2D} */ (this.backdrop.getContext("2d"));
      const ratio = window.devicePixelRatio || 1;
      behind.setTransform(ratio, 0, 0, ratio, 0, 0);
      this.drawBackdrop(behind, width, content);
      this.key = key;
    }
    context.drawImage(this.backdrop, 0, 0, width, height);
    const x = Math.round(this.position(clock.t, width - 2)) + 1;
    context.fillStyle = palette.panel;
    context.fillRect(x - 2.5, 0, 5, height);
    context.fillStyle = palette.text;
    context.fillRect(x - 1.25, 0, 2.5, height);
    context.beginPath();
    context.arc(Math.min(width - 4, Math.max(4, x)), 4, 4, 0, 2 * Math.PI);
    context.fill();
    this.root.setAttribute("aria-valuemin", String(Math.floor(this.start)));
    this.root.setAttribute("aria-valuemax", String(Math.ceil(this.end)));
    this.root.setAttribute("aria-valuenow", String(Math.round(clock.t)));
    this.root.setAttribute("aria-valuetext", this.textOf(content));
  }

  /**
   * @param {number} t
   * @param {number} width
   */
  position(t, width) {
    return ((t - this.start) / (this.end - this.start)) * width;
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   * @param {any} content
   */
  drawBackdrop(context, width, { store, events, maps, loaded, palette }) {
    context.fillStyle = palette.line;
    context.globalAlpha = 0.35;
    context.fillRect(0, 0, width, 52);
    context.globalAlpha = 1;
    this.drawStates(context, width, store.frames, palette);
    this.drawFloors(context, width, store.frames, maps, palette);
    this.drawErrors(context, width, store.frames, palette);
    this.drawEvents(context, width, events, palette);
    if (loaded) this.drawGaps(context, width, loaded, palette);
  }

  /** Draws runs of frames with the same value as one bar each.
   * @param {any[]} frames
   * @param {number} width
   * @param {(frame: any) => any} value
   * @param {(value: any, left: number, right: number) => void} paint
   */
  runs(frames, width, value, paint) {
    for (let index = 0; index < frames.length;) {
      const first = value(frames[index]);
      let after = index + 1;
      while (after < frames.length && value(frames[after]) === first) after++;
      const end = after < frames.length ? frames[after].t : this.end;
      paint(first, this.position(frames[index].t, width), this.position(end, width));
      index = after;
    }
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   * @param {any[]} frames
   * @param {Record<string, string>} palette
   */
  drawStates(context, width, frames, palette) {
    const [top, bottom] = rows.state;
    this.runs(frames, width, (frame) => stateKind(frame.state), (kind, left, right) => {
      const height = (bottom - top) * shares[/** @type {"none"} */ (kind)];
      context.fillStyle = palette[`state-${kind}`];
      context.fillRect(left, bottom - height, Math.max(1, right - left), height);
    });
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   * @param {any[]} frames
   * @param {Map<string, any>} maps by `venue/map`
   * @param {Record<string, string>} palette
   */
  drawFloors(context, width, frames, maps, palette) {
    const [top, bottom] = rows.floor;
    context.font = "10px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "left";
    this.runs(frames, width, (frame) => mapKeyOf(frame), (key, left, right) => {
      if (key === null) return;
      const map = maps.get(key);
      context.globalAlpha = (map?.level ?? 0) % 2 === 0 ? 0.35 : 0.6;
      context.fillStyle = palette["room-line"];
      context.fillRect(left, top, Math.max(1, right - left - 1), bottom - top);
      context.globalAlpha = 1;
      const name = map?.name ?? key;
      const text = context.measureText(name).width < right - left - 8 ? name : String(map?.level ?? "");
      if (context.measureText(text).width > right - left - 6) return;
      context.fillStyle = palette.text;
      context.fillText(text, left + 4, (top + bottom) / 2 + 0.5);
    });
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   * @param {any[]} frames
   * @param {Record<string, string>} palette
   */
  drawErrors(context, width, frames, palette) {
    const [top, bottom] = rows.error;
    const errors = frames.filter((frame) => typeof frame.error === "number");
    if (errors.length === 0) return;
    const highest = Math.max(2, ...errors.map((frame) => Math.min(frame.error, 20)));
    const toY = (/** @type {number} */ error) => bottom - Math.min(1, error / highest) * (bottom - top - 10);
    const step = Math.max(1, width / Math.max(1, frames.length));
    context.fillStyle = palette.truth;
    for (const frame of errors) {
      const x = this.position(frame.t, width);
      const y = toY(frame.error);
      context.globalAlpha = 0.18;
      context.fillRect(x, y, step, bottom - y);
      context.globalAlpha = 1;
      context.fillRect(x, y - 0.75, step + 0.5, 1.5);
    }
  }

  /**
   * Draws each event as a shape that stands for its kind.
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   * @param {any[]} events
   * @param {Record<string, string>} palette
   */
  drawEvents(context, width, events, palette) {
    for (const event of events) {
      if (event.kind === "state") continue;
      const x = this.position(event.t, width);
      const color = { error: palette.bad, diagnosis: palette.warn, mark: palette.truth, floor: palette.accent }[
        /** @type {"error"} */ (event.kind)] ?? palette.quiet;
      context.fillStyle = color;
      context.beginPath();
      if (event.kind === "error" || event.kind === "diagnosis") {
        context.moveTo(x, 1);
        context.lineTo(x + 4, 8);
        context.lineTo(x - 4, 8);
      } else if (event.kind === "floor") {
        context.rect(x - 3, 2, 6, 6);
      } else if (event.kind === "mark") {
        context.rect(x - 4, 4, 8, 2);
        context.rect(x - 1, 1, 2, 8);
      } else {
        context.arc(x, 5, 2.5, 0, 2 * Math.PI);
      }
      context.fill();
      context.globalAlpha = 0.4;
      context.fillRect(x - 0.5, 8, 1, rows.error[1] - 8);
      context.globalAlpha = 1;
    }
  }

  /**
   * Covers what has not been loaded yet.
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   * @param {[number, number][]} loaded
   * @param {Record<string, string>} palette
   */
  drawGaps(context, width, loaded, palette) {
    let reached = this.start;
    context.fillStyle = palette.panel;
    context.globalAlpha = 0.75;
    for (const [start, end] of [...loaded, [this.end, this.end]]) {
      const left = this.position(reached, width);
      const right = this.position(start, width);
      if (right > left) context.fillRect(left, 0, right - left, 52);
      reached = Math.max(reached, end);
    }
    context.globalAlpha = 1;
  }
}

/**
 * Returns the key of a frame's map, `venue/map`; null without a map.
 * @param {any} frame
 */
function mapKeyOf(frame) {
  return typeof frame.mapId === "number" ? `${frame.venueId}/${frame.mapId}` : null;
}
