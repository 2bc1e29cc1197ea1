// @ts-check
import { byId, make, setText } from "./dom.js";
import { metres, number, percent } from "./format.js";
import { roomOf } from "./tag-store.js";

/** The number of rows of the list: a user searches before looking through more. */
const mostRows = 100;

const healthNames = /** @type {Record<string, string>} */ ({
  healthy: "Works", silent: "Silent", deaf: "Deaf", moved: "Moved", clockWrong: "Clock wrong",
  miscalibrated: "Measures differently",
});

/**
 * Returns an age such as "5 s", "3 min" or "2 h".
 * @param {number} milliseconds
 */
export function ageText(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 60) return `${seconds}\u00a0s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}\u00a0min`;
  return seconds < 86400 ? `${Math.floor(seconds / 3600)}\u00a0h` : `${Math.floor(seconds / 86400)}\u00a0d`;
}

/** The list of tags that match the search. */
export class TagList {
  /**
   * @param {import("./tag-store.js").TagStore} store
   * @param {(key: string) => void} choose
   */
  constructor(store, choose) {
    this.store = store;
    this.choose = choose;
    this.field = byId("search");
    this.list = byId("tag-list");
    /** The rows by key, which are kept so that a focused row keeps the focus. @type {Map<string, any>} */
    this.rows = new Map();
    this.list.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.move(event));
    this.field.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "ArrowDown") this.move(event);
    });
  }

  /** @param {KeyboardEvent} event */
  move(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key] ?? 0;
    if (step === 0) return;
    event.preventDefault();
    const buttons = [...this.list.querySelectorAll("button")];
    const index = buttons.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
    if (index + step < 0) this.field.focus();
    else buttons[Math.min(buttons.length - 1, index + step)]?.focus();
  }

  /**
   * @param {string|null} selected
   * @param {(id: number) => string} mapName
   */
  show(selected, mapName) {
    const found = this.store.matching(this.field.value);
    const present = found.filter((tag) => tag.present).length;
    const isSearch = this.field.value.trim() !== "";
    setText(byId("count"), `${found.length} ${found.length === 1 ? "tag" : "tags"}${isSearch ? " found" : ""}, `
      + `${present} present, ${found.length - present} away`);
    const shown = found.slice(0, mostRows);
    const rows = new Map();
    for (const tag of shown) {
      const row = this.rows.get(tag.tag) ?? this.row(tag.tag);
      rows.set(tag.tag, row);
      this.fill(row, tag, tag.tag === selected, mapName);
    }
    // Rows are moved only if their order changed, as moving takes the focus away.
    const wanted = [...rows.values()].map((row) => row.item);
    const current = [...this.list.children];
    if (wanted.length !== current.length || wanted.some((item, index) => item !== current[index])) {
      const focused = document.activeElement;
      this.list.replaceChildren(...wanted);
      if (focused instanceof HTMLElement && this.list.contains(focused)) focused.focus({ preventScroll: true });
    }
    this.rows = rows;
    const rest = found.length - shown.length;
    byId("more").hidden = rest === 0;
    setText(byId("more"), rest === 0 ? "" : `${rest} more: search to see them.`);
  }

  /** @param {string} key */
  row(key) {
    const name = make("span", { class: "name" });
    const age = make("span", { class: "age" });
    const place = make("span", { class: "place" });
    const button = make(
      "button", { type: "button", "data-tag": key, onclick: () => this.choose(key) }, name, age, place);
    return { item: make("li", {}, button), button, name, age, place };
  }

  /**
   * @param {any} row
   * @param {any} tag
   * @param {boolean} isSelected
   * @param {(id: number) => string} mapName
   */
  fill(row, tag, isSelected, mapName) {
    row.button.setAttribute("aria-pressed", String(isSelected));
    row.button.classList.toggle("away", !tag.present);
    setText(row.name, tag.shown);
    setText(row.age, ageText(this.store.now - tag.at));
    const map = tag.position ? mapName(tag.position.mapId) : "";
    setText(row.place, tag.present ? [roomOf(tag), map].filter(Boolean).join(", ") || "No position yet" : "Away");
  }
}

