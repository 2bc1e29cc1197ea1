// @ts-check
import { isRefusal, refusalText } from "./api.js";
import { byId } from "./dom.js";
import { EditApp } from "./edit-app.js";
import { attachEditControls } from "./edit-controls.js";
import { loadDocument, loadOverview } from "./edit-store.js";

// The server has stored the token in a cookie. In the address it would get into the history and into shared links.
if (new URLSearchParams(location.search).has("token")) history.replaceState(null, "", location.pathname);

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
      };
    },
    /** Returns the document as the page would save it. */
    document() { return JSON.parse(JSON.stringify(app.document)); },
    screenPoint(/** @type {number} */ x, /** @type {number} */ y) {
      const box = app.plan.root.getBoundingClientRect();
      const [px, py] = app.plan.view.toScreen(x, y);
      return { x: box.left + px, y: box.top + py };
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
