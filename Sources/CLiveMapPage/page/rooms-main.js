// @ts-check
import { hideToken } from "./api.js";
import { findOverview } from "./overview.js";
import { RoomsApp } from "./rooms-app.js";

hideToken();

findOverview().then((overview) => {
  const app = new RoomsApp(overview);
  /** By this object, tests read what the page shows. */
  /** @type {any} */ (window).roomMap = Object.freeze({
    state: () => ({
      tags: app.store.tags.size, selected: app.selected, connection: document.getElementById("connection")?.dataset.state ?? "",
      samples: app.state.rooms.reduce((/** @type {number} */ sum, /** @type {any} */ one) => sum + one.samples, 0),
    }),
  });
  app.start();
});
