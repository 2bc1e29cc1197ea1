// @ts-check
import { make, setText } from "./dom.js";
import { percent } from "./format.js";

/** The switch between floors, with the probability of each. */
export class Floors {
  /**
   * @param {HTMLElement} root
   * @param {(mapId: number) => void} choose
   */
  constructor(root, choose) {
    this.root = root;
    this.choose = choose;
    /** @type {any[]} */
    this.maps = [];
    root.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key] ?? 0;
      if (step === 0) return;
      event.preventDefault();
      event.stopPropagation();
      const buttons = [...root.querySelectorAll("button")];
      const index = buttons.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
      const next = buttons[Math.min(buttons.length - 1, Math.max(0, index + step))];
      next?.focus();
      next?.click();
    });
  }

  /**
   * Lists the maps of a venue, the highest level first.
   * @param {any[]} maps
   */
  setMaps(maps) {
    this.maps = [...maps].sort((a, b) => b.level - a.level || a.id - b.id);
    this.root.replaceChildren(...this.maps.map((map) => make("button", {
      type: "button", role: "radio", "data-map": map.id, title: `Level ${map.level}`,
      onclick: () => this.choose(map.id),
    }, make("span", { class: "name" }, map.name), make("span", { class: "chance" }), make("span", { class: "gauge" }))));
  }

  /**
   * @param {number|null} shown
   * @param {any[]} levels the probabilities of the maps
   */
  show(shown, levels) {
    this.root.querySelectorAll("button").forEach((button, index) => {
      const map = this.maps[index];
      const level = levels.find((one) => one.mapId === map.id);
      const isShown = map.id === shown;
      button.setAttribute("aria-checked", String(isShown));
      button.tabIndex = isShown ? 0 : -1;
      const chance = /** @type {HTMLElement} */ (button.querySelector(".chance"));
      const gauge = /** @type {HTMLElement} */ (button.querySelector(".gauge"));
      chance.hidden = levels.length === 0;
      setText(chance, level ? percent(level.probability) : levels.length > 0 ? percent(0) : "");
      gauge.hidden = levels.length === 0;
      gauge.style.transform = `scaleX(${level ? level.probability : 0})`;
    });
  }

  /**
   * Returns the map above or below.
   * @param {number|null} shown
   * @param {number} step 1 for the next higher one
   */
  neighbour(shown, step) {
    const index = this.maps.findIndex((map) => map.id === shown);
    return this.maps[index - step]?.id ?? null;
  }
}
