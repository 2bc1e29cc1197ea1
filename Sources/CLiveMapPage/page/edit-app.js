// @ts-check
import { address } from "./api.js";
import { byId, make, setText } from "./dom.js";
import { Fields } from "./edit-fields.js";
import { History } from "./edit-history.js";
import { Problems } from "./edit-problems.js";
import { sceneVenue } from "./edit-scene.js";
import { loadDocument, loadOverview, storeDocument } from "./edit-store.js";
import { Tools } from "./edit-tools.js";
import { Floors } from "./floors.js";
import { beaconName, number } from "./format.js";
import { attachGestures } from "./gestures.js";
import { Images } from "./images.js";
import { readJSON, writeJSON } from "./json-source.js";
import { drawEditing } from "./layer-edit.js";
import { drawPlan } from "./layer-plan.js";
import { readPalette } from "./palette.js";
import { Plan } from "./plan.js";
import { showScale } from "./scale-bar.js";
import { Theme } from "./theme.js";
import { isOnMap, objectAt, objectsOn, titleOf } from "./venue-objects.js";

/** The number of objects that the list shows. */
const mostListed = 300;

/** @typedef {import("./venue-objects.js").Reference} Reference */

/** The page that edits a venue. */
export class EditApp {
  /**
   * @param {any} overview
   * @param {{text: string, revision: string}} stored
   */
  constructor(overview, stored) {
    this.overview = overview;
    this.stored = stored;
    this.history = new History(readJSON(stored.text), () => this.documentChanged());
    /** The document during a movement of the pointer. @type {any} */
    this.previewed = null;
    /** @type {Reference|null} */
    this.selected = null;
    /** The selected corner of the selected object. @type {number|null} */
    this.corner = null;
    /** The objects with errors. @type {Set<any>} */
    this.faulty = new Set();
    this.isSaving = false;
    this.images = new Images({
      planAddress: (/** @type {number} */ venue, /** @type {number} */ map) => address("plan", { venue, map }),
      tileAddress: (
        /** @type {number} */ venue, /** @type {number} */ map, /** @type {number} */ level,
        /** @type {number} */ column, /** @type {number} */ row) => address("tile", { venue, map, level, column, row }),
    }, () => this.plan.invalidate("plan"));
    const canvases = /** @type {any} */ ({ plan: byId("canvas-plan"), edit: byId("canvas-edit") });
    this.plan = new Plan(byId("plan"), canvases, {
      plan: (pass) => drawPlan(pass, this.images),
      edit: (pass) => drawEditing(pass, {
        document: this.document, selected: this.selected, corner: this.corner, draft: this.tools.draft,
        pointer: this.tools.pointer, isSnapped: this.tools.isSnapped, faulty: this.faulty,
      }),
    });
    this.plan.controls = [byId("left-controls"), byId("right-controls")];
    this.plan.afterDrawing = () => this.finishDrawing();
    this.tools = new Tools(this);
    this.fields = new Fields(this);
    this.problems = new Problems(this);
    this.problems.report(overview.problems, this.document);
    this.floors = new Floors(byId("floors"), (mapId) => this.chooseMap(mapId));
    this.theme = new Theme(byId("theme"), () => this.themeChanged());
    attachGestures(byId("plan"), this.plan.view, {
      moved: () => this.plan.invalidate(),
      tapped: (x, y, event) => this.tools.tapped(x, y, event),
      grabbed: (x, y) => this.tools.grabbed(x, y),
      dragged: (x, y, event) => this.tools.dragged(x, y, event),
      dropped: (isCancelled) => this.tools.dropped(isCancelled),
    });
    this.themeChanged();
    setText(byId("title"), overview.title);
    window.document.title = `${overview.title} – Venue editor`;
    // An image of a plan usually has the names.
    byId("names").checked = !overview.maps.some((/** @type {any} */ map) => map.hasImage || map.tiles);
    this.documentChanged();
    this.showMap([...this.plan.scene.venue.maps].sort((a, b) => Math.abs(a.level) - Math.abs(b.level))[0] ?? null);
    this.toolChanged();
  }

  // The document

  get document() { return this.previewed ?? this.history.document; }

  get snapsToCorners() { return byId("snap").checked; }

  /**
   * @param {any} document
   * @param {string} name
   * @param {string} [key]
   */
  change(document, name, key) { this.history.change(document, name, key); }

  /**
   * Shows a document without a change of the history; null ends that.
   * @param {any} document
   */
  preview(document) {
    this.previewed = document;
    this.sceneChanged();
    this.fields.show();
  }

  /** @param {string} name */
  commitPreview(name) {
    const document = this.previewed;
    this.previewed = null;
    if (document) this.change(document, name);
  }

