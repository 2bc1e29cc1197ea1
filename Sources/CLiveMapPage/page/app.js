// @ts-check
import { BeaconHistory } from "./beacon-history.js";
import { BeaconTable } from "./beacon-table.js";
import { Clock } from "./clock.js";
import { showPlayer } from "./controls.js";
import { byId, setText, showConnection } from "./dom.js";
import { ErrorChart } from "./error-chart.js";
import { EventList } from "./event-list.js";
import { DiagnosisCard, Facts } from "./facts.js";
import { clockTime } from "./format.js";
import { Floors } from "./floors.js";
import { attachGestures } from "./gestures.js";
import { Images } from "./images.js";
import { Interpolation } from "./interpolation.js";
import { ParticleLayer } from "./layer-particles.js";
import { drawPlan } from "./layer-plan.js";
import { drawSession } from "./layer-session.js";
import { fillLayers } from "./layers-menu.js";
import { readPalette } from "./palette.js";
import { Plan, isOfShownVenue } from "./plan.js";
import { RadioPanel } from "./radio-panel.js";
import { showScale } from "./scale-bar.js";
import { drawGaps } from "./survey-map.js";
import { SurveyWalks, drawWalks } from "./survey-walks.js";
import { Theme } from "./theme.js";
import { Timeline } from "./timeline.js";

/** The seconds of the trail. */
const trailSeconds = 120;
/** The shortest time between two changes of the tables while the session moves, in milliseconds. */
const tablePause = 200;

/** The page: it connects a source with the plan, the panels and the controls. */
export class App {
  /** @param {any} source */
  constructor(source) {
    this.source = source;
    this.mode = source.overview.mode;
    this.isSession = this.mode !== "radioMap";
    this.following = true;
    /** Whether the plan moves with the estimate; the user's own move of the plan ends it. */
    this.centring = true;
    /** @type {any} */
    this.venue = null;
    this.connection = "";
    /** @type {any} */
    this.frame = null;
    this.tablesAt = 0;
    this.frameVersion = -1;
    this.isReady = false;
    /** @type {() => void} */
    this.becameReady = () => {};
    this.ready = new Promise((resolve) => { this.becameReady = () => resolve(undefined); });

    this.clock = new Clock(this.mode === "live", () => this.clockChanged());
    this.particles = new ParticleLayer();
    this.images = new Images(source, () => this.plan.invalidate("plan"));
    this.plan = new Plan(byId("plan"), {
      plan: byId("canvas-plan"), particles: byId("canvas-particles"), session: byId("canvas-session"),
    }, {
      plan: (pass) => drawPlan(pass, this.images), particles: (pass) => this.particles.draw(pass),
      session: (pass) => {
        if (this.survey) drawGaps(pass, this.survey.map);
        drawSession(pass);
        if (this.survey) drawWalks(pass, this.survey.walks);
      },
    });
    this.plan.controls = [byId("left-controls"), byId("right-controls"), byId("legend")];
    this.plan.beforeDrawing = (now) => this.prepare(now);
    this.plan.afterDrawing = () => this.finish();
    this.interpolation = new Interpolation(() => this.plan.schedule());
    this.facts = new Facts();
    this.diagnosis = new DiagnosisCard();
    this.beaconTable = new BeaconTable(byId("beacons"));
    this.errorChart = new ErrorChart();
    this.floors = new Floors(byId("floors"), (mapId) => this.chooseMap(mapId));
    this.timeline = new Timeline(byId("timeline"), byId("canvas-timeline"), (t) => this.clock.seek(t));
    this.eventList = new EventList(byId("events"), byId("event-list"), (t) => this.clock.seek(t));
    const maps = source.overview.venues.flatMap((/** @type {any} */ venue) => venue.maps);
    const hasImages = maps.some((/** @type {any} */ map) => map.hasImage || map.tiles);
    this.plan.scene.layers = fillLayers(
      byId("layer-list"), this.isSession ? "session" : "radioMap", hasImages, () => this.plan.invalidate());
    this.theme = new Theme(byId("theme"), () => this.themeChanged());
    this.themeChanged();
    /** The survey with the device of the server; null if the server records none. @type {SurveyWalks|null} */
    this.survey = null;
    /** The levels of the beacons over weeks; null if the server keeps none. @type {BeaconHistory|null} */
    this.history = null;
    const { view } = this.plan;
    attachGestures(byId("plan"), view, {
      moved: () => this.viewMoved(), tapped: (x, y) => this.tapped(x, y),
      grabbed: () => Boolean(this.survey?.marked),
      dragged: (x, y) => this.survey?.drag(this.plan.scene.map.id, ...view.toMap(x, y)),
    });
    /** Called with the place of a tap on the plan; set by the marks. */
    this.onTap = (/** @type {{mapId: number, x: number, y: number}} */ _place) => {};
  }

