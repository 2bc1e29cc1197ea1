// @ts-check
import { Timeline } from "./timeline.js";

/** The rows of the time line, in CSS pixels from its top. */
const rows = { tags: [0, 22], visits: [24, 37], times: [38, 52] };
/** The seconds between two times that the time line can have. */
const steps = [60, 300, 600, 1800, 3600, 10800, 21600, 43200, 86400, 604800];

/** A slider over a time of the past with the number of tags, the rooms of the chosen tag, and times of the day. */
export class PastTimeline extends Timeline {
  /**
   * @param {HTMLElement} root
   * @param {HTMLCanvasElement} canvas
   * @param {import("./clock.js").Clock} clock
   */
  constructor(root, canvas, clock) {
    super(root, canvas, (t) => clock.seek(t));
    root.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const span = this.end - this.start;
      const moves = /** @type {Record<string, number>} */ ({
        ArrowLeft: -span / 200, ArrowRight: span / 200, ArrowDown: -span / 200, ArrowUp: span / 200,
        PageDown: -span / 20, PageUp: span / 20, Home: -span, End: span,
      });
      const move = moves[event.key];
      if (move === undefined) return;
      event.preventDefault();
      clock.seek(clock.t + move);
    });
  }

  /** @param {any} content */
  keyOf({ panel }) { return String(panel.version); }

  /** @param {any} content */
  textOf({ text }) { return text; }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   * @param {any} content
   */
  drawBackdrop(context, width, { panel, palette }) {
    const { activity, bars } = panel;
    context.fillStyle = palette.line;
    context.globalAlpha = 0.35;
    context.fillRect(0, 0, width, 52);
    context.globalAlpha = 1;
    const [top, bottom] = rows.tags;
    const most = Math.max(1, ...activity);
    context.fillStyle = palette.estimate;
    activity.forEach((/** @type {number} */ count, /** @type {number} */ index) => {
      if (count === 0) return;
      const height = Math.max(2, (count / most) * (bottom - top - 2));
      const left = (index / activity.length) * width;
      context.fillRect(left, bottom - height, width / activity.length + 0.5, height);
    });
    this.drawVisits(context, width, bars, palette);
    this.drawTimes(context, width, palette);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   * @param {{room: string, from: number, to: number}[]} visits
   * @param {Record<string, string>} palette
   */
  drawVisits(context, width, visits, palette) {
    const [top, bottom] = rows.visits;
    context.font = "10px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "left";
    for (const { room, from, to } of visits) {
      const left = Math.max(0, this.position(from, width));
      const right = Math.min(width, this.position(to, width));
      if (right < 0 || left > width) continue;
      context.globalAlpha = 0.5;
      context.fillStyle = palette["room-line"];
      context.fillRect(left, top, Math.max(1, right - left - 1), bottom - top);
      context.globalAlpha = 1;
      if (context.measureText(room).width > right - left - 6) continue;
      context.fillStyle = palette.text;
      context.fillText(room, left + 3, (top + bottom) / 2 + 0.5);
    }
  }

  /**
   * Draws times of the day, on full minutes or hours of this device's zone.
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   * @param {Record<string, string>} palette
   */
  drawTimes(context, width, palette) {
    const [top, bottom] = rows.times;
    const span = this.end - this.start;
    const most = Math.max(2, Math.floor(width / 80));
    const step = steps.find((one) => span / one <= most) ?? span;
    const offset = new Date(this.start * 1000).getTimezoneOffset() * 60;
    context.font = "10px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.fillStyle = palette.text;
    for (let t = Math.ceil((this.start - offset) / step) * step + offset; t < this.end; t += step) {
      const x = this.position(t, width);
      const date = new Date(t * 1000);
      const text = step >= 86400 ? date.toLocaleDateString(undefined, { day: "numeric", month: "short" })
        : date.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
      context.fillRect(x, top, 1, bottom - top);
      if (x + 4 + context.measureText(text).width < width) context.fillText(text, x + 4, (top + bottom) / 2 + 0.5);
    }
  }
}
