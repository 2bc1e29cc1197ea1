// @ts-check
import { post, request } from "./api.js";
import { byId, make, say, setChildren, setText, showConnection } from "./dom.js";
import { counted, percent } from "./format.js";
import { TagList, ageText, showHearings } from "./tag-panels.js";
import { TagStore, roomOf } from "./tag-store.js";
import { Theme } from "./theme.js";

/** The milliseconds between two requests of the rooms and of who hears the selected tag. */
const statePause = 1000;
/** The number of rooms whose probability is listed. */
const mostChances = 6;

/** The page of tags in trained rooms, without a floor plan. */
export class RoomsApp {
  /** @param {any} overview */
  constructor(overview) {
    this.overview = overview;
    /** The key of the selected tag. @type {string|null} */
    this.selected = null;
    /** The rooms, trainings and gateways of the server. @type {any} */
    this.state = { rooms: [], trainings: [], gateways: [], neededSamples: 30 };
    /** @type {any} */
    this.hearings = null;
    this.theme = new Theme(byId("theme"), () => {});
    this.store = new TagStore({
      changed: () => this.show(), tag: () => {}, removed: (key) => { if (this.selected === key) this.select(null); },
      connection: showConnection,
    });
    this.store.hasRooms = true;
    this.list = new TagList(this.store, (key) => this.select(key));
    this.list.changed = () => this.show();
    byId("search").addEventListener("input", () => this.show());
    byId("deselect").addEventListener("click", () => this.select(null));
    byId("training").addEventListener("submit", (/** @type {Event} */ event) => {
      event.preventDefault();
      this.change("rooms/training", { action: "start", tag: this.selected, room: byId("training-room").value });
    });
    byId("finish").addEventListener("click", () => this.end("finish"));
    byId("cancel").addEventListener("click", () => this.end("cancel"));
    byId("correction").addEventListener("submit", (/** @type {Event} */ event) => {
      event.preventDefault();
      this.change("rooms/correction", { tag: this.selected, room: byId("correction-room").value });
    });
  }

  start() {
    setText(byId("title"), this.overview.title);
    document.title = this.overview.title;
    this.store.start();
    this.load();
    setInterval(() => this.load(), statePause);
  }

  // The server

  async load() {
    if (document.hidden) return;
    const tag = this.selected;
    try {
      const state = await request("rooms");
      const hearings = tag === null ? null : await request(`tags/${encodeURIComponent(tag)}/receivers`).catch(() => null);
      this.state = state;
      if (this.selected === tag) this.hearings = hearings?.receivers ?? null;
      this.show();
    } catch {
      // The stream reports a server that is gone.
    }
  }

  /**
   * Sends a change, and shows the state of the server after it or the reason of a refusal.
   * @param {string} path
   * @param {any} body
   */
  async change(path, body) {
    const answer = await post(path, body);
    if (answer.problem !== null) return say(answer.problem);
    this.state = answer.content;
    say("");
    this.show();
  }

  /** @param {string} action */
  async end(action) {
    await this.change("rooms/training", { action, tag: this.selected });
    byId("training-room").value = "";
  }

  // Content

  /** @param {string|null} key */
  select(key) {
    this.selected = key;
    this.hearings = null;
    this.list.showGroupOf(this.store.tag(key));
    this.show();
    if (key === null) return;
    this.load();
    if (matchMedia("(max-width: 899px)").matches) byId("selection").scrollIntoView({ block: "start" });
  }

  show() {
    this.showRooms();
    this.showSelected();
    this.list.show(this.selected, () => "");
    const { gateways } = this.state;
    byId("no-gateway").hidden = gateways.length > 0;
    keep(byId("gateway-list"), gateways, (one) => one.name, () => make("li", {},
      make("span", { class: "name" }), make("span", { class: "last" })), (row, one) => {
      setText(row.children[0], one.name);
      setText(row.children[1], `${one.trained ? "" : "Not trained, "}${ageText(this.store.now - Date.parse(one.lastMessage))} ago`);
    });
  }