  /**
   * Adds an object to the shown map, and selects it.
   * @param {"beacon"|"room"|"wall"} kind
   * @param {number[][]} corners
   */
  add(kind, corners) {
    const { document, reference } = this.tools.with(kind, corners);
    this.selected = reference;
    this.corner = null;
    this.change(document, `Add: ${titleOf(document, reference)}`);
    this.say(`${titleOf(document, reference)} added.`);
  }

  /** @param {Reference} reference */
  remove(reference) {
    const title = titleOf(this.document, reference);
    this.selected = null;
    this.corner = null;
    this.change(this.tools.without(reference), `Delete: ${title}`);
    this.say(`${title} deleted. Ctrl+Z undoes it.`);
  }

  undo() {
    if (this.tools.takeBack()) return;
    const name = this.history.undo();
    this.say(name ? `Undone: ${name}` : "There is nothing to undo.");
  }

  redo() {
    const name = this.history.redo();
    this.say(name ? `Done again: ${name}` : "There is nothing to do again.");
  }

  documentChanged() {
    const one = objectAt(this.document, this.selected);
    if (!one) this.selected = null;
    if (!one || this.corner !== null && this.corner >= (one.polygon ?? one).length) this.corner = null;
    this.sceneChanged();
    this.showPanels();
    byId("undo").disabled = this.history.past.length === 0;
    byId("redo").disabled = this.history.future.length === 0;
    byId("save").disabled = !this.history.isChanged;
    const badge = byId("saved");
    badge.dataset.state = this.history.isChanged ? "changed" : "saved";
    setText(badge, this.history.isChanged ? "Not saved" : "Saved");
  }

  sceneChanged() {
    const { scene } = this.plan;
    const mapId = scene.map?.id;
    scene.layers = new Set(["image", "walls", "rooms", "fences", "points", ...(byId("names").checked ? ["names"] : [])]);
    scene.venue = sceneVenue(this.document, this.overview);
    const names = (/** @type {any[]} */ maps) => JSON.stringify(maps.map((map) => [map.id, map.name, map.level]));
    if (names(scene.venue.maps) !== names(this.floors.maps ?? [])) this.floors.setMaps(scene.venue.maps);
    scene.map = scene.venue.maps.find((/** @type {any} */ map) => map.id === mapId) ?? scene.venue.maps[0] ?? null;
    this.plan.invalidate();
  }

  // Saving

  /** Saves the document; does nothing while it is being saved. */
  async save() {
    if (this.isSaving || !this.history.isChanged) return;
    await this.saveOver(this.stored.revision);
  }

  /** @param {string} revision the revision that may be replaced */
  async saveOver(revision) {
    this.isSaving = true;
    const { document } = this.history;
    const text = writeJSON(document, this.stored.text);
    const answer = await storeDocument(text, revision);
    this.isSaving = false;
    if (answer.status === 200) {
      this.stored = { text: this.stored.text, revision: answer.revision };
      this.problems.report(answer.content.problems, document);
      this.history.store(document);
      this.showSurvey(answer.content.survey);
      this.say("Saved.");
    } else if (answer.status === 412) {
      this.askAboutConflict(answer.revision);
    } else {
      if (answer.status === 422) this.problems.report(answer.content.problems, document);
      this.showPanels();
      this.say(answer.content.error ?? `The server answered ${answer.status}. Nothing was saved.`);
    }
  }

  /** @param {string} revision the revision of the stored document */
  askAboutConflict(revision) {
    byId("reload").onclick = () => this.reload();
    byId("overwrite").onclick = () => {
      byId("conflict").close();
      this.saveOver(revision);
    };
    byId("conflict").showModal();
  }

  /** Replaces the document by the stored one. */
  async reload() {
    try {
      const [overview, stored] = [await loadOverview(), await loadDocument()];
      const document = readJSON(stored.text);
      this.overview = overview;
      this.stored = stored;
      this.images.clear();
      this.problems.report(overview.problems, document);
      this.selected = null;
      this.history.begin(document);
      this.documentChanged();
      this.showSurvey(null);
      byId("conflict").close();
      this.say("The stored venue is shown.");
    } catch (error) {
      byId("conflict").close();
      this.say(String(/** @type {any} */ (error).message));
    }
  }

  /** @param {{moved: string[], removed: string[]}|null|undefined} survey */
  showSurvey(survey) {
    const panel = byId("survey");
    if (survey === null) panel.hidden = true;
    if (!survey) return;
    const list = (/** @type {string[]} */ names) => (
      names.slice(0, 10).map(beaconName).join(", ") + (names.length > 10 ? ", …" : ""));
    const parts = [
      ...(survey.moved.length > 0 ? [`moved: ${list(survey.moved)}`] : []),
      ...(survey.removed.length > 0 ? [`removed: ${list(survey.removed)}`] : []),
    ];
    panel.hidden = false;
    setText(byId("survey-text"), `The radio map no longer agrees with the beacons (${parts.join("; ")}). `
      + "Survey the venue again, or undo this if the beacons were not moved.");
  }

  // Selection and maps

