// @ts-check
import { byId, make, setText } from "./dom.js";
import { compare } from "./tag-store.js";

/** The groups that the keyboard reaches, and the rows of an opened group. */
const mostButtons = 40, mostRows = 200;

/** The opened group of tags on the plan, and the buttons by which the keyboard opens groups. */
export class ClusterPanel {
  /**
   * @param {{select: (key: string) => void, zoom: (tags: any[]) => void}} reports
   */
  constructor(reports) {
    this.reports = reports;
    /** The tags of the opened group. @type {any[]} */
    this.tags = [];
    /** The buttons by the key of the group's first tag. @type {Map<string, any>} */
    this.buttons = new Map();
    this.box = byId("cluster");
    byId("cluster-close").addEventListener("click", () => this.close());
    byId("cluster-zoom").addEventListener("click", () => {
      const { tags } = this;
      this.close();
      reports.zoom(tags);
    });
    this.box.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Escape") {
        event.stopPropagation();
        this.close();
      }
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key] ?? 0;
      if (step === 0) return;
      event.preventDefault();
      const rows = [...this.box.querySelectorAll("#cluster-list button")];
      const index = rows.indexOf(document.activeElement);
      rows[Math.min(rows.length - 1, Math.max(0, index + step))]?.focus();
    });
  }

  get isOpen() { return !this.box.hidden; }

  /**
   * Lists the tags of a group.
   * @param {import("./clusters.js").Group} group
   */
  open(group) {
    this.tags = group.dots.map((dot) => dot.tag).sort(compare);
    setText(byId("cluster-title"), titleOf(this.tags));
    const shown = this.tags.slice(0, mostRows);
    byId("cluster-list").replaceChildren(...shown.map((tag) => make("li", {}, make(
      "button", { type: "button", "data-tag": tag.tag, onclick: () => this.choose(tag.tag) }, tag.shown))));
    const rest = this.tags.length - shown.length;
    byId("cluster-more").hidden = rest === 0;
    setText(byId("cluster-more"), rest === 0 ? "" : `${rest} more: zoom in, or search.`);
    this.box.hidden = false;
    this.box.scrollTop = 0;
    this.box.querySelector("#cluster-list button").focus({ preventScroll: true });
  }

  /** @param {string} key */
  choose(key) {
    this.close();
    this.reports.select(key);
  }

  close() {
    if (!this.isOpen) return;
    this.box.hidden = true;
    this.tags = [];
    byId("plan").focus({ preventScroll: true });
  }

  /**
   * Places the buttons over the groups of the plan, the largest first.
   * @param {import("./clusters.js").Group[]} groups
   */
  place(groups) {
    const many = groups.filter((group) => group.dots.length > 1).sort((a, b) => b.dots.length - a.dots.length);
    const kept = new Map();
    for (const group of many.slice(0, mostButtons)) {
      const key = group.dots[0].tag.tag;
      const button = this.buttons.get(key) ?? make("button", { type: "button" });
      button.onclick = () => this.open(group);
      button.setAttribute("aria-label", `${titleOf(group.dots.map((dot) => dot.tag))}: open`);
      button.style.transform = `translate(${group.x}px, ${group.y}px) translate(-50%, -50%)`;
      button.style.width = button.style.height = `${2 * group.radius}px`;
      kept.set(key, button);
    }
    // Buttons are moved only if they changed, as moving takes the focus away.
    const wanted = [...kept.values()];
    const root = byId("clusters");
    if (wanted.length !== root.children.length || wanted.some((one) => one.parentNode !== root)) {
      const focused = document.activeElement;
      root.replaceChildren(...wanted);
      if (focused instanceof HTMLElement && root.contains(focused)) focused.focus({ preventScroll: true });
    }
    this.buttons = kept;
  }
}

/**
 * Returns the number of tags, with their room if it is the same.
 * @param {any[]} tags
 */
function titleOf(tags) {
  const room = tags[0]?.position?.label;
  const isOne = room && tags.every((tag) => tag.position?.label === room);
  return `${tags.length} tags${isOne ? ` in ${room}` : ""}`;
}