  showRooms() {
    /** @type {Map<string, any[]>} */
    const tags = new Map(this.state.rooms.map((/** @type {any} */ room) => [room.name, []]));
    const nowhere = [];
    for (const tag of this.store.matching("")) {
      if (!tag.present) continue;
      (tags.get(roomOf(tag)) ?? nowhere).push(tag);
    }
    const { rooms, neededSamples } = this.state;
    byId("empty").hidden = rooms.length > 0;
    const cards = [...rooms, ...(nowhere.length > 0 ? [{ name: null }] : [])];
    keep(byId("room-list"), cards, (room) => JSON.stringify(room.name), (room) => {
      const remove = room.name === null ? [] : [make("button", {
        type: "button", class: "remove", "aria-label": `Remove ${room.name}`, onclick: () => this.remove(room.name),
      }, "Remove")];
      return make("li", { class: room.name === null ? "none" : null, "data-room": room.name ?? "" },
        make("div", { class: "heading" }, make("h2", {}), ...remove), make("p", { class: "note" }), make("ul", {}));
    }, (card, room) => {
      const [heading, note, list] = card.children;
      const inside = room.name === null ? nowhere : tags.get(room.name) ?? [];
      setText(heading.firstElementChild, room.name ?? (rooms.length === 0 ? "Tags" : "In none of the rooms"));
      note.classList.toggle("weak", room.sufficient === false);
      setText(note, room.name === null ? "" : room.sufficient === false
        ? `Train longer: ${room.samples} of ${neededSamples} samples`
        : inside.length === 0 ? "No tag" : counted(inside.length, "tag"));
      keep(list, inside, (tag) => tag.tag, (tag) => make("li", {}, make(
        "button", { type: "button", class: "tag", "data-key": tag.tag, onclick: () => this.select(tag.tag) },
        make("span", { class: "name" }), make("span", { class: "chance" }))), (row, tag) => {
        const button = row.firstElementChild;
        button.setAttribute("aria-pressed", String(tag.tag === this.selected));
        setText(button.children[0], tag.shown);
        setText(button.children[1], chanceText(tag));
      });
    });
  }

  /** @param {string} name */
  remove(name) {
    if (confirm(`Remove the room "${name}" and its training?`)) {
      this.change("rooms/removal", { room: name });
    }
  }

  showSelected() {
    const tag = this.store.tag(this.selected);
    byId("selection").hidden = tag === null;
    if (tag === null) return;
    setText(byId("selection-name"), tag.shown);
    setText(byId("tag-place"), this.list.placeOf(tag, () => ""));
    const room = tag.present ? tag.room : undefined;
    const chances = room === undefined ? [] : [
      ...room.rooms.slice(0, mostChances), { name: "None of the rooms", probability: room.none },
    ];
    keep(byId("chances"), chances, (one) => one.name, () => make("li", {}, make("span", { class: "name" }),
      make("span", { class: "chance" }), make("span", { class: "gauge", "aria-hidden": "true" })), (row, one) => {
      setText(row.children[0], one.name);
      setText(row.children[1], percent(one.probability));
      row.children[2].style.transform = `scaleX(${one.probability})`;
    });
    const names = this.state.rooms.map((/** @type {any} */ one) => one.name);
    for (const id of ["room-names", "correction-room"]) {
      keep(byId(id), names, (name) => name, (name) => make("option", { value: name }, name), () => {});
    }
    byId("correction").hidden = names.length === 0 || !tag.present;
    const training = this.state.trainings.find((/** @type {any} */ one) => one.tag === tag.tag);
    byId("running").hidden = training === undefined;
    byId("start").parentElement.hidden = training !== undefined;
    byId("training-note").hidden = training !== undefined;
    if (training !== undefined) {
      const { neededSamples } = this.state;
      byId("training-progress").max = neededSamples * 2;
      byId("training-progress").value = Math.min(training.samples, neededSamples * 2);
      setText(byId("training-state"), `${training.room}: ${counted(training.samples, "sample")}, `
        + `${counted(training.gateways, "gateway")}. `
        + (training.samples < neededSamples ? "Go on." : training.samples < 2 * neededSamples ? "Enough; a minute is better."
          : "Enough: press Finish."));
    }
    showHearings("Heard by", this.hearings?.map((/** @type {any} */ one) => ({ ...one, key: one.id, name: one.id })) ?? null,
      this.hearings?.length ?? 0, this.store.now, () => {});
  }
}

/** @param {any} tag */
function chanceText(tag) {
  const name = roomOf(tag);
  const chance = tag.room?.rooms.find((/** @type {any} */ one) => one.name === name)?.probability;
  return name === "" ? tag.room ? percent(tag.room.none) : "" : chance === undefined ? "" : percent(chance);
}

/**
 * Fills a list, and keeps the elements of the rows that stay, so that a focused one keeps the focus.
 * @param {any} list
 * @param {any[]} rows
 * @param {(row: any) => string} key
 * @param {(row: any) => any} create
 * @param {(element: any, row: any) => void} update
 */
function keep(list, rows, key, create, update) {
  const old = new Map([...list.children].map((one) => [one.dataset.row, one]));
  setChildren(list, rows.map((row) => {
    const name = key(row);
    const element = old.get(name) ?? create(row);
    element.dataset.row = name;
    update(element, row);
    return element;
  }));
}
