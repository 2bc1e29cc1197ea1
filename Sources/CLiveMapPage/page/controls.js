// @ts-check
import { speeds } from "./clock.js";
import { byId, make, setText } from "./dom.js";
import { listKeys, listenToKeys } from "./keys.js";

/** The seconds that an arrow key moves. */
const step = 5;
/** The pixels that an arrow key moves the plan. */
const stride = 64;

/**
 * Connects the player with a clock.
 * @param {import("./clock.js").Clock} clock
 * @param {number[]} speeds
 */
export function attachPlayer(clock, speeds) {
  byId("speed").replaceChildren(...speeds.map((speed) => make("option", { value: speed }, `${speed}×`)));
  byId("speed").addEventListener("change", () => clock.setSpeed(Number(byId("speed").value)));
  byId("play").addEventListener("click", () => clock.toggle());
}

/**
 * Shows the state of a clock on the player.
 * @param {import("./clock.js").Clock} clock
 */
export function showPlayer(clock) {
  const text = clock.playing ? "Pause" : "Play";
  setText(byId("play"), text);
  byId("play").setAttribute("aria-label", text);
  byId("speed").value = String(clock.speed);
}

/**
 * Connects the buttons and the keys with the page.
 * @param {import("./app.js").App} app
 */
export function attachControls(app) {
  const { clock } = app;
  attachPlayer(clock, speeds);
  byId("speed").value = "1";
  byId("live-edge").addEventListener("click", () => clock.seekEdge());
  byId("follow").addEventListener("click", () => toggleFollow(app));
  byId("fit").addEventListener("click", () => app.fit());
  byId("zoom-in").addEventListener("click", () => zoom(app, 1.5));
  byId("zoom-out").addEventListener("click", () => zoom(app, 1 / 1.5));
  byId("venue").addEventListener("change", () => app.chooseVenue(Number(byId("venue").value)));
  const keys = keysOf(app);
  byId("help-open").addEventListener("click", () => openHelp(keys));
  listKeys(byId("help-list"), keys);
  byId("help-timeline").hidden = !app.isSession;
  listenToKeys(keys);
}

/** @param {import("./keys.js").Key[]} keys */
function openHelp(keys) {
  listKeys(byId("help-list"), keys);
  byId("help").showModal();
}

/** @param {import("./app.js").App} app */
function toggleFollow(app) {
  app.setFollowing(!app.following);
  if (app.following && app.frame) app.follow(app.frame);
}

/**
 * Zooms about the estimate while the plan follows it, otherwise about the middle.
 * @param {import("./app.js").App} app
 * @param {number} factor
 */
function zoom(app, factor) {
  const { view } = app.plan;
  const estimate = app.following && app.centring ? app.shownEstimate : null;
  if (estimate) view.zoom(factor, ...view.toScreen(estimate.x, estimate.y));
  else view.zoom(factor);
  app.plan.invalidate();
}

/**
 * @param {import("./app.js").App} app
 * @returns {import("./keys.js").Key[]}
 */
function keysOf(app) {
  const { clock, plan } = app;
  const pan = (/** @type {KeyboardEvent} */ event) => {
    const ways = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const [dx, dy] = ways[/** @type {"ArrowUp"} */ (event.key)] ?? [0, 0];
    plan.view.pan(dx * stride, dy * stride);
    app.viewMoved();
  };
  const turnFloor = (/** @type {number} */ up) => {
    const mapId = app.floors.neighbour(plan.scene.map?.id ?? null, up);
    if (mapId !== null) app.chooseMap(mapId);
  };
  const always = [
    { keys: ["Shift+ArrowLeft", "Shift+ArrowRight", "Shift+ArrowUp", "Shift+ArrowDown", "ArrowUp", "ArrowDown"],
      shown: "⇧ ← → ↑ ↓", text: "Move the plan", act: pan },
    { keys: ["+", "="], shown: "+", text: "Zoom in", act: () => zoom(app, 1.5) },
    { keys: ["-", "_"], shown: "−", text: "Zoom out", act: () => zoom(app, 1 / 1.5) },
    { keys: ["0"], shown: "0", text: "Fit to screen", act: () => app.fit() },
    { keys: ["PageUp"], shown: "Page up", text: "The floor above", act: () => turnFloor(1) },
    { keys: ["PageDown"], shown: "Page down", text: "The floor below", act: () => turnFloor(-1) },
    { keys: ["l"], shown: "L", text: "Show or hide the layers", act: () => byId("layers").toggleAttribute("open") },
    { keys: ["t"], shown: "T", text: "Change the appearance", act: () => app.theme.turn() },
    { keys: ["?"], shown: "?", text: "Show the keys", act: () => openHelp(keysOf(app)) },
  ];
  if (!app.isSession) {
    return [{ keys: ["ArrowLeft", "ArrowRight"], shown: "← →", text: "Move the plan", act: pan }, ...always];
  }
  return [
    { keys: [" ", "k"], shown: "Space", text: "Play or pause", act: () => clock.toggle() },
    { keys: ["ArrowLeft"], shown: "←", text: `Back ${step} seconds`, act: () => clock.seek(clock.t - step) },
    { keys: ["ArrowRight"], shown: "→", text: `Forward ${step} seconds`, act: () => clock.seek(clock.t + step) },
    { keys: [","], shown: ",", text: "The frame before", act: () => stepFrame(app, -1) },
    { keys: ["."], shown: ".", text: "The frame after", act: () => stepFrame(app, 1) },
    { keys: ["["], shown: "[", text: "The event before", act: () => seekEvent(app, -1) },
    { keys: ["]"], shown: "]", text: "The event after", act: () => seekEvent(app, 1) },
    { keys: ["Home"], shown: "Home", text: "The beginning", act: () => clock.seek(clock.start) },
    { keys: ["End"], shown: "End", text: "The end",
      act: () => (clock.isLive ? clock.seekEdge() : clock.seek(clock.end)) },
    { keys: ["<"], shown: "<", text: "Slower", act: () => changeSpeed(app, -1) },
    { keys: [">"], shown: ">", text: "Faster", act: () => changeSpeed(app, 1) },
    { keys: ["f"], shown: "F", text: "Follow the session", act: () => toggleFollow(app) },
    ...(app.source.overview.acceptsMarks
      ? [{ keys: ["m"], shown: "M", text: "Mark my place", act: () => byId("mark").click() }] : []),
    ...always,
  ];
}

/**
 * @param {import("./app.js").App} app
 * @param {number} by
 */
function stepFrame(app, by) {
  const { store } = app.source;
  const frame = store.frames[store.indexAt(app.clock.t) + by];
  app.clock.pause();
  if (frame) app.clock.seek(frame.t);
}

/**
 * @param {import("./app.js").App} app
 * @param {number} by
 */
function seekEvent(app, by) {
  const { clock, source } = app;
  /** @type {number[]} */
  const times = source.events.map((/** @type {any} */ event) => event.t);
  const next = by > 0 ? times.find((t) => t > clock.t + 0.01) : times.findLast((t) => t < clock.t - 0.5);
  if (next !== undefined) clock.seek(next);
}

/**
 * @param {import("./app.js").App} app
 * @param {number} by
 */
function changeSpeed(app, by) {
  const index = speeds.indexOf(app.clock.speed) + by;
  if (index >= 0 && index < speeds.length) app.clock.setSpeed(speeds[index]);
}
