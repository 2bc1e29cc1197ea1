// @ts-check
import { byId } from "./dom.js";
import { number } from "./format.js";

/**
 * Lets the user mark the place where they stand, as ground truth of the recording.
 * @param {import("./app.js").App} app
 */
export function attachMarks(app) {
  const button = byId("mark");
  const notice = byId("notice");
  let isMarking = false;
  let timer = 0;

  const say = (/** @type {string} */ text, seconds = 0) => {
    clearTimeout(timer);
    notice.hidden = text === "";
    notice.textContent = text;
    if (seconds > 0) timer = setTimeout(() => say(isMarking ? "Tap the plan where you stand." : ""), seconds * 1000);
  };

  const setMarking = (/** @type {boolean} */ marking) => {
    isMarking = marking;
    button.setAttribute("aria-pressed", String(marking));
    byId("plan").classList.toggle("marking", marking);
    say(marking ? "Tap the plan where you stand." : "");
  };

  app.onTap = async (place) => {
    if (!isMarking) return;
    const rounded = { mapId: place.mapId, x: Math.round(place.x * 100) / 100, y: Math.round(place.y * 100) / 100 };
    const refusal = await app.source.mark(rounded);
    say(refusal ?? `Marked at ${number(rounded.x, 1)}\u00a0m, ${number(rounded.y, 1)}\u00a0m.`, 5);
  };

  button.addEventListener("click", () => setMarking(!isMarking));
}
