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
        selected: app.scene.selected, walks: app.survey.walks, trail: app.scene.trail.length, connection: app.connection,
        drawings: app.plan.drawings, theme: app.theme.name,
        transform: { scale: view.scale, x: view.x, y: view.y },
      };
    },
    /** Returns the position of a tag; null without one. */
    positionOf(/** @type {string} */ key) { return app.store.tags.get(key)?.position ?? null; },
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
