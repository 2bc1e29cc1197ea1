// @ts-check
import { address } from "./api.js";
import { byId, make, say, setText } from "./dom.js";
import { Checks } from "./edit-checks.js";
import { Coverage } from "./edit-coverage.js";
import { Fields } from "./edit-fields.js";
import { FloorPanel } from "./edit-floor.js";
import { boundsOf } from "./edit-geometry.js";
import { History } from "./edit-history.js";
import { ObjectList } from "./edit-list.js";
import { Problems } from "./edit-problems.js";
import { sceneVenue } from "./edit-scene.js";
import { loadDocument, loadOverview, storeDocument } from "./edit-store.js";
import { Tools } from "./edit-tools.js";
import { WalkPanel } from "./edit-walk.js";
import { Floors } from "./floors.js";
import { beaconName, counted, number } from "./format.js";
import { attachGestures } from "./gestures.js";
import { Images } from "./images.js";
import { readJSON, writeJSON } from "./json-source.js";
import { drawEditing } from "./layer-edit.js";
import { drawPlan } from "./layer-plan.js";
import { drawProposals, drawSimulatedWalk, drawWalk } from "./layer-simulation.js";
import { readPalette } from "./palette.js";
import { Plan } from "./plan.js";
import { showScale } from "./scale-bar.js";
import { Theme } from "./theme.js";
import { kinds } from "./venue-kinds.js";
import { isOnMap, objectAt, settled, shapeAt, titleOf } from "./venue-objects.js";
import { listOf } from "./venue-values.js";
import { dividedByFloors, walkKey, withWalk } from "./venue-walk.js";

