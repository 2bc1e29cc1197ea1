// @ts-check
import { isRefusal, refusalText, request } from "./api.js";
import { byId, make, setText } from "./dom.js";
import { counted, signed } from "./format.js";

/** The milliseconds between two requests: the levels of a day change slowly. */
const pause = 600_000;
/** The size of the chart in its own units, its margins, and the least range of its levels in dB. */
const [width, height, left, top, bottom, leastRange] = [320, 150, 34, 8, 20, 8];
const dayLength = 86_400_000;

/** The levels of the beacons over weeks, what has changed, and what to do. */
export class BeaconHistory {
  /** @param {any} root */
  constructor(root) {
    this.root = root;
    /** @type {number|null} */
    this.venue = null;
    /** @type {any} */
    this.content = null;
    this.summary = make("p", { id: "history-summary", class: "note", role: "status" });
    this.list = make("ul", { id: "history-list" });
    this.choice = make("select", { id: "history-choice", onchange: () => this.choose(this.choice.value) });
    this.choiceLine = make("label", { class: "history-line", hidden: "" }, "Chart of ", this.choice);
    /** The drawing is in the document, whose parser knows the name space of its elements. */
    this.drawing = byId("history-svg");
    this.note = make("p", { class: "note" });
    this.chart = make("div", { id: "history-chart", hidden: "" }, this.drawing, this.note);
    root.append(make("h2", {}, "Beacons over weeks"), this.summary, this.list, this.choiceLine, this.chart);
  }

  /**
   * Shows the history of a venue, and follows its changes.
   * @param {any} venue
   */
  async show(venue) {
    const id = venue?.id ?? null;
    if (id === this.venue) return;
    this.venue = id;
    this.use(null);
    this.root.hidden = id === null;
    while (id !== null && id === this.venue) {
      try {
        const content = await request("beacons/history", { venue: id });
        if (id === this.venue) this.use(content);
      } catch (error) {
        if (id === this.venue) {
          setText(this.summary, isRefusal(error) ? refusalText : error instanceof Error ? error.message : String(error));
        }
      }
      await new Promise((resolve) => { setTimeout(resolve, pause); });
    }
  }

  /** @param {any} content */
  use(content) {
    this.content = content;
    const beacons = content?.beacons ?? [];
    const advised = beacons.filter((/** @type {any} */ one) => one.adviceText);
    setText(this.summary, summaryOf(content, advised.length));
    this.list.replaceChildren(...advised.map((/** @type {any} */ one) => make("li", {},
      make("button", { type: "button", "data-beacon": one.beacon, onclick: () => this.choose(one.beacon) }, one.name),
      make("p", {}, `${one.text}.`), make("p", { class: "advice" }, one.adviceText))));
    const shown = beacons.filter((/** @type {any} */ one) => one.levels.length > 1);
    const others = shown.filter((/** @type {any} */ one) => !one.adviceText);
    const charted = [...shown.filter((/** @type {any} */ one) => one.adviceText), ...others];
    const chosen = this.choice.value;
    this.choice.replaceChildren(...charted.map((one) => new Option(one.name, one.beacon)));
    this.choiceLine.hidden = charted.length === 0;
    this.choose(charted.some((one) => one.beacon === chosen) ? chosen : charted[0]?.beacon ?? "");
  }

  /** @param {string} id */
  choose(id) {
    const beacon = this.content?.beacons.find((/** @type {any} */ one) => one.beacon === id && one.levels.length > 1);
    if (beacon) this.choice.value = id;
    for (const button of this.list.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(button.dataset.beacon === id));
    }
    this.chart.hidden = !beacon;
    if (!beacon) return;
    draw(this.drawing, beacon);
    setText(this.note, noteOf(beacon));
  }
}

/**
 * @param {any} content
 * @param {number} advised
 */
