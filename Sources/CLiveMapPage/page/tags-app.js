// @ts-check
import { address, request } from "./api.js";
import { ClusterPanel } from "./cluster-panel.js";
import { byId, setText, showConnection } from "./dom.js";
import { Floors } from "./floors.js";
import { attachGestures } from "./gestures.js";
import { Images } from "./images.js";
import { drawPlan } from "./layer-plan.js";
import { TagLayer } from "./layer-tags.js";
import { readPalette } from "./palette.js";
import { Plan } from "./plan.js";
import { showScale } from "./scale-bar.js";
import { drawGaps } from "./survey-map.js";
import { SurveyWalks, drawWalks } from "./survey-walks.js";
import { showAlerts } from "./alert-panel.js";
import { TagList, showHearings, showReceivers, showSelectedReceiver, showSelection } from "./tag-panels.js";
import { TagReplay } from "./tag-replay.js";
import { TagStore } from "./tag-store.js";
import { Theme } from "./theme.js";

/** The milliseconds between two renewals of the panels. */
const panelPause = 500;
/** The age of the oldest point of a trail in milliseconds. */
const trailSpan = 600000;
/** The milliseconds between two requests of who hears the selected tag, or of what the selected receiver hears. */
const hearingPause = 2000;

/** The page of all tags. */
export class TagsApp {
  /** @param {any} overview */
  constructor(overview) {
    this.overview = overview;
    this.venue = overview.venues[0] ?? null;
    this.following = true;
    this.panelsAt = -Infinity;
    this.isReady = false;
    /** The selected receiver; null without one. @type {string|null} */
    this.receiver = null;
    /** Who hears the selected tag, or what the selected receiver hears; null if unknown. @type {any} */
    this.hearings = null;
    /** @type {() => void} */
    this.becameReady = () => {};
    this.ready = new Promise((resolve) => { this.becameReady = () => resolve(undefined); });

    this.layer = new TagLayer();
    this.images = new Images({
      planAddress: (/** @type {number} */ venue, /** @type {number} */ map) => address("plan", { venue, map }),
      tileAddress: (
        /** @type {number} */ venue, /** @type {number} */ map, /** @type {number} */ level,
        /** @type {number} */ column, /** @type {number} */ row) => address("tile", { venue, map, level, column, row }),
    }, () => this.plan.invalidate("plan"));
    const canvases = /** @type {any} */ ({ plan: byId("canvas-plan"), tags: byId("canvas-tags") });
    this.plan = new Plan(byId("plan"), canvases, {
      plan: (pass) => { this.scene.labelBoxes = drawPlan(pass, this.images).taken; }, tags: (pass) => {
        if (this.survey) drawGaps(pass, this.survey.map);
        this.layer.draw(pass);
        if (this.survey) drawWalks(pass, this.survey.walks);
      },
    });
    this.plan.controls = [byId("left-controls"), byId("right-controls")];
    this.plan.afterDrawing = () => this.finish();
    this.store = new TagStore({
      changed: () => this.changed(), tag: (tag) => this.extendTrail(tag), removed: (key) => this.forget(key),
      connection: showConnection,
    });
    this.store.hasAlerts = overview.alerts === true;
    const scene = /** @type {any} */ (this.plan.scene);
    scene.venue = this.venue;
    scene.layers = new Set(["image", "walls", "rooms", "names", "fences"]);
    Object.assign(scene, { tags: this.store.tags, receivers: this.store.receivers, selected: null, trail: [] });
    this.scene = scene;
    this.clusters = new ClusterPanel({
      select: (key) => this.tappedTag(key), zoom: (tags) => this.zoomTo(tags),
    });
    this.floors = new Floors(byId("floors"), (mapId) => this.chooseMap(mapId));
    this.list = new TagList(this.store, (key) => this.select(key));
    this.list.changed = () => this.showPanels(true);
    byId("search").addEventListener("input", () => this.showPanels(true));
    byId("deselect").addEventListener("click", () => this.deselect());
    this.theme = new Theme(byId("theme"), () => this.themeChanged());
    this.themeChanged();
    const view = this.plan.view;
    attachGestures(byId("plan"), view, {
      moved: () => this.plan.invalidate(), tapped: (x, y) => this.tapped(x, y),
      grabbed: () => Boolean(this.survey?.marked),
      dragged: (x, y) => this.survey?.drag(this.scene.map.id, ...view.toMap(x, y)),
    });
    /** The replay of the history; null if the server stores none. @type {TagReplay|null} */
    this.replay = null;
    /** The survey with the selected tag; null if the server records none. @type {SurveyWalks|null} */
    this.survey = overview.survey ? new SurveyWalks(this.surveyPage()) : null;
    this.attachControls();
    if (!overview.history) return;
    const replay = new TagReplay(this);
    this.replay = replay;
    this.plan.beforeDrawing = (now) => (replay.isOn ? replay.prepare(now) : false);
  }

