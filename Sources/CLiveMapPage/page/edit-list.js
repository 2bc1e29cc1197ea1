// @ts-check
/** The list of the objects of a floor. */
import { byId, make, setText } from "./dom.js";
import { kindNamed, kinds } from "./venue-kinds.js";
import { countsOf, objectAt, objectsOn, titleOf } from "./venue-objects.js";

/** @typedef {import("./venue-objects.js").Reference} Reference */

/** What a search finds besides the title. */
const searched = ["uuid", "namespace", "altBeaconId", "address", "id", "description"];

export class ObjectList {
  /** @param {import("./edit-app.js").EditApp} app */
  constructor(app) {
    this.app = app;
    this.root = byId("object-list");
    this.find = byId("find");
    this.kind = byId("find-kind");
    /** @type {Reference[]} */
    this.found = [];
    /** What was listed last. @type {any[]} */
    this.listed = [];
    /** The titles of the rows. @type {string|null} */
    this.rows = null;
    this.isRenewed = false;
    this.kind.append(...kinds.map((kind) => make("option", { value: kind.id }, kind.title)));
    this.find.addEventListener("input", () => this.show());
    this.kind.addEventListener("change", () => this.show());
    this.find.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Enter" && this.found.length > 0) {
        event.preventDefault();
        this.app.reveal(this.found[0]);
        this.root.querySelector("button")?.focus();
      } else if (event.key === "Escape") {
        event.preventDefault();
        this.find.value = "";
        this.show();
        byId("plan").focus();
      }
    });
  }

  show() {
    const { document } = this.app;
    const mapId = this.app.plan.scene.map?.id;
    const wanted = [document, mapId, this.find.value, this.kind.value];
    if (wanted.some((one, index) => one !== this.listed[index])) {
      this.listed = wanted;
      this.list(mapId === undefined ? [] : objectsOn(document, mapId));
    }
    this.root.querySelectorAll("[aria-pressed=true]").forEach((/** @type {Element} */ one) => (
      one.setAttribute("aria-pressed", "false")));
    const { selected } = this.app;
    if (!selected) return;
    const row = this.root.querySelector(`[data-object="${selected.kind}-${selected.index}"]`);
    row?.setAttribute("aria-pressed", "true");
    if (this.isRenewed) this.scroll();
    this.isRenewed = false;
  }

  /** @param {Reference[]} all */
  list(all) {
    const { document } = this.app;
    const words = this.find.value.toLowerCase().split(/\s+/).filter((/** @type {string} */ one) => one !== "");
    this.found = all.filter((one) => {
      if (this.kind.value !== "" && one.kind !== this.kind.value) return false;
      if (words.length === 0) return true;
      const object = objectAt(document, one);
      const text = [titleOf(document, one), kindNamed(one.kind).title, ...searched.map((key) => object[key] ?? "")]
        .join(" ").toLowerCase();
      return words.every((/** @type {string} */ word) => text.includes(word));
    });
    const isFiltered = words.length > 0 || this.kind.value !== "";
    const counts = isFiltered ? `${this.found.length} of ${all.length}` : countsOf(all);
    setText(byId("object-count"), counts || "There are no objects yet.");
    // A change of another field keeps the rows: there may be a thousand.
    const titles = this.found.map((one) => titleOf(document, one));
    const rows = this.found.map((one, index) => `${one.kind} ${one.index} ${titles[index]}`).join("\n");
    if (rows === this.rows) return;
    this.rows = rows;
    const focused = /** @type {any} */ (window.document.activeElement)?.dataset?.object;
    this.root.replaceChildren(...this.found.map((one, index) => make("li", {}, make("button", {
      type: "button", "data-object": `${one.kind}-${one.index}`, "aria-pressed": "false",
      onclick: () => this.app.reveal(one),
    }, make("span", { class: "kind" }, kindNamed(one.kind).title), titles[index]))));
    this.isRenewed = true;
    if (focused) this.root.querySelector(`[data-object="${focused}"]`)?.focus();
  }

  /** Scrolls the list to the selected object; the panels stay. */
  scroll() {
    const row = /** @type {HTMLElement|null} */ (this.root.querySelector("[aria-pressed=true]")?.parentElement ?? null);
    if (!row || !this.root.clientHeight) return;
    const [top, bottom] = [row.offsetTop, row.offsetTop + row.offsetHeight];
    const { scrollTop, clientHeight } = this.root;
    if (top < scrollTop || bottom > scrollTop + clientHeight) this.root.scrollTop = top - clientHeight / 2;
  }
}
