// @ts-check
import { byId, make } from "./dom.js";
import { listKeys, listenToKeys } from "./keys.js";
import { kinds } from "./venue-kinds.js";

/**
 * Connects the buttons and the keys with the page.
 * @param {import("./edit-app.js").EditApp} app
 */
export function attachEditControls(app) {
  const { tools, plan } = app;
  const root = byId("plan");
  attachMenu();
  document.querySelectorAll("[data-tool]").forEach((button) => button.addEventListener(
    "click", () => tools.choose(/** @type {any} */ (/** @type {HTMLElement} */ (button).dataset.tool))));
  const zoom = (/** @type {number} */ factor) => {
    plan.view.zoom(factor);
    plan.invalidate();
  };
  const fit = () => {
    plan.view.fit();
    plan.invalidate();
  };
  byId("zoom-in").addEventListener("click", () => zoom(1.5));
  byId("zoom-out").addEventListener("click", () => zoom(1 / 1.5));
  byId("fit").addEventListener("click", fit);
  byId("undo").addEventListener("click", () => app.undo());
  byId("redo").addEventListener("click", () => app.redo());
  byId("save").addEventListener("click", () => app.save());
  for (const id of ["names", "paths", "walkable"]) byId(id).addEventListener("change", () => app.sceneChanged());
  byId("finish").addEventListener("click", () => tools.finish());
  byId("delete").addEventListener("click", () => tools.deleteSelected());
  byId("deselect").addEventListener("click", () => app.select(null));
  byId("cancel").addEventListener("click", () => byId("conflict").close());
  const keys = keysOf(app, zoom, fit);
  listKeys(byId("help-list"), [
    ...keys,
    { keys: [], shown: "Ctrl S", text: "Save", act: () => {} },
    { keys: [], shown: "Ctrl Z", text: "Undo", act: () => {} },
    { keys: [], shown: "⇧ Ctrl Z", text: "Do again", act: () => {} },
    { keys: [], shown: "⇧ click", text: "Keep to the horizontal or the vertical", act: () => {} },
  ]);
  byId("help-open").addEventListener("click", () => byId("help").showModal());
  listenToKeys(keys);
  document.addEventListener("keydown", (event) => pressWithControl(app, event));
  root.addEventListener("pointermove", (event) => {
    const box = root.getBoundingClientRect();
    if (event.pointerType === "mouse") tools.hovered(event.clientX - box.left, event.clientY - box.top, event);
  });
  root.addEventListener("pointerleave", () => tools.show(null, false));
  window.addEventListener("beforeunload", (event) => {
    if (app.history.isChanged) event.preventDefault();
  });
}

/**
 * Fills the menu of the kinds. On a wide screen, some of them have a button of their own instead.
 */
function attachMenu() {
  const menu = byId("more-tools");
  menu.append(...kinds.filter((kind) => kind.key !== null).map((kind) => make("button", {
    type: "button", "data-tool": kind.id, "aria-pressed": "false",
    class: document.querySelector(`#tools [data-tool="${kind.id}"]`) ? "narrow" : null,
  }, kind.title)));
  menu.addEventListener("click", () => {
    menu.hidePopover();
    byId("plan").focus();
  });
  byId("view").addEventListener("click", () => {
    const isOpen = byId("choices").classList.toggle("open");
    byId("view").setAttribute("aria-expanded", String(isOpen));
  });
  menu.addEventListener("beforetoggle", () => {
    const { right, bottom } = byId("more").getBoundingClientRect();
    menu.style.left = `${Math.min(right + 8, window.innerWidth - 190)}px`;
    menu.style.top = `${Math.max(0, Math.min(bottom, window.innerHeight - 440))}px`;
  });
}

/**
 * @param {import("./edit-app.js").EditApp} app
 * @param {KeyboardEvent} event
 */
function pressWithControl(app, event) {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || byId("conflict").open) return;
  const key = event.key.toLowerCase();
  if (key === "s") {
    event.preventDefault();
    // A field that is being typed in counts.
    if (document.activeElement instanceof HTMLInputElement) document.activeElement.blur();
    app.save();
    return;
  }
  // In a field, the browser undoes what was typed.
  if (event.target instanceof Element && event.target.closest("input[type=text], input[type=search], textarea")) return;
  if (key === "z" && event.shiftKey || key === "y") app.redo();
  else if (key === "z") app.undo();
  else return;
  event.preventDefault();
}

/**
 * @param {import("./edit-app.js").EditApp} app
 * @param {(factor: number) => void} zoom
 * @param {() => void} fit
 * @returns {import("./keys.js").Key[]}
 */
function keysOf(app, zoom, fit) {
  const { tools, plan } = app;
  const move = (/** @type {KeyboardEvent} */ event) => {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const [dx, dy] = ways[/** @type {"ArrowUp"} */ (event.key)];
    tools.nudge(dx, dy, event.shiftKey);
  };
  const turnFloor = (/** @type {number} */ up) => {
    const mapId = app.floors.neighbour(plan.scene.map?.id ?? null, up);
    if (mapId !== null) app.chooseMap(mapId);
  };
  const set = () => {
    const { view } = plan;
    if (tools.isDrawing && plan.scene.map) {
      tools.set(tools.pointer ?? tools.snap(view.toMap(view.width / 2, view.height / 2), false, null, []).place);
    }
  };
  const arrows = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];
  return [
    { keys: ["v"], shown: "V", text: "Select and move", act: () => tools.choose("select") },
    ...kinds.flatMap((kind) => (kind.key === null ? [] : [{
      keys: [kind.key], shown: kind.key.toUpperCase(), text: `Draw ${kind.plural}`, act: () => tools.choose(kind.id),
    }])),
    { keys: ["x"], shown: "X", text: "Delete by clicks", act: () => tools.choose("delete") },
    { keys: ["Delete", "Backspace"], shown: "Delete", text: "Delete the selected corner or object",
      act: () => { if (!tools.takeBack()) tools.deleteSelected(); } },
    { keys: [...arrows, ...arrows.map((key) => `Shift+${key}`)], shown: "← → ↑ ↓",
      text: "Move what is selected by 0.1 m, the pointer of a drawing tool, or the plan; ⇧ for longer steps", act: move },
    { keys: [" "], shown: "Space", text: "Set an object or a corner", act: set },
    { keys: ["Enter"], shown: "Enter", text: "End the shape that is drawn; leave a field", act: () => tools.finish() },
    { keys: ["Escape"], shown: "Esc", text: "Give up the shape, the tool or the selection",
      act: () => { if (!byId("more-tools").matches(":popover-open")) tools.escape(); } },
    { keys: ["s"], shown: "S", text: "Simulate the coverage", act: () => app.coverage.open() },
    { keys: ["/"], shown: "/", text: "Search the objects of the floor", act: () => byId("find").focus() },
    { keys: ["+", "="], shown: "+", text: "Zoom in", act: () => zoom(1.5) },
    { keys: ["-", "_"], shown: "−", text: "Zoom out", act: () => zoom(1 / 1.5) },
    { keys: ["0"], shown: "0", text: "Fit to screen", act: fit },
    { keys: ["PageUp"], shown: "Page up", text: "The floor above", act: () => turnFloor(1) },
    { keys: ["PageDown"], shown: "Page down", text: "The floor below", act: () => turnFloor(-1) },
    { keys: ["t"], shown: "T", text: "Change the appearance", act: () => app.theme.turn() },
    { keys: ["?"], shown: "?", text: "Show the keys", act: () => byId("help").showModal() },
  ];
}