/** The checkboxes that show kinds of objects which would cover the others. @type {Record<string, string>} */
const switches = { path: "paths", node: "paths", walkable: "walkable" };

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
    // Nothing of a new packet is on disk.
    if (!overview.isStored) this.history.stored = null;
    /** The document during a movement of the pointer. @type {any} */
    this.previewed = null;
    /** @type {Reference|null} */
    this.selected = null;
    /** The selected corner of the selected object. @type {number|null} */
    this.corner = null;
    /** The objects with errors. @type {Set<any>} */
    this.faulty = new Set();
    this.isSaving = false;
    /** The boxes of the labels on the plan, and of all that other labels must not cover. */
    this.boxes = { labels: /** @type {number[][]} */ ([]), taken: /** @type {number[][]} */ ([]) };
    this.images = new Images({
      // The image of a map before the document is saved, too.
      planAddress: (/** @type {number} */ _venue, /** @type {number} */ map) => {
        const path = this.document.maps.find((/** @type {any} */ one) => one?.id === map)?.image;
        return typeof path === "string" ? address("image", { path }) : null;
      },
      tileAddress: (
        /** @type {number} */ venue, /** @type {number} */ map, /** @type {number} */ level,
        /** @type {number} */ column, /** @type {number} */ row) => address("tile", { venue, map, level, column, row }),
    }, () => this.plan.invalidate("plan"));
    const canvases = /** @type {any} */ ({ plan: byId("canvas-plan"), edit: byId("canvas-edit") });
    this.plan = new Plan(byId("plan"), canvases, {
      plan: (pass) => { this.boxes = drawPlan(pass, this.images); },
      edit: (pass) => this.drawEdited(pass),
    });
    this.plan.controls = [byId("left-controls"), byId("right-controls"), byId("legend")];
    this.plan.afterDrawing = () => this.finishDrawing();
    this.tools = new Tools(this);
    this.fields = new Fields(this);
    this.problems = new Problems(this);
    this.problems.report(overview.problems, this.document);
    this.checks = new Checks(this);
    this.list = new ObjectList(this);
    this.floorPanel = new FloorPanel(this);
    this.coverage = new Coverage(this);
    this.walkPanel = new WalkPanel(this);
    const walk = this.walkPanel.recalled();
    if (walk) this.history.document = withWalk(this.history.document, walk);
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

  /** @param {import("./plan.js").Pass} pass */
  drawEdited(pass) {
    const { document, selected, corner, faulty } = this;
    const { tool, draft, pointer, isSnapped } = this.tools;
    if (this.walkPanel.result) drawSimulatedWalk(pass, this.walkPanel.result.content);
    drawProposals(pass, this.coverage.proposals.filter((one) => !this.coverage.isAdded(one)));
    drawEditing(pass, {
      document, selected, corner, draft, pointer, isSnapped, faulty, isShown: (kind) => this.isShown(kind),
      boxes: this.boxes.taken,
    });
    drawWalk(pass, { document, selected, draft, pointer, tool });
  }

  // The document

  get document() { return this.previewed ?? this.history.document; }

  get snapsToCorners() { return byId("snap").checked; }

  /**
   * Whether objects of a kind are drawn, and can be selected on the plan.
   * @param {string} kind
   */
  isShown(kind) { return kind in switches ? byId(switches[kind]).checked : true; }

  /**
   * Shows objects of a kind.
   * @param {string} kind
   */
  showKind(kind) {
    if (kind in switches) byId(switches[kind]).checked = true;
  }

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
   * @param {string} kind
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
    const interactions = listOf(this.document.interactions).length;
    this.change(this.tools.without(reference), `Delete: ${title}`);
    const lost = interactions - listOf(this.document.interactions).length;
    this.say(`${title}${lost === 0 ? "" : ` and ${counted(lost, "interaction")} with it`} deleted. Ctrl+Z undoes it.`);
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
    this.selected = settled(this.document, this.selected);
    const corners = this.selected ? shapeAt(this.document, this.selected).length : 0;
    if (this.corner !== null && this.corner >= corners) this.corner = null;
    this.checks?.schedule();
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
    scene.layers = new Set(["image", "edited", "walls", "rooms", "fences", "points", ...(byId("names").checked ? ["names"] : [])]);
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
      this.checks.note(answer.content.problems, document);
      this.history.store(document);
      this.showSurvey(answer.content.survey);
      this.say("Saved.");
    } else if (answer.status === 412) {
      this.askAboutConflict(answer.revision);
    } else {
      if (answer.status === 422) this.checks.note(answer.content.problems, document);
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
      // The walk isn't part of what is stored.
      const walk = this.history.document[walkKey];
      const read = readJSON(stored.text);
      const document = walk === undefined ? read : withWalk(read, dividedByFloors(walk, read).walk);
      this.overview = overview;
      this.stored = stored;
      this.images.clear();
      this.checks.note(overview.problems, document);
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
    if (reference) this.showKind(reference.kind);
    this.showPanels();
    this.list?.scroll();
  }

  /**
   * Shows an object with its map, and selects it.
   * @param {Reference} reference
   */
  reveal(reference) {
    const { maps } = this.plan.scene.venue;
    const map = maps.find((/** @type {any} */ one) => isOnMap(this.document, reference, one));
    if (map && !isOnMap(this.document, reference, this.plan.scene.map)) this.showMap(map);
    this.select(reference);
    const [left, top, right, bottom] = boundsOf(this.document, reference);
    this.plan.show(left, top, right, bottom);
  }

  /** @param {number} mapId */
  chooseMap(mapId) {
    const map = this.plan.scene.venue.maps.find((/** @type {any} */ one) => one.id === mapId);
    if (map) this.showMap(map);
  }

  /** @param {any} map */
  showMap(map) {
    if (this.plan.scene.map?.id !== map?.id) {
      // A walk leads to other floors.
      if (this.tools.draft?.kind === "walk") this.tools.finish();
      this.tools.draft = null;
    }
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
    this.floorPanel?.show();
    this.list?.show();
    this.coverage?.show();
    this.walkPanel?.show();
    this.plan.invalidate("edit");
  }

  toolChanged() {
    const { tool } = this.tools;
    window.document.querySelectorAll("[data-tool]").forEach((button) => {
      button.setAttribute("aria-pressed", String(/** @type {HTMLElement} */ (button).dataset.tool === tool));
    });
    // The button of the menu has the name of a tool without a button of its own.
    const own = window.document.querySelector(`#tools [data-tool="${tool}"]`);
    const chosen = own && own.getClientRects().length > 0 ? undefined : kinds.find((kind) => kind.id === tool);
    byId("more").setAttribute("aria-pressed", String(chosen !== undefined));
    byId("more-name").replaceChildren(...(chosen ? [chosen.title]
      : [make("span", { class: "wide" }, "More"), make("span", { class: "narrow" }, "Draw")]));
    byId("plan").classList.toggle("marking", tool !== "select");
    this.draftChanged();
  }

  draftChanged() {
    const { tool, draft } = this.tools;
    const hint = tool === "delete" ? "Click what you want to delete."
      : tool === "scale" ? "Click two points whose distance you know, as far apart as possible." : kinds.find((kind) => kind.id === tool)?.hint ?? "";
    setText(byId("hint"), hint);
    byId("hint").hidden = hint === "";
    byId("finish").hidden = draft === null || tool === "scale";
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
    say(text);
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
