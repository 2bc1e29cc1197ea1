// @ts-check
import { make } from "./dom.js";
import { recall, remember } from "./memory.js";

const choices = ["Auto", "Light", "Dark"];

/** The appearance: that of the system, or the user's choice. */
export class Theme {
  /**
   * @param {HTMLElement} button
   * @param {() => void} changed
   */
  constructor(button, changed) {
    this.button = button;
    this.changed = changed;
    this.system = matchMedia("(prefers-color-scheme: dark)");
    const stored = recall("theme") ?? "";
    this.choice = choices.includes(stored) ? stored : "Auto";
    this.apply();
    this.system.addEventListener("change", () => this.apply());
    button.addEventListener("click", () => this.turn());
  }

  /** "light" or "dark". */
  get name() {
    if (this.choice === "Auto") return this.system.matches ? "dark" : "light";
    return this.choice.toLowerCase();
  }

  turn() {
    this.choice = choices[(choices.indexOf(this.choice) + 1) % choices.length];
    remember("theme", this.choice);
    this.apply();
  }

  apply() {
    document.documentElement.dataset.theme = this.name;
    this.button.replaceChildren(
      make("span", { class: "wide" }, "Appearance: "), make("span", { class: "narrow" }, "◐ "), this.choice);
    this.button.setAttribute("aria-label", `Appearance: ${this.choice}`);
    this.changed();
  }
}
