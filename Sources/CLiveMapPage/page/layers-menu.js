// @ts-check
import { make } from "./dom.js";
import { recall, remember } from "./memory.js";

/** The layers of the plan: the name, the text, and the modes that have it. */
const layers = [
  ["image", "Plan image", "session radioMap"],
  ["walls", "Walls and floor", "session radioMap"],
  ["rooms", "Rooms", "session radioMap"],
  ["names", "Room names", "session radioMap"],
  ["fences", "Fences", "session"],
  ["points", "Points of interest", "session"],
  ["beacons", "Beacons", "session radioMap"],
  ["readings", "Readings", "session"],
  ["particles", "Particles", "session"],
  ["trail", "Trail", "session"],
  ["truth", "Ground truth", "session"],
  ["route", "Route", "session"],
  ["estimate", "Estimate", "session"],
  ["heat", "Heat map", "radioMap"],
  ["gaps", "Survey gaps", "radioMap"],
  ["survey", "Survey points", "radioMap"],
  ["residuals", "Residuals", "radioMap"],
];

/**
 * Fills the menu of layers. The images of plans mostly have the names of the rooms, so that the page's own names are
 * hidden over them until the user wants them. Returns the names of the visible layers, a set that follows the menu.
 * @param {HTMLElement} root
 * @param {string} mode "session" or "radioMap"
 * @param {boolean} hasImages whether maps have images
 * @param {() => void} changed
 * @returns {Set<string>}
 */
export function fillLayers(root, mode, hasImages, changed) {
  const hidden = new Set((recall("hidden-layers") ?? (hasImages ? "names" : "")).split(" "));
  const visible = new Set();
  const choices = layers.filter(([, , modes]) => modes.split(" ").includes(mode));
  root.replaceChildren(...choices.map(([name, text]) => {
    if (!hidden.has(name)) visible.add(name);
    const box = make("input", {
      type: "checkbox", "data-layer": name, checked: hidden.has(name) ? null : "",
      onchange: () => {
        if (box.checked) visible.add(name);
        else visible.delete(name);
        if (box.checked) hidden.delete(name);
        else hidden.add(name);
        remember("hidden-layers", [...hidden].join(" ").trim());
        changed();
      },
    });
    return make("label", {}, box, text);
  }));
  return visible;
}