  /** Whether the page shows the past. */
  get isPast() { return this.replay?.isOn === true; }

  /** @returns {import("./survey-walks.js").SurveyPage} */
  surveyPage() {
    const app = this;
    return {
      plan: this.plan, layer: "tags", mapOf: (id) => this.mapOf(id), mapName: (id) => this.mapName(id),
      chooseMap: (id) => this.chooseMap(id),
      get rooms() { return app.venue?.rooms; },
      get tag() { return app.scene.selected; },
      get isShown() { return app.selectedTag !== null && !app.isPast; },
      get isPast() { return app.isPast; },
      // On a telephone, the controls of a walk are next to the plan.
      marking: (isMarked) => byId("selection").classList.toggle("surveying", isMarked),
    };
  }

  attachControls() {
    const view = this.plan.view;
    const zoom = (/** @type {number} */ factor) => {
      view.zoom(factor);
      this.plan.invalidate();
    };
    const fit = () => {
      view.fit();
      this.plan.invalidate();
    };
    byId("zoom-in").addEventListener("click", () => zoom(1.5));
    byId("zoom-out").addEventListener("click", () => zoom(1 / 1.5));
    byId("fit").addEventListener("click", fit);
    byId("plan").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const pans = /** @type {Record<string, number[]>} */ ({
        ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60],
      });
      const pan = pans[event.key];
      if (pan) {
        view.pan(pan[0], pan[1]);
        this.plan.invalidate();
      } else if (event.key === "+" || event.key === "=") zoom(1.5);
      else if (event.key === "-") zoom(1 / 1.5);
      else if (event.key === "0") fit();
      else if (event.key === "Escape" && this.isPast) this.replay?.panel.chooseTag("");
      else if (event.key === "Escape") this.deselect();
      else if (event.key === " " && this.isPast) this.replay?.clock.toggle();
      else return;
      event.preventDefault();
    });
  }

  start() {
    setText(byId("title"), this.overview.title);
    document.title = `${this.overview.title} – Tags`;
    const maps = this.venue?.maps ?? [];
    this.floors.setMaps(maps);
    byId("floors").hidden = maps.length === 0;
    this.showMap([...maps].sort((a, b) => Math.abs(a.level) - Math.abs(b.level))[0] ?? null);
    this.store.start();
    // Ages grow without a change.
    setInterval(() => this.showPanels(), 1000);
    setInterval(() => this.loadHearings(), hearingPause);
  }

  // Content

  changed() {
    if (this.isPast) return;
    this.scene.tags = this.store.tags;
    this.scene.receivers = this.store.receivers;
    this.followSelected();
    this.plan.invalidate("tags");
    this.showPanels(!this.isReady);
    if (this.isReady) return;
    this.isReady = true;
    // The dots are on the screen after the next drawing.
    requestAnimationFrame(() => requestAnimationFrame(() => this.becameReady()));
  }

  /** @param {string} key */
  forget(key) {
    if (this.scene.selected === key && !this.isPast) this.deselect();
  }

  /** @param {any} map */
  showMap(map) {
    this.clusters.close();
    this.scene.map = map;
    if (map) this.plan.view.setMap(map.width, map.height);
    this.survey?.load();
    const size = map ? ` of ${map.name}, ${Math.round(map.width)} by ${Math.round(map.height)} metres` : "";
    byId("plan").setAttribute("aria-label", `Floor plan${size}`);
    this.plan.invalidate();
  }

  /** @param {number} mapId */
  chooseMap(mapId) {
    this.following = false;
    const map = this.mapOf(mapId);
    if (map) this.showMap(map);
  }

  /** @param {number} id */
  mapOf(id) { return this.venue?.maps.find((/** @type {any} */ map) => map.id === id) ?? null; }

  /** @param {number} id */
  mapName(id) { return this.mapOf(id)?.name ?? `Map ${id}`; }

  // Selection

  /** @param {string} key */
  async select(key) {
    this.choose(key, null);
    this.list.showGroupOf(this.selectedTag);
    this.following = true;
    this.followSelected();
    this.plan.invalidate("tags");
    this.showPanels(true);
    if (this.selectedTag?.unlocated) return;
    try {
      const path = `tags/${encodeURIComponent(key)}/trail`;
      const { points } = await request(path);
      if (this.scene.selected !== key) return;
      const last = points.at(-1)?.time ?? "";
      this.scene.trail = [
        ...points, ...this.scene.trail.filter((/** @type {any} */ point) => point.time > last),
      ];
      this.plan.invalidate("tags");
    } catch {
      // Without a trail the tag is shown all the same.
    }
  }

  /** @param {string} id */
  selectReceiver(id) {
    this.choose(null, id);
    const receiver = this.store.receivers.get(id);
    const map = receiver ? this.mapOf(receiver.mapId) : null;
    if (map && map !== this.scene.map) this.showMap(map);
    this.plan.invalidate("tags");
    this.showPanels(true);
  }

  deselect() {
    this.choose(null, null);
    this.plan.invalidate("tags");
    this.showPanels(true);
  }

  /**
   * @param {string|null} tag
   * @param {string|null} receiver
   */
  choose(tag, receiver) {
    this.scene.selected = tag;
    this.scene.trail = [];
    this.receiver = receiver;
    this.hearings = null;
    this.loadHearings();
  }

  /** Requests who hears the selected tag, or what the selected receiver hears. */
  async loadHearings() {
    const [tag, receiver] = [this.scene.selected, this.receiver];
    if (!this.overview.hearings || this.isPast || document.hidden || (tag === null && receiver === null)) return;
    try {
      const path = tag !== null
        ? `tags/${encodeURIComponent(tag)}/receivers` : `receivers/${encodeURIComponent(receiver ?? "")}/tags`;
      const answer = await request(path);
      if (this.scene.selected !== tag || this.receiver !== receiver) return;
      this.hearings = answer;
    } catch {
      // The stream reports a server that is gone.
      this.hearings = null;
    }
    this.showPanels(true);
  }

  get selectedTag() {
    const key = this.scene.selected;
    if (key === null) return null;
    // A tag that a receiver has heard can have no state yet.
    const times = (this.hearings?.receivers ?? []).map((/** @type {any} */ one) => Date.parse(one.time));
    return this.store.tag(key) ?? {
      tag: key, shown: key, present: false, unlocated: true, at: times.length > 0 ? Math.max(...times) : NaN,
    };
  }

  /** Shows the floor of the selected tag, unless the user has chosen another one. */
  followSelected() {
    const position = this.following ? this.scene.tags.get(this.scene.selected)?.position : undefined;
    const map = position ? this.mapOf(position.mapId) : null;
    if (map && map !== this.scene.map) this.showMap(map);
  }

  /** @param {any} tag */
  extendTrail(tag) {
    const position = tag.position;
    if (this.isPast || tag.tag !== this.scene.selected || !position || !tag.present) return;
    const trail = this.scene.trail;
    if (trail.length > 0 && trail.at(-1).time >= position.time) return;
    const oldest = Date.parse(position.time) - trailSpan;
    this.scene.trail = [...trail.filter((/** @type {any} */ point) => Date.parse(point.time) >= oldest), position];
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  tapped(x, y) {
    if (this.survey?.marked) return this.survey.mark(this.scene.map.id, ...this.plan.view.toMap(x, y));
    const group = this.layer.groupAt(x, y);
    if (group && group.dots.length > 1) return this.clusters.open(group);
    this.clusters.close();
    if (group) this.tappedTag(group.dots[0].tag.tag);
    else if (!this.isPast) this.deselect();
  }

  /** @param {string} key */
  tappedTag(key) {
    if (this.isPast) this.replay?.panel.chooseTag(key);
    else this.select(key);
  }

  /**
   * Shows the places of tags as large as possible, but at least two metres.
   * @param {any[]} tags
   */
  zoomTo(tags) {
    const { view } = this.plan;
    const xs = tags.map((tag) => tag.position.x), ys = tags.map((tag) => tag.position.y);
    const [left, right] = [Math.min(...xs), Math.max(...xs)], [top, bottom] = [Math.min(...ys), Math.max(...ys)];
    const wanted = Math.min(view.width / Math.max(2, 1.4 * (right - left)), view.height / Math.max(2, 1.4 * (bottom - top)));
    view.zoom(wanted / view.scale);
    view.centre((left + right) / 2, (top + bottom) / 2);
    this.plan.invalidate();
  }

  // Panels

  showPanels(isUrgent = false) {
    const now = performance.now();
    if (!isUrgent && now - this.panelsAt < panelPause) return;
    this.panelsAt = now;
    const mapName = (/** @type {number} */ id) => this.mapName(id);
    this.list.show(this.scene.selected, mapName);
    if (this.receiver !== null) {
      const receiver = this.store.receivers.get(this.receiver) ?? { id: this.receiver };
      showSelectedReceiver(receiver, this.store.unknownGateways !== undefined, this.store.now, mapName);
    } else showSelection(this.selectedTag, this.store.now, mapName);
    this.showHearings();
    this.survey?.show();
    if (this.store.hasAlerts) showAlerts(this.store.alerts, this.store.now, (key) => this.select(key));
    showReceivers(
      this.store.receivers, this.store.unknownGateways, this.store.now, this.receiver,
      (id) => this.selectReceiver(id));
  }

  showHearings() {
    const { receivers, tags, count } = this.hearings ?? {};
    if (receivers) {
      const rows = receivers.map((/** @type {any} */ one) => ({
        ...one, key: one.id, name: one.known ? one.id : `${one.id} (not in the venue)`,
      }));
      showHearings("Heard by", rows, rows.length, this.store.now, (id) => this.selectReceiver(id));
    } else if (tags) {
      const rows = tags.map((/** @type {any} */ one) => ({ ...one, key: one.tag, name: one.name ?? one.tag }));
      showHearings("Hears", rows, count, this.store.now, (key) => this.select(key));
    } else showHearings("", null, 0, this.store.now, () => {});
  }

  themeChanged() {
    if (!this.theme) return;
    this.plan.palette = readPalette(document.documentElement);
    this.plan.imagePalette = readPalette(byId("light-colors"));
    this.plan.invalidate();
  }

  finish() {
    const map = this.scene.map;
    if (map) showScale(byId("scale-bar"), byId("scale-text"), this.plan.view.scale);
    byId("scale").hidden = !map;
    this.floors.show(map?.id ?? null, []);
    this.clusters.place(map ? this.layer.groups : []);
    if (this.isPast) this.replay?.finish();
  }
}
