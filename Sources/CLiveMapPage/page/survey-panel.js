// @ts-check
import { make } from "./dom.js";

/**
 * Fills the panel of the walks.
 * @param {any} root
 * @param {string} heading the name of the element of the heading
 * @param {string} carry what to carry, such as "this tag"
 */
export function fillWalks(root, heading, carry) {
  root.replaceChildren(
    make(heading, {}, "Survey"),
    make("p", { id: "survey-note", class: "note" },
      `Carry ${carry}. Tap the plan where you stand, each time you turn or stop, and walk straight and evenly between two `
      + "places. Or drag the mark along while you walk."),
    make("p", { id: "survey-state", role: "status" }),
    make("div", { class: "line" },
      make("button", { type: "button", id: "survey-start", class: "primary" }, "Start a walk"),
      make("button", { type: "button", id: "survey-continue", class: "primary", hidden: "" }, "Continue this walk"),
      make("button", { type: "button", id: "survey-stop", class: "primary", hidden: "" }, "End the walk"),
      make("button", { type: "button", id: "survey-undo", class: "quiet", hidden: "" }, "Undo")));
}

/**
 * Fills the panel of the radio map.
 * @param {any} root
 */
export function fillMap(root) {
  root.replaceChildren(
    make("h2", {}, "Radio map of the survey"),
    make("p", { id: "map-state", role: "status" }),
    make("p", { id: "map-errors", role: "status" }),
    make("p", { id: "map-problem", role: "alert" }),
    make("p", { id: "map-edition", class: "note" }),
    make("div", { class: "line" },
      make("button", { type: "button", id: "map-adopt", class: "primary", hidden: "" }, "Use this map"),
      make("button", { type: "button", id: "map-takeBack", hidden: "" }, "Take back"),
      make("button", { type: "button", id: "map-learn", class: "quiet" }, "Learn again")),
    make("label", { class: "choice" }, make("input", { type: "checkbox", id: "gap-show" }),
      " Shade where walks are missing"),
    make("p", { id: "gap-note", class: "note" }),
    make("div", { id: "unvisited", hidden: "" },
      make("h3", {}, "Rooms not yet visited"), make("ul", { id: "unvisited-list" })));
}