  /** Shows the content and follows its changes. */
  start() {
    if (this.source.overview.survey) this.survey = new SurveyWalks(this.surveyPage());
    if (this.source.overview.beaconHistory) this.history = new BeaconHistory(byId("beacon-history"));
    this.applyOverview(this.source.overview);
    byId("player").hidden = !this.isSession;
    byId("beacons").hidden = !this.isSession;
    byId("follow").hidden = !this.isSession;
    if (!this.isSession && this.source.radioMap) this.startRadioMap();
    this.source.start({
      overview: (/** @type {any} */ overview) => this.applyOverview(overview),
      frames: () => this.framesChanged(),
      events: () => this.plan.schedule(),
      connection: (/** @type {string|null} */ state, /** @type {string} */ text) => this.showConnection(state, text),
    });
    this.framesChanged();
    this.clockChanged();
  }

  /** @returns {import("./survey-walks.js").SurveyPage} */
  surveyPage() {
    const app = this;
    const maps = () => this.venue?.maps ?? [];
    const mapOf = (/** @type {number} */ id) => maps().find((/** @type {any} */ map) => map.id === id) ?? null;
    return {
      // A mark is of the present, also while the page shows an earlier instant.
      plan: this.plan, layer: "session", tag: undefined, isShown: true, isPast: false,
      mapOf, mapName: (id) => mapOf(id)?.name ?? `Map ${id}`, chooseMap: (id) => this.chooseMap(id),
      get rooms() { return app.venue?.rooms; },
      // The plan must not change below the finger.
      marking: (isMarked) => { if (isMarked) this.setFollowing(false); },
    };
  }

  startRadioMap() {
    const radioMap = this.source.radioMap;
    this.plan.scene.radioMap = radioMap;
    this.radioPanel = new RadioPanel(radioMap, this.plan.scene, () => this.showRadioMap());
    let readings = 0;
    for (const point of radioMap.survey) readings += point.readings;
    const gaps = radioMap.surveyGaps ?? [];
    let area = 0;
    for (const gap of gaps) area += gap.area;
    const suspicious = radioMap.beacons.filter((/** @type {any} */ beacon) => beacon.findings?.length > 0).length;
    this.facts.showOther("Radio map", [
      ["Beacons", String(radioMap.beacons.length)], ["Survey points", String(radioMap.survey.length)],
      ["Readings", String(readings)],
      ...(radioMap.surveyGaps
        ? [["Survey gaps", gaps.length === 0 ? "none" : `${gaps.length} (${Math.round(area)}\u00a0m²)`]] : []),
      ...(radioMap.advice ? [["Suspicious beacons", suspicious === 0 ? "none" : String(suspicious)]] : []),
    ]);
  }

  /** Shows a map that has the chosen beacon of the radio map. */
  showRadioMap() {
    const grids = this.source.radioMap.beacons[this.plan.scene.beacon]?.grids ?? [];
    const shown = this.plan.scene.map?.id;
    if (grids.length > 0 && !grids.some((/** @type {any} */ grid) => grid.mapId === shown)) {
      const has = (/** @type {any} */ venue) => venue.maps.some((/** @type {any} */ map) => map.id === grids[0].mapId);
      const venue = this.source.overview.venues.find(has);
      if (venue) this.showVenue(venue, grids[0].mapId);
    }
    this.plan.invalidate();
  }

  /** @param {any} overview */
  applyOverview(overview) {
    setText(byId("title"), overview.title);
    document.title = `${overview.title} – Live map`;
    byId("mark").hidden = !overview.acceptsMarks;
    const venues = overview.venues;
    for (const venue of venues) {
      venue.places = new Map(venue.beacons.map((/** @type {any} */ beacon) => [beacon.id, beacon]));
    }
    byId("venue-choice").hidden = venues.length < 2;
    byId("venue").replaceChildren(...venues.map((/** @type {any} */ venue) => new Option(venue.name, venue.id)));
    if (!this.clock.isLive) this.clock.setBounds(overview.start ?? 0, overview.end ?? 0);
    /** The maps of all venues by `venue/map`. @type {Map<string, any>} */
    this.maps = new Map(venues.flatMap((/** @type {any} */ venue) => {
      return venue.maps.map((/** @type {any} */ map) => [`${venue.id}/${map.id}`, map]);
    }));
    this.plan.scene.hasOneVenue = venues.length === 1;
    // The packet of a venue may have changed, and its images with it.
    this.images.clear();
    const kept = venues.find((/** @type {any} */ venue) => venue.id === this.venue?.id) ?? venues[0] ?? null;
    this.showVenue(kept, this.plan.scene.map?.id);
  }

