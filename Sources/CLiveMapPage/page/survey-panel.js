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
      make("button", { type: "button", id: "survey-undo", class: "quiet", hidden: "" }, "Undo")),
    make("form", { id: "survey-room", hidden: "" },
      make("div", { class: "line" },
        make("label", { for: "survey-room-name", class: "unseen" }, "Room where you stand"),
        make("select", { id: "survey-room-name", required: "" }),
        make("button", { type: "submit" }, "I am here")),
      make("p", { class: "note" }, "Without a plan: choose the room, and stand in its middle, where the mark is set. Stay for half "
        + "a minute, and press again before you go.")));
}

/**
 * Lists rooms for a choice by name, by floors from the lowest one.
 * @param {any} select keeps its choice
 * @param {any[]} rooms
 * @param {(id: number) => any} mapOf
 */
export function fillRooms(select, rooms, mapOf) {
  const chosen = select.value;
  /** @type {Map<number, any[]>} */
  const floors = new Map();
  for (const room of rooms) floors.set(room.mapId, [...(floors.get(room.mapId) ?? []), room]);
  const level = (/** @type {number} */ id) => mapOf(id)?.level ?? 0;
  const groups = [...floors].sort(([a], [b]) => level(a) - level(b) || a - b).map(([id, list]) => make(
    "optgroup", { label: mapOf(id)?.name ?? `Map ${id}` },
    ...list.sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }))
      .map((room) => make("option", { value: room.id }, room.name))));
  select.replaceChildren(make("option", { value: "" }, "Room"), ...groups);
  select.value = rooms.some((room) => String(room.id) === chosen) ? chosen : "";
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
