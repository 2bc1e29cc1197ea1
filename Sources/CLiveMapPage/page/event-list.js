// @ts-check
import { make } from "./dom.js";
import { clockTime } from "./format.js";

/** The events of the session; a press goes to the event's instant. */
export class EventList {
  /**
   * @param {HTMLElement} panel
   * @param {HTMLElement} list
   * @param {(t: number) => void} seek
   */
  constructor(panel, list, seek) {
    this.panel = panel;
    this.list = list;
    this.seek = seek;
    this.key = "";
    this.current = -1;
  }

  /**
   * @param {any[]} events the oldest first
   * @param {number} t
   * @param {number} start
   */
  show(events, t, start) {
    this.panel.hidden = events.length === 0;
    const key = `${events.length}/${events[0]?.id}/${events[events.length - 1]?.id}/${start}`;
    if (key !== this.key) {
      this.key = key;
      this.current = -1;
      this.list.replaceChildren(...events.map((event) => make("li", {}, make(
        "button", { type: "button", "data-kind": event.kind, onclick: () => this.seek(event.t) },
        make("span", { class: "when" }, clockTime(event.t - start)), make("span", {}, event.text)))));
    }
    let current = -1;
    while (current + 1 < events.length && events[current + 1].t <= t + 1e-6) current++;
    if (current === this.current) return;
    this.list.children[this.current]?.firstElementChild?.removeAttribute("aria-current");
    const row = this.list.children[current];
    row?.firstElementChild?.setAttribute("aria-current", "true");
    this.current = current;
    // Only the list scrolls, never the page.
    if (row instanceof HTMLElement) {
      this.list.scrollTop = row.offsetTop - this.list.clientHeight / 2 + row.offsetHeight / 2;
    }
  }
}
