// @ts-check
import { byId, make } from "./dom.js";
import { recall, remember } from "./memory.js";

/**
 * A key of the page.
 * @typedef {{keys: string[], shown: string, text: string, act: (event: KeyboardEvent) => void, isFor?: string}} Key
 */

/**
 * Listens to keys everywhere except in fields that use them, and in panels where a person types (`data-typing`). Keys of one character can be switched off, as speech input
 * would press them by accident.
 * @param {Key[]} keys
 */
export function listenToKeys(keys) {
  const choice = byId("single-keys");
  choice.checked = recall("single-keys") !== "off";
  choice.addEventListener("change", () => remember("single-keys", choice.checked ? "on" : "off"));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.length === 1 && event.key !== " " && !choice.checked) return;
    const target = event.target instanceof Element ? event.target : document.body;
    if (target.closest("select, textarea, dialog, input:not([type=checkbox]), [data-typing]")) return;
    // A focused button or menu keeps the keys that press it.
    if ((event.key === " " || event.key === "Enter") && target.closest("button, summary, a, input")) return;
    const name = event.shiftKey && event.key.startsWith("Arrow") ? `Shift+${event.key}` : event.key;
    const key = keys.find((one) => one.keys.includes(name));
    if (!key) return;
    event.preventDefault();
    key.act(event);
  });
}

/**
 * Lists the keys.
 * @param {HTMLElement} list
 * @param {Key[]} keys
 */
export function listKeys(list, keys) {
  list.replaceChildren(...keys.flatMap((key) => [make("dt", {}, key.shown), make("dd", {}, key.text)]));
}
