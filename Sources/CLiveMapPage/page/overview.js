// @ts-check
import { isRefusal, pause, refusalText, request } from "./api.js";
import { showConnection } from "./dom.js";

/** Returns the venues of the fleet; tries again until the server answers. */
export async function findOverview() {
  for (;;) {
    try {
      return await request("venue");
    } catch (error) {
      showConnection("gone", isRefusal(error) ? refusalText : "No server");
      await pause(2);
    }
  }
}
