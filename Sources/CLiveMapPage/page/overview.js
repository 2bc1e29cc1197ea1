// @ts-check
import { isRefusal, pause, refusalText, request } from "./api.js";
import { byId } from "./dom.js";

/** Returns the venues of the fleet; tries again until the server answers. */
export async function findOverview() {
  for (;;) {
    try {
      return await request("venue");
    } catch (error) {
      const badge = byId("connection");
      badge.hidden = false;
      badge.dataset.state = "gone";
      badge.textContent = isRefusal(error) ? refusalText : "No server";
      await pause(2);
    }
  }
}
