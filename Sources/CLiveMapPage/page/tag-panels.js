// @ts-check
import { byId, make, setChildren, setText } from "./dom.js";
import { dayTime, metres, number, percent } from "./format.js";
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

/**
 * Returns the place of a position in words, such as "Kitchen, Ground floor".
 * @param {any} position
 * @param {(id: number) => string} mapName
 */
function placeText(position, mapName) {
  return position ? [position.label, mapName(position.mapId)].filter(Boolean).join(", ") : "";
}

/**
 * Returns the level and the voltage of a battery, as far as the tag reports them.
 * @param {any} battery
 */
function batteryText(battery) {
  return [
    battery.percent === undefined ? "" : percent(battery.percent / 100),
    battery.volts === undefined ? "" : `${number(battery.volts, 2)}\u00a0V`,
  ].filter(Boolean).join(", ");
}

/** The list of tags that match the search, in two groups if there is a register. */
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
    /** The group that is shown: the tags of the register, or all others. */
    this.group = "assets";
    this.groups = byId("groups");
    this.buttons = [["assets", "Assets"], ["others", "Passers-by"]].map(([group, title]) => ({
      group, title, button: make("button", {
        type: "button", role: "radio", "data-group": group, onclick: () => this.chooseGroup(group),
      }),
    }));
    this.groups.append(...this.buttons.map((one) => one.button));
    this.groups.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key] ?? 0;
      if (step === 0) return;
      event.preventDefault();
      const next = this.buttons[step > 0 ? 1 : 0];
      next.button.focus();
      this.chooseGroup(next.group);
    });
    /** @type {() => void} */
    this.changed = () => {};
    /** The rows by key, which are kept so that a focused row keeps the focus. @type {Map<string, any>} */
    this.rows = new Map();
    this.list.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.move(event));
    this.field.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "ArrowDown") this.move(event);
    });
  }

  /** @param {string} group */
  chooseGroup(group) {
    this.group = group;
    this.changed();
  }

  /**
   * Shows the group of a tag, such as one that was selected on the plan.
   * @param {any} tag
   */
  showGroupOf(tag) {
    if (tag?.registered !== undefined) this.group = tag.registered ? "assets" : "others";
  }

  /**
   * Returns the tags of the shown group, and shows the sizes of both.
   * @param {any[]} found
   */
  grouped(found) {
    const hasGroups = this.store.hasRegister;
    this.groups.hidden = !hasGroups;
    if (!hasGroups) return found;
    const assets = found.filter((tag) => tag.registered);
    const others = found.filter((tag) => !tag.registered);
    for (const { group, title, button } of this.buttons) {
      setText(button, `${title} ${group === "assets" ? assets.length : others.length}`);
      button.setAttribute("aria-checked", String(group === this.group));
      button.tabIndex = group === this.group ? 0 : -1;
    }
    return this.group === "assets" ? assets : others;
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
    const found = this.grouped(this.store.matching(this.field.value));
    const present = found.filter((tag) => tag.present).length;
    const unlocated = found.filter((tag) => tag.unlocated).length;
    const isSearch = this.field.value.trim() !== "";
    setText(byId("count"), `${found.length} ${found.length === 1 ? "tag" : "tags"}${isSearch ? " found" : ""}, `
      + `${present} present, ${found.length - present - unlocated} away`
      + (unlocated > 0 ? `, ${unlocated} never located` : ""));
    const shown = found.slice(0, mostRows);
    const rows = new Map();
    for (const tag of shown) {
      const row = this.rows.get(tag.tag) ?? this.row(tag.tag);
      rows.set(tag.tag, row);
      this.fill(row, tag, tag.tag === selected, mapName);
    }
    setChildren(this.list, [...rows.values()].map((row) => row.item));
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
    setText(row.age, Number.isFinite(tag.at) ? ageText(this.store.now - tag.at) : "");
    setText(row.place, this.placeOf(tag, mapName));
  }

  /**
   * Returns the place of a tag in words.
   * @param {any} tag
   * @param {(id: number) => string} mapName
   */
  placeOf(tag, mapName) {
    const none = this.store.hasRooms ? "no room yet" : "no position yet";
    if (tag.unlocated) return Number.isFinite(tag.at) ? `Heard, ${none}` : "Never heard";
    const place = tag.room ? tag.room.label : placeText(tag.position, mapName);
    if (tag.present) return place || (tag.room ? "In none of the rooms" : `N${none.slice(1)}`);
    return place ? `Away, last in ${place}` : "Away";
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
  const isHeard = Number.isFinite(tag.at);
  /** @type {[string, string][]} */
  const facts = [[
    "State", tag.unlocated ? (isHeard ? "No position yet" : "Never heard")
      : tag.present ? "Present" : `Away for ${ageText(now - Date.parse(tag.since))}`,
  ]];
  if (tag.name) facts.push(["Key", tag.tag]);
  if (tag.unlocated && isHeard) facts.push(["Last heard", `${ageText(now - tag.at)} ago`]);
  if (position) {
    if (tag.present) facts.push(["Room", roomOf(tag) || "—"]);
    else facts.push(["Last seen", `${placeText(position, mapName)}, ${dayTime(Date.parse(position.time) / 1000, now / 1000)}`]);
    facts.push(["Floor", mapName(position.mapId)
      + (position.floorCertainty === undefined ? "" : ` (${percent(position.floorCertainty)})`)]);
    facts.push(["Radius (68\u00a0%)", metres(position.radius)]);
    if (position.speed !== undefined) facts.push(["Speed", `${number(position.speed, 1)}\u00a0m/s`]);
    facts.push([tag.present ? "Age" : "Last position", ageText(now - Date.parse(position.time))]);
  }
  if (tag.battery) facts.push(["Battery", batteryText(tag.battery)]);
  showFacts(facts);
}