/**
 * Shows the facts of the selected tag.
 * @param {any} tag null without one
 * @param {number} now
 * @param {(id: number) => string} mapName
 */
export function showSelection(tag, now, mapName) {
  byId("selection").hidden = !tag;
  if (!tag) return;
  setText(byId("selection-name"), tag.shown);
  const position = tag.position;
  /** @type {[string, string][]} */
  const facts = [["State", tag.present ? "Present" : `Away for ${ageText(now - Date.parse(tag.since))}`]];
  if (tag.name) facts.push(["Key", tag.tag]);
  if (position) {
    if (tag.present) facts.push(["Room", roomOf(tag) || "—"]);
    facts.push(["Floor", mapName(position.mapId)
      + (position.floorCertainty === undefined ? "" : ` (${percent(position.floorCertainty)})`)]);
    facts.push(["Radius (68\u00a0%)", metres(position.radius)]);
    if (position.speed !== undefined) facts.push(["Speed", `${number(position.speed, 1)}\u00a0m/s`]);
    facts.push([tag.present ? "Age" : "Last position", ageText(now - Date.parse(position.time))]);
  }
  const list = byId("facts-list");
  if (list.children.length !== 2 * facts.length) {
    list.replaceChildren(...facts.flatMap(() => [make("dt"), make("dd")]));
  }
  facts.forEach(([name, value], index) => {
    setText(list.children[2 * index], name);
    setText(list.children[2 * index + 1], value);
  });
}

/**
 * Returns the rank of a receiver in the list: problems, those that never sent, and the others.
 * @param {any} one
 * @param {boolean} knowsMessages
 */
function rank(one, knowsMessages) {
  if (one.health !== undefined && one.health !== "healthy") return 0;
  return knowsMessages && one.lastMessage === undefined ? 1 : 2;
}

/**
 * Returns the state of a receiver in a few words.
 * @param {any} one
 * @param {boolean} knowsMessages
 */
function stateOf(one, knowsMessages) {
  if (healthNames[one.health]) return healthNames[one.health];
  if (!knowsMessages) return "No problem reported";
  return one.lastMessage === undefined ? "No message yet" : "Sends";
}

/**
 * Lists the gateways without a receiver, and the receivers, those with a problem first.
 * @param {Map<string, any>} receivers
 * @param {any[]|undefined} unknownGateways undefined if the server doesn't know what gateways have sent
 * @param {number} now
 */
export function showReceivers(receivers, unknownGateways, now) {
  const knowsMessages = unknownGateways !== undefined;
  const sorted = [...receivers.values()].sort(
    (a, b) => rank(a, knowsMessages) - rank(b, knowsMessages) || a.id.localeCompare(b.id));
  const unknown = unknownGateways ?? [];
  byId("receivers").hidden = sorted.length + unknown.length === 0;
  const list = byId("receiver-list");
  const text = JSON.stringify([
    unknown.map((one) => one.text),
    sorted.map((one) => [one.id, one.health, one.text, one.lastMessage === undefined, knowsMessages]),
  ]);
  if (list.dataset.shown !== text) {
    list.dataset.shown = text;
    list.replaceChildren(
      ...unknown.map((one) => make("li", { "data-unknown": one.name },
        make("span", { class: "problem" }, one.text), make("span", { class: "last" }))),
      ...sorted.map((one) => make("li", { "data-receiver": one.id },
        make("span", { class: "name" }, one.id),
        make("span", { class: "health", "data-health": one.health ?? "" }, stateOf(one, knowsMessages)),
        ...(one.text ? [make("span", { class: "reason" }, one.text)] : []), make("span", { class: "last" }))));
  }
  [...unknown, ...sorted].forEach((one, index) => {
    const last = list.children[index].querySelector(".last");
    if (one.lastMessage) setText(last, `Last message ${ageText(now - Date.parse(one.lastMessage))} ago`);
  });
}