  get isSelectedShown() { return isOnMap(this.document, this.selected, this.plan.scene.map); }

  /**
   * @param {Reference|null} reference
   * @param {number|null} corner
   */
  select(reference, corner = null) {
    this.selected = reference;
    this.corner = corner;
    this.showPanels();
    this.plan.invalidate("edit");
  }

  /**
   * Shows an object with its map.
   * @param {Reference} reference
   */
  reveal(reference) {
    const { maps } = this.plan.scene.venue;
    const map = maps.find((/** @type {any} */ one) => isOnMap(this.document, reference, one));
    if (map) this.showMap(map);
    this.select(reference);
  }

  /** @param {number} mapId */
  chooseMap(mapId) {
    const map = this.plan.scene.venue.maps.find((/** @type {any} */ one) => one.id === mapId);
    if (map) this.showMap(map);
  }

  /** @param {any} map */
  showMap(map) {
    if (this.plan.scene.map?.id !== map?.id) this.tools.draft = null;
    this.plan.scene.map = map;
    if (map) this.plan.view.setMap(map.width, map.height);
    const size = map ? ` of ${map.name}, ${number(map.width)} by ${number(map.height)} metres` : "";
    byId("plan").setAttribute("aria-label", `Floor plan${size}`);
    this.showPanels();
    this.plan.invalidate();
  }

  // Panels

  showPanels() {
    this.problems?.show();
    this.fields?.show();
    this.listObjects();
    this.plan.invalidate("edit");
  }

  listObjects() {
    const { map } = this.plan.scene;
    const all = map ? objectsOn(this.document, map.id) : [];
    const counts = ["beacon", "room", "wall"].map((kind) => {
      const count = all.filter((one) => one.kind === kind).length;
      return `${count} ${kind}${count === 1 ? "" : "s"}`;
    });
    setText(byId("object-count"), `${counts.join(", ")}${all.length > mostListed ? `; the first ${mostListed}:` : ""}`);
    const isChosen = (/** @type {Reference} */ one) => this.selected?.kind === one.kind
      && this.selected.index === one.index && this.selected.map === one.map;
    const items = all.slice(0, mostListed).map((one) => make("li", {}, make("button", {
      type: "button", "data-object": `${one.kind}-${one.index}`, "aria-pressed": String(isChosen(one)),
      onclick: () => this.select(one),
    }, make("span", { class: "kind" }, one.kind), titleOf(this.document, one))));
    const focused = /** @type {any} */ (window.document.activeElement)?.dataset?.object;
    byId("object-list").replaceChildren(...items);
    if (focused) byId("object-list").querySelector(`[data-object="${focused}"]`)?.focus();
  }

  toolChanged() {
    const { tool } = this.tools;
    window.document.querySelectorAll("[data-tool]").forEach((button) => {
      button.setAttribute("aria-pressed", String(/** @type {HTMLElement} */ (button).dataset.tool === tool));
    });
    byId("plan").classList.toggle("marking", tool !== "select");
    this.draftChanged();
  }

  draftChanged() {
    const { tool, draft } = this.tools;
    const hints = {
      select: "", beacon: "Click where the beacon is.", delete: "Click what you want to delete.",
      room: "Click each corner. Enter, a double click or the first corner ends the room.",
      wall: "Click each corner. Enter or a double click ends the wall.",
    };
    setText(byId("hint"), hints[tool]);
    byId("hint").hidden = hints[tool] === "";
    byId("finish").hidden = draft === null;
    this.plan.invalidate("edit");
  }

  pointerMoved() {
    const place = this.tools.pointer;
    byId("place").hidden = place === null;
    if (place) setText(byId("place"), `${number(place[0], 2)}\u00a0m, ${number(place[1], 2)}\u00a0m`);
    this.plan.invalidate("edit");
  }

  /** @param {string} text */
  say(text) {
    const notice = byId("notice");
    clearTimeout(this.noticeTimer);
    notice.hidden = text === "";
    setText(notice, text);
    this.noticeTimer = setTimeout(() => { notice.hidden = true; }, 6000);
  }

  themeChanged() {
    if (!this.theme) return;
    this.plan.palette = readPalette(window.document.documentElement);
    this.plan.imagePalette = readPalette(byId("light-colors"));
    this.plan.invalidate();
  }

  finishDrawing() {
    const { map } = this.plan.scene;
    byId("scale").hidden = !map;
    if (map) showScale(byId("scale-bar"), byId("scale-text"), this.plan.view.scale);
    this.floors?.show(map?.id ?? null, []);
    const place = this.tools?.pointer;
    if (!place) return;
    const [x, y] = this.plan.view.toScreen(place[0], place[1]);
    const { width, height } = this.plan.view;
    byId("place").style.left = `${Math.min(width - 130, Math.max(4, x + 14))}px`;
    byId("place").style.top = `${Math.min(height - 30, Math.max(4, y + 14))}px`;
  }
}
