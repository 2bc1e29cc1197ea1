// @ts-check
/**
 * Returns the read-only object `window.liveMap`, by which tests read what the page shows:
 *
 * - `ready`: a promise that is kept after the first drawing of the content.
 * - `state()`: the mode, the instant `t` in seconds of the session, the shown venue and map, whether the page plays and
 *   follows the session, the connection ("connecting", "connected", "reconnecting", "gone" or ""), the number of the
 *   frame, the drawn estimate, the visible layers, what the page knows of the survey (null without one), the number of drawn particles, the number of drawings, and the
 *   transform: CSS pixels = (x, y) + scale · metres, from the plan's top left corner.
 * - `screenPoint(mapId, x, y)`: the point of the viewport in CSS pixels of a place in metres; null if the map is not
 *   shown.
 * @param {import("./app.js").App} app
 */
export function inspectionOf(app) {
  return Object.freeze({
    ready: app.ready,
    state() {
      const { scene, view } = app.plan;
      return {
        mode: app.mode, t: app.clock.t, start: app.clock.start, end: app.clock.end, speed: app.clock.speed,
        playing: app.clock.playing, atEdge: app.clock.atEdge, following: app.following, connection: app.connection,
        venueId: app.venue?.id ?? null, mapId: scene.map?.id ?? null, frameId: app.frame?.id ?? null,
        frames: app.source.store.frames.length, events: app.source.events.length,
        estimate: scene.estimate ? { ...scene.estimate } : null, layers: [...scene.layers], theme: app.theme.name,
        survey: app.survey?.inspected ?? null, particles: app.particles.count, drawings: app.plan.drawings,
        transform: { scale: view.scale, x: view.x, y: view.y },
      };
    },
    screenPoint(/** @type {number} */ mapId, /** @type {number} */ x, /** @type {number} */ y) {
      if (app.plan.scene.map?.id !== mapId) return null;
      return app.plan.viewportPoint(x, y);
    },
  });
}
