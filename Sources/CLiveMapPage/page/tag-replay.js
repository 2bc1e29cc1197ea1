// @ts-check
import { Clock } from "./clock.js";
import { attachPlayer, showPlayer } from "./controls.js";
import { byId, setText } from "./dom.js";
import { counted, dayTime } from "./format.js";
import { PastPanel } from "./past-panel.js";
import { PastTimeline } from "./past-timeline.js";
import { TagPast } from "./tag-past.js";

/** The speeds of playback, relative to real time: a day takes from a day to a minute. */
const speeds = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1200];
/** The seconds that the playback of a time takes at first, about. */
const duration = 120;
/** The longest trail of the chosen tag in seconds, and as a share of the time. */
const trailSeconds = 600, trailShare = 1 / 24;

/** The replay of stored positions on the page of tags. */
export class TagReplay {
  /** @param {import("./tags-app.js").TagsApp} app */
  constructor(app) {
    this.app = app;
    /** Whether the page shows the past. */
    this.isOn = false;
    this.clock = new Clock(false, () => this.clockChanged());
    this.past = new TagPast(() => this.app.plan.invalidate("tags"));
    this.timeline = new PastTimeline(byId("timeline"), byId("canvas-timeline"), this.clock);
    this.panel = new PastPanel({
      chosen: () => this.chosen(), loaded: () => this.app.plan.schedule(),
      select: (visit) => this.select(visit),
    });
    attachPlayer(this.clock, speeds);
    byId("past-open").hidden = false;
    byId("past-open").addEventListener("click", () => (this.isOn ? this.close() : this.open()));
    byId("player").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== " " || event.target !== byId("timeline")) return;
      event.preventDefault();
      this.clock.toggle();
    });
  }

  open() {
    const { app, panel } = this;
    app.deselect();
    this.isOn = true;
    this.show();
    const rooms = [...new Set((app.venue?.rooms ?? []).map((/** @type {any} */ room) => room.name))].sort();
    const tags = [...app.store.tags.values(), ...app.store.unlocated.values()].map((tag) => tag.shown);
    panel.setNames(/** @type {string[]} */ (rooms), tags.sort());
    if (panel.end === 0) panel.chooseSpan("3600");
    else panel.changed();
    byId("past-from").focus();
  }

  /** Returns to the present. */
  close() {
    this.isOn = false;
    this.clock.pause();
    this.app.scene.trail = [];
    this.app.scene.selected = null;
    this.show();
    this.app.changed();
  }

  show() {
    const { isOn } = this;
    document.body.classList.toggle("past", isOn);
    byId("past").hidden = !isOn;
    byId("player").hidden = !isOn;
    setText(byId("past-open"), isOn ? "Back to live" : "History");
    byId("past-open").setAttribute("aria-pressed", String(isOn));
    this.app.plan.invalidate();
  }

  /** Begins the chosen time. */
  chosen() {
    const { clock, panel, past } = this;
    const { start, end } = panel;
    const isSame = start === clock.start && end === clock.end;
    past.open(start, end, panel.filter);
    if (!isSame) {
      clock.playing = false;
      clock.setBounds(start, end);
      clock.t = start;
      clock.speed = speeds.findLast((speed) => (end - start) / speed >= duration) ?? 1;
    }
    this.clockChanged();
  }

  /**
   * Shows a tag at the beginning of its visit.
   * @param {any} visit
   */
  select(visit) {
    const t = Math.max(this.panel.start, Date.parse(visit.start) / 1000);
    if (this.panel.tag === "") this.panel.chooseTag(visit.tag);
    this.app.following = true;
    this.clock.seek(t + 1);
  }

  clockChanged() {
    showPlayer(this.clock);
    this.app.plan.invalidate("tags");
  }

  /**
   * Chooses the tags of the instant. Returns whether they move on.
   * @param {number} now milliseconds
   */
  prepare(now) {
    const { app, clock, past } = this;
    const { scene } = app;
    // The clock waits for positions that are not loaded yet.
    if (past.holds(clock.t)) clock.tick(now);
    else clock.last = 0;
    past.want(clock.t);
    scene.tags = past.at(clock.t);
    scene.receivers = new Map();
    const only = this.panel.tag === "" ? null : [...scene.tags.keys()][0] ?? null;
    scene.selected = only;
    scene.trail = only === null ? [] : past.track(
      only, clock.t - Math.max(trailSeconds, trailShare * (clock.end - clock.start)), clock.t);
    if (only !== null) scene.trail.push(scene.tags.get(only).position);
    app.followSelected();
    app.plan.stale.add("tags");
    return clock.isRunning;
  }

  /** Renews the time line after a drawing. */
  finish() {
    const { app, clock, panel, past } = this;
    const count = app.scene.tags.size;
    const time = dayTime(clock.t, panel.end, true);
    const state = past.problem || (past.holds(clock.t) ? counted(count, "tag") : "Loading…");
    setText(byId("time"), time);
    setText(byId("past-count"), state);
    this.timeline.draw(/** @type {any} */ ({
      clock, panel, palette: app.plan.palette, theme: app.theme.name, text: `${time}, ${state}`,
    }));
  }
}