function summaryOf(content, advised) {
  if (content === null) return "";
  if (content.days === 0) return "No day has levels yet.";
  const need = advised === 0 ? "No beacon needs work." : `${counted(advised, "beacon")} ${advised === 1 ? "needs" : "need"} work.`;
  return `${counted(content.days, "day")} from ${content.from} to ${content.to}. ${need}`;
}

/** @param {any} beacon */
function noteOf(beacon) {
  const correction = beacon.correction === undefined ? ""
    : ` A session that follows drift corrects it by ${signed(beacon.correction, 1)}\u00a0dB.`;
  return `Daily level relative to the expected one in dB, with its standard error.${correction}`;
}

/**
 * Draws a chart of the level of each day with its standard error; the grey line is the expected level, and the dashed
 * one the day of the change.
 * @param {any} chart
 * @param {any} beacon
 */
function draw(chart, beacon) {
  const element = (/** @type {string} */ name, /** @type {Record<string, string|number>} */ attributes) => {
    const made = document.createElementNS(chart.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
    return made;
  };
  const label = (/** @type {string} */ words, /** @type {number} */ x, /** @type {number} */ y, /** @type {string} */ anchor) => {
    const made = element("text", { x, y: y.toFixed(1), "text-anchor": anchor });
    made.textContent = words;
    return made;
  };
  const days = beacon.levels.map((/** @type {any} */ day) => ({ ...day, time: Date.parse(day.day) }));
  const [first, latest] = [days[0], days[days.length - 1]];
  const span = Math.max(latest.time - first.time, dayLength);
  const values = days.flatMap((/** @type {any} */ day) => [day.level - day.standardError, day.level + day.standardError]);
  let [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const rest = Math.max(0, leastRange - (high - low)) / 2;
  [low, high] = [low - rest, high + rest];
  const toX = (/** @type {number} */ time) => left + 4 + ((time - first.time) / span) * (width - left - 8);
  const toY = (/** @type {number} */ level) => top + ((high - level) / (high - low)) * (height - top - bottom);
  const text = `Level of beacon ${beacon.name} from ${first.day} to ${latest.day}: at first ${signed(first.level, 1)} dB, `
    + `at last ${signed(latest.level, 1)} dB, relative to the expected level`;
  chart.setAttribute("viewBox", `0 0 ${width} ${height}`);
  chart.setAttribute("aria-label", text);
  chart.replaceChildren();
  const step = high - low > 24 ? 10 : high - low > 12 ? 5 : 2;
  for (let level = Math.ceil(low / step) * step; level <= high; level += step) {
    const y = toY(level).toFixed(1);
    chart.append(
      element("line", { class: level === 0 ? "expected" : "grid", x1: left, x2: width, y1: y, y2: y }),
      label(signed(level), left - 5, toY(level) + 4, "end"));
  }
  chart.append(
    label(first.day, left, height - 4, "start"), label(latest.day, width, height - 4, "end"),
    element("path", {
      class: "errors",
      d: days.map((/** @type {any} */ day) => {
        const ends = [day.level - day.standardError, day.level + day.standardError].map((end) => toY(end).toFixed(1));
        return `M${toX(day.time).toFixed(1)} ${ends[0]}V${ends[1]}`;
      }).join(""),
    }),
    element("path", {
      class: "levels",
      // A week without a level breaks the line.
      d: days.map((/** @type {any} */ day, /** @type {number} */ index) => {
        const isNext = index > 0 && day.time - days[index - 1].time <= 7 * dayLength;
        return `${isNext ? "L" : "M"}${toX(day.time).toFixed(1)} ${toY(day.level).toFixed(1)}`;
      }).join(""),
    }));
  const since = beacon.since === undefined ? NaN : Date.parse(beacon.since);
  if (since >= first.time && since <= latest.time) {
    const x = toX(since).toFixed(1);
    chart.append(element("line", { class: "since", x1: x, x2: x, y1: top, y2: height - bottom }));
  }
}