  /**
   * @param {any} venue
   * @param {number} [mapId]
   */
  showVenue(venue, mapId) {
    this.venue = venue;
    this.plan.scene.venue = venue;
    this.history?.show(venue);
    this.floors.setMaps(venue?.maps ?? []);
    byId("floors").hidden = (venue?.maps.length ?? 0) === 0;
    if (venue) byId("venue").value = String(venue.id);
    const maps = venue?.maps ?? [];
    const ground = [...maps].sort((a, b) => Math.abs(a.level) - Math.abs(b.level))[0] ?? null;
    this.showMap(maps.find((/** @type {any} */ map) => map.id === mapId) ?? ground);
  }

  /** @param {any} map */
  showMap(map) {
    this.plan.scene.map = map;
    if (map) this.plan.view.setMap(map.width, map.height);
    this.survey?.load();
    const size = map ? ` of ${map.name}, ${Math.round(map.width)} by ${Math.round(map.height)} metres` : "";
    byId("plan").setAttribute("aria-label", `Floor plan${size}`);
    this.plan.invalidate();
  }

  /** @param {number} mapId */
  chooseMap(mapId) {
    this.setFollowing(false);
    const map = this.venue?.maps.find((/** @type {any} */ one) => one.id === mapId);
    if (map) this.showMap(map);
  }

  /** @param {number} venueId */
  chooseVenue(venueId) {
    this.setFollowing(false);
    this.showVenue(this.source.overview.venues.find((/** @type {any} */ venue) => venue.id === venueId) ?? this.venue);
  }

  /** @param {boolean} following */
  setFollowing(following) {
    this.following = following;
    this.centring = following;
    byId("follow").setAttribute("aria-pressed", String(following));
    this.plan.schedule();
  }

  fit() {
    this.plan.view.fit();
    this.plan.invalidate();
  }

  viewMoved() {
    this.centring = false;
    this.plan.invalidate();
  }

  /**
   * @param {number} px
   * @param {number} py
   */
  tapped(px, py) {
    const map = this.plan.scene.map;
    if (!map) return;
    const [x, y] = this.plan.view.toMap(px, py);
    if (this.survey?.marked) return this.survey.mark(map.id, x, y);
    if (x >= 0 && y >= 0 && x <= map.width && y <= map.height) this.onTap({ mapId: map.id, x, y });
  }

  themeChanged() {
    if (!this.theme) return;
    this.plan.palette = readPalette(document.documentElement);
    this.plan.imagePalette = readPalette(byId("light-colors"));
    this.timeline.key = "";
    this.radioPanel?.drawLegend();
    this.plan.invalidate();
  }

  /**
   * @param {string|null} state null hides the badge
   * @param {string} text
   */
  showConnection(state, text) {
    this.connection = state ?? "";
    showConnection(state, text);
  }

  framesChanged() {
    const store = this.source.store;
    if (this.clock.isLive && store.last) this.clock.setBounds(store.first.t, store.last.t);
    this.plan.schedule();
  }

  clockChanged() {
    const clock = this.clock;
    showPlayer(clock);
    byId("live-edge").hidden = !clock.isLive || clock.atEdge;
    byId("speed-choice").hidden = clock.atEdge;
    if (!clock.isRunning) this.tablesAt = 0;
    this.source.want(clock.t);
    this.plan.schedule();
  }

  /**
   * Chooses the frame of this instant and what has to be drawn. Returns whether the picture moves on.
   * @param {number} now
   */
  prepare(now) {
    const { clock, source, plan } = this;
    clock.tick(now);
    const store = source.store;
    const index = store.indexAt(clock.t);
    const frame = store.frames[index] ?? null;
    if (frame !== this.frame) {
      this.frame = frame;
      plan.scene.frame = frame;
      plan.scene.trail = this.trailTo(index);
      if (frame) this.follow(frame);
      plan.stale.add("particles").add("session");
    } else if (frame && Boolean(frame.particles) !== this.particles.hadParticles) {
      plan.stale.add("particles");
    }
    if (frame?.isThinned) source.want(clock.t);
    const moved = this.interpolation.update(frame, store.frames[index + 1] ?? null, clock, now);
    plan.scene.estimate = this.interpolation.estimate;
    if (moved) plan.stale.add("session");
    this.keepInSight();
    return clock.isRunning || this.interpolation.isMoving;
  }

