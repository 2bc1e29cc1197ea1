// @ts-check
import { hideToken, pause, request } from "./api.js";
import { App } from "./app.js";
import { attachControls } from "./controls.js";
import { byId, showConnection } from "./dom.js";
import { inspectionOf } from "./inspection.js";
import { attachMarks } from "./marks.js";
import { DocumentSource } from "./source-document.js";
import { LiveSource } from "./source-live.js";
import { RecordingSource } from "./source-recording.js";

hideToken();

/** Returns the content of the page: the embedded document, or that of the server. */
async function findSource() {
  const embedded = document.getElementById("document");
  if (embedded) return new DocumentSource(embedded.textContent ?? "");
  for (;;) {
    try {
      const overview = await request("venue");
      if (overview.mode === "live") return new LiveSource(overview);
      const radioMap = overview.mode === "radioMap" ? await request("radio-map") : null;
      return new RecordingSource(overview, radioMap);
    } catch (error) {
      const status = /** @type {any} */ (error).status;
      showConnection("gone", status === 401 || status === 403 ? "Not authorized" : "No server");
      byId("state-text").textContent = status === 401 || status === 403
        ? "The server requires a token. Open the page with the address that the server printed, which has the token."
        : "The server doesn't answer. The page tries again.";
      await pause(2);
    }
  }
}

/** The promise of the inspection object; see inspection.js. @type {(app: any) => void} */
let started = () => {};
const whenStarted = new Promise((resolve) => { started = resolve; });
/** @type {any} */ (window).liveMap = Object.freeze({
  ready: whenStarted.then((app) => app.ready), state: () => null, screenPoint: () => null,
});

findSource().then((source) => {
  const app = new App(source);
  /** @type {any} */ (window).liveMap = inspectionOf(app);
  attachControls(app);
  attachMarks(app);
  app.start();
  started(app);
});
