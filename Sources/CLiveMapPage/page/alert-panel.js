// @ts-check
import { byId, make, setText } from "./dom.js";
import { ageText } from "./tag-panels.js";

/** The number of rows of each list. */
const mostRows = 50;

const conditions = /** @type {Record<string, string>} */ ({
  enters: "In", leaves: "Has left", silent: "Not heard", batteryLow: "Battery low",
});
const states = /** @type {Record<string, string>} */ ({ raised: "", repeated: "Still: ", cleared: "Ended: " });

/**
 * Returns the condition of an alert in words, such as "Has left Ward".
 * @param {any} event
 */
function conditionText(event) { return [conditions[event.when] ?? event.when, event.area].filter(Boolean).join(" "); }

/**
 * Lists the alerts that last, and the latest events.
 * @param {{activeCount: number, active: any[], latest: any[]}} alerts
 * @param {number} now
 * @param {(key: string) => void} choose
 */
export function showAlerts({ activeCount, active, latest }, now, choose) {
  byId("alerts").hidden = false;
  setText(byId("alert-count"), activeCount === 0 ? "No alert"
    : `${activeCount} ${activeCount === 1 ? "alert" : "alerts"}`);
  // The newest alert is the first one.
  fill(byId("alert-list"), [...active].reverse().slice(0, mostRows), (one) => one.since, now, choose);
  fill(byId("latest-alert-list"), latest.slice(0, mostRows), (one) => one.time, now, choose);
  byId("latest-alerts").hidden = latest.length === 0;
}

/**
 * @param {HTMLElement} list
 * @param {any[]} events
 * @param {(event: any) => string} timeOf
 * @param {number} now
 * @param {(key: string) => void} choose
 */
function fill(list, events, timeOf, now, choose) {
  const keys = JSON.stringify(events.map((one) => one.id));
  if (list.dataset.shown !== keys) {
    list.dataset.shown = keys;
    list.replaceChildren(...events.map((one) => make("li", { "data-state": one.state }, make(
      "button", { type: "button", "data-tag": one.tag, onclick: () => choose(one.tag) },
      make("span", { class: "name" }, one.name ?? one.tag), make("span", { class: "age" }),
      make("span", { class: "rule" }, `${states[one.state] ?? ""}${one.rule}`),
      make("span", { class: "condition" }, conditionText(one))))));
  }
  events.forEach((one, index) => {
    const age = list.children[index].querySelector(".age");
    if (age) setText(age, ageText(now - Date.parse(timeOf(one))));
  });
}