  /**
   * Returns the venue whose maps a frame names; the shown venue for a frame without one.
   * @param {any} frame
   */
  venueOf(frame) {
    return this.source.overview.venues.find((/** @type {any} */ one) => one.id === frame.venueId) ?? this.venue;
  }

  /** @param {number} index */
  trailTo(index) {
    const frames = this.source.store.frames;
    const from = Math.max(0, this.source.store.indexAt((frames[index]?.t ?? 0) - trailSeconds));
    return frames.slice(from, index + 1);
  }

  /**
   * Shows the venue and the floor of a frame, unless the user has chosen others.
   * @param {any} frame
   */
  follow(frame) {
    if (!this.following) return;
    const mapId = frame.estimate?.mapId ?? frame.mapId ?? frame.truth?.mapId ?? null;
    if (typeof frame.venueId === "number" && frame.venueId !== this.venue?.id) {
      const venue = this.source.overview.venues.find((/** @type {any} */ one) => one.id === frame.venueId);
      if (venue) this.showVenue(venue, mapId ?? undefined);
    }
    if (!isOfShownVenue(frame, this.plan.scene)) return;
    const map = this.venue?.maps.find((/** @type {any} */ one) => one.id === mapId);
    if (map && map !== this.plan.scene.map) this.showMap(map);
  }

  /** The estimate if it is on the shown map; otherwise null. */
  get shownEstimate() {
    const { scene } = this.plan;
    if (!isOfShownVenue(scene.frame, scene) || scene.estimate?.mapId !== scene.map?.id) return null;
    return scene.estimate;
  }

  /** Moves the plan if the estimate leaves the middle of an enlarged plan. */
  keepInSight() {
    const estimate = this.shownEstimate;
    const view = this.plan.view;
    if (!this.following || !this.centring || view.isFitted || !estimate) return;
    const [x, y] = view.toScreen(estimate.x, estimate.y);
    const marginX = view.width * 0.25;
    const marginY = view.height * 0.25;
    const dx = Math.min(0, view.width - marginX - x) + Math.max(0, marginX - x);
    const dy = Math.min(0, view.height - marginY - y) + Math.max(0, marginY - y);
    if (Math.abs(dx) < 1 && Math.abs(dy) < 1) return;
    view.pan(dx, dy);
    for (const name of ["plan", "particles", "session"]) this.plan.stale.add(name);
  }

  /** Renews the texts, the tables and the time line after a drawing. */
  finish() {
    const { clock, frame, source } = this;
    const scene = this.plan.scene;
    if (scene.map) showScale(byId("scale-bar"), byId("scale-text"), this.plan.view.scale);
    byId("scale").hidden = !scene.map;
    const now = performance.now();
    const isDue = !clock.isRunning || now - this.tablesAt >= tablePause;
    if (this.isSession && isDue) {
      this.tablesAt = now;
      if (frame) {
        this.facts.show(frame, this.venueOf(frame), this.origin, clock.t, !clock.playing);
        this.diagnosis.show(frame.diagnosis ?? null);
        if (frame !== this.tableFrame) this.beaconTable.show(frame.beacons ?? null);
        this.tableFrame = frame;
      } else {
        this.facts.showOther(clock.isLive ? "Waiting for the session" : "No frames", []);
      }
      this.errorChart.show(frame, source.store, clock, this.plan.palette);
      this.eventList.show(source.events, clock.t, this.origin);
    }
    if (this.isSession) {
      setText(byId("time"), clock.isLive && clock.atEdge ? "Live" : this.timeText());
      this.timeline.draw({
        clock, store: source.store, events: source.events, maps: this.maps ?? new Map(), loaded: source.loaded,
        palette: this.plan.palette, theme: this.theme.name, text: frame?.text ?? "",
      });
    }
    this.floors.show(scene.map?.id ?? null, isOfShownVenue(frame, scene) ? frame?.levels ?? [] : []);
    if (!this.isReady && (frame || !this.isSession || this.source.loaded === null)) {
      this.isReady = true;
      this.becameReady();
    }
  }

  /** The instant that the page shows as 0:00. */
  get origin() { return this.clock.isLive ? 0 : this.clock.start; }

  timeText() {
    const { t, end } = this.clock;
    return `${clockTime(t - this.origin)} / ${clockTime(end - this.origin)}`;
  }
}

