// @ts-check
import { hideToken } from "./api.js";
import { findOverview } from "./overview.js";
import { TagsApp } from "./tags-app.js";

hideToken();

/**
 * Returns the object `window.tagMap`, by which tests read what the page shows.
 * @param {TagsApp} app
 */
function inspectionOf(app) {
  return Object.freeze({
    ready: app.ready,
    state() {
      const { view } = app.plan;
      return {
        tags: app.store.tags.size, drawn: app.layer.count ?? 0, mapId: app.scene.map?.id ?? null,
        selected: app.scene.selected, ...app.survey?.inspected, trail: app.scene.trail.length, connection: document.getElementById("connection")?.dataset.state ?? "",
        clusters: app.layer.groups.filter((group) => group.dots.length > 1).map((group) => {
          const box = app.plan.root.getBoundingClientRect();
          return { x: box.left + group.x, y: box.top + group.y, radius: group.radius, count: group.dots.length };
        }),
        drawings: app.plan.drawings, theme: app.theme.name,
        past: app.isPast && app.replay ? {
          t: app.replay.clock.t, start: app.replay.clock.start, end: app.replay.clock.end,
          speed: app.replay.clock.speed, playing: app.replay.clock.playing, tags: app.scene.tags.size,
          isLoaded: app.replay.past.holds(app.replay.clock.t),
        } : null,
        transform: { scale: view.scale, x: view.x, y: view.y },
      };
    },
    /** Returns the position of a tag; null without one. */
    positionOf(/** @type {string} */ key) { return app.scene.tags.get(key)?.position ?? null; },
    /** Draws the tags at once. */
    redraw() {
      app.plan.stale.add("tags");
      app.plan.draw(performance.now());
    },
    screenPoint(/** @type {number} */ mapId, /** @type {number} */ x, /** @type {number} */ y) {
      if (app.scene.map?.id !== mapId) return null;
      return app.plan.viewportPoint(x, y);
    },
  });
}

findOverview().then((overview) => {
  const app = new TagsApp(overview);
  /** @type {any} */ (window).tagMap = inspectionOf(app);
  app.start();
});