/** @param {[string, string][]} facts */
function showFacts(facts) {
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
 * Shows the facts of the selected receiver.
 * @param {any} receiver
 * @param {boolean} knowsMessages
 * @param {number} now
 * @param {(id: number) => string} mapName
 */
export function showSelectedReceiver(receiver, knowsMessages, now, mapName) {
  byId("selection").hidden = false;
  setText(byId("selection-name"), receiver.id);
  /** @type {[string, string][]} */
  const facts = [["Receiver", stateOf(receiver, knowsMessages)]];
  if (receiver.mapId !== undefined) facts.push(["Floor", mapName(receiver.mapId)]);
  else facts.push(["Venue", "Has no receiver of this name"]);
  if (receiver.lastMessage) facts.push(["Last message", `${ageText(now - Date.parse(receiver.lastMessage))} ago`]);
  showFacts(facts);
}

/** The age in milliseconds from which a reading is old. */
const oldReading = 30000;

/**
 * Returns the length of the bar of an RSSI: 0 at -100 dBm and 1 at -40 dBm, the range that tags have in a building.
 * @param {number} rssi
 */
function gaugeOf(rssi) { return Math.min(1, Math.max(0.02, (rssi + 100) / 60)); }

/**
 * Lists the receivers that hear a tag, or the tags that a receiver hears, with the signal and the age.
 * @param {string} title
 * @param {{key: string, name: string, rssi: number, time: string}[]|null} hearings null to hide the list
 * @param {number} count the number of all, of which the list can have the first ones
 * @param {number} now
 * @param {(key: string) => void} choose
 */
export function showHearings(title, hearings, count, now, choose) {
  const box = byId("hearings");
  box.hidden = hearings === null;
  if (hearings === null) return;
  setText(byId("hearings-title"), title);
  const list = byId("hearing-list");
  const shown = hearings.slice(0, mostRows);
  const keys = JSON.stringify(shown.map((one) => one.key));
  if (list.dataset.shown !== keys) {
    list.dataset.shown = keys;
    list.replaceChildren(...shown.map((one) => make("li", {}, make(
      "button", { type: "button", "data-key": one.key, onclick: () => choose(one.key) },
      make("span", { class: "name" }), make("span", { class: "signal" }), make("span", { class: "age" }),
      make("span", { class: "gauge", "aria-hidden": "true" })))));
  }
  shown.forEach((one, index) => {
    const row = list.children[index].firstElementChild;
    const age = now - Date.parse(one.time);
    row.classList.toggle("old", age > oldReading);
    setText(row.querySelector(".name"), one.name);
    setText(row.querySelector(".signal"), `${number(one.rssi, 0)}\u00a0dBm`);
    setText(row.querySelector(".age"), ageText(age));
    row.querySelector(".gauge").style.transform = `scaleX(${gaugeOf(one.rssi)})`;
  });
  const note = byId("hearings-note");
  const rest = count - shown.length;
  note.hidden = shown.length > 0 && rest <= 0;
  setText(note, shown.length === 0 ? "None since the start of the server." : rest > 0 ? `${rest} more.` : "");
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
 * @param {string|null} selected
 * @param {(id: string) => void} choose
 */
export function showReceivers(receivers, unknownGateways, now, selected, choose) {
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
        make("button", { type: "button", class: "name", onclick: () => choose(one.id) }, one.id),
        make("span", { class: "health", "data-health": one.health ?? "" }, stateOf(one, knowsMessages)),
        ...(one.text ? [make("span", { class: "reason" }, one.text)] : []), make("span", { class: "last" }))));
  }
  [...unknown, ...sorted].forEach((one, index) => {
    list.children[index].querySelector("button")?.setAttribute("aria-pressed", String(one.id === selected));
    const last = list.children[index].querySelector(".last");
    if (one.lastMessage) setText(last, `Last message ${ageText(now - Date.parse(one.lastMessage))} ago`);
  });
}
