// @ts-check
import { byId, prepareCanvas, setText } from "./dom.js";
import { errorText } from "./facts.js";
import { clockTime, metres, quantile } from "./format.js";

/** The error of the estimate: a number, a chart over time and a summary. */
export class ErrorChart {
  constructor() {
    this.panel = byId("error");
    this.canvas = byId("canvas-error");
    this.version = -1;
    /** @type {any[]} */
    this.frames = [];
    this.median = NaN;
    this.high = NaN;
  }

  /**
   * @param {any} frame
   * @param {import("./frame-store.js").FrameStore} store
   * @param {import("./clock.js").Clock} clock
   * @param {Record<string, string>} palette
   */
  show(frame, store, clock, palette) {
    if (store.version !== this.version) {
      this.version = store.version;
      this.frames = store.frames.filter((one) => typeof one.error === "number");
      const sorted = this.frames.map((one) => one.error).sort((a, b) => a - b);
      this.median = quantile(sorted, 0.5);
      this.high = quantile(sorted, 0.95);
    }
    this.panel.hidden = this.frames.length === 0 && !frame?.truth;
    if (this.panel.hidden) return;
    setText(byId("error-number"), errorText(frame));
    const count = `${this.frames.length} estimates with ground truth`;
    const summary = this.frames.length === 0 ? ""
      : `Median ${metres(this.median)}, 95\u00a0% within ${metres(this.high)}, ${count}`;
    setText(byId("error-summary"), summary);
    this.canvas.setAttribute("aria-label", `Error over time. ${summary}`);
    this.draw(clock, palette);
  }

  /**
   * @param {import("./clock.js").Clock} clock
   * @param {Record<string, string>} palette
   */
  draw(clock, palette) {
    const prepared = prepareCanvas(this.canvas);
    if (!prepared || this.frames.length === 0) return;
    const { context, width, height } = prepared;
    const highest = this.frames.reduce((most, frame) => Math.max(most, frame.error), 0);
    const step = highest > 20 ? 10 : highest > 8 ? 5 : highest > 3 ? 2 : 1;
    const top = Math.max(step, Math.ceil(highest / step) * step);
    const left = 30;
    const bottom = height - 16;
    const duration = Math.max(1e-3, clock.end - clock.start);
    const toX = (/** @type {number} */ t) => left + ((t - clock.start) / duration) * (width - left - 2);
    const toY = (/** @type {number} */ value) => bottom - (value / top) * (bottom - 7);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "right";
    context.lineWidth = 1;
    const every = Math.ceil(top / step / 4) * step;
    for (let value = 0; value <= top; value += every) {
      context.strokeStyle = palette.line;
      context.beginPath();
      context.moveTo(left, Math.round(toY(value)) + 0.5);
      context.lineTo(width, Math.round(toY(value)) + 0.5);
      context.stroke();
      context.fillStyle = palette.quiet;
      context.fillText(`${value} m`, left - 5, toY(value));
    }
    context.textBaseline = "alphabetic";
    context.textAlign = "left";
    context.fillText("0:00", left, height - 2);
    context.textAlign = "right";
    context.fillText(clockTime(clock.end - clock.start), width, height - 2);

    context.strokeStyle = palette.truth;
    context.lineWidth = 1.6;
    context.lineJoin = "round";
    context.beginPath();
    let previous = null;
    for (const frame of this.frames) {
      // A pause without estimates breaks the line.
      if (previous !== null && frame.t - previous < 5) context.lineTo(toX(frame.t), toY(frame.error));
      else context.moveTo(toX(frame.t), toY(frame.error));
      previous = frame.t;
    }
    context.stroke();
    context.fillStyle = palette.text;
    context.fillRect(toX(clock.t) - 0.75, 4, 1.5, bottom - 4);
  }
}
