// @ts-check
import { hideToken, isRefusal, refusalText } from "./api.js";
import { byId } from "./dom.js";
import { EditApp } from "./edit-app.js";
import { attachEditControls } from "./edit-controls.js";
import { loadDocument, loadOverview } from "./edit-store.js";
import { walkOf } from "./venue-walk.js";

hideToken();

/**
 * Returns the object `window.venueEditor`, by which tests read what the page shows.
 * @param {EditApp} app
 */
function inspectionOf(app) {
  return Object.freeze({
    state() {
      const { scene } = app.plan;
      return {
        mapId: scene.map?.id ?? null, tool: app.tools.tool, isChanged: app.history.isChanged,
        selected: app.selected ? `${app.selected.kind} ${app.selected.index}` : "", corner: app.corner,
        draft: app.tools.draft?.corners.length ?? 0, steps: app.history.past.length, theme: app.theme.name,
        isChecked: app.checks.checked === app.history.document, problems: app.problems.of(app.document).length,
        walk: walkOf(app.document).points.length, heats: app.plan.scene.heats?.size ?? 0,
      };
    },
    /** Returns the boxes of the labels of areas and points of interest. */
    labels() { return app.boxes.labels; },
    /** Returns the document as the page would save it. */
    document() { return JSON.parse(JSON.stringify(app.document)); },
    /** Returns the walk as the page would export it. */
    walk() { return JSON.parse(JSON.stringify(walkOf(app.document))); },
    screenPoint(/** @type {number} */ x, /** @type {number} */ y) {
      return app.plan.viewportPoint(x, y);
    },
  });
}

async function start() {
  try {
    const [overview, stored] = await Promise.all([loadOverview(), loadDocument()]);
    const app = new EditApp(overview, stored);
    attachEditControls(app);
    /** @type {any} */ (window).venueEditor = inspectionOf(app);
  } catch (error) {
    const badge = byId("saved");
    badge.dataset.state = "gone";
    badge.textContent = "Not loaded";
    const notice = byId("notice");
    notice.hidden = false;
    notice.textContent = isRefusal(error) ? refusalText : String(/** @type {any} */ (error).message);
  }
}

start();
