// @ts-check
import { make } from "./dom.js";
import { age, beaconName, number, signed } from "./format.js";

const columns = [
  { key: "id", name: "Beacon", isFirstAscending: true },
  { key: "rssi", name: "RSSI", label: "RSSI in dBm", isFirstAscending: false },
  { key: "expected", name: "Expected", label: "Expected RSSI in dBm", isFirstAscending: false },
  { key: "difference", name: "Diff.", label: "Difference in dB", isFirstAscending: false },
  { key: "age", name: "Age", label: "Age in seconds", isFirstAscending: true },
];

/** The beacons of the latest seconds: what is heard, and what is expected at the estimate. */
export class BeaconTable {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.key = "rssi";
    this.isAscending = false;
    /** @type {any[]} */
    this.beacons = [];
    this.title = make("h2", {}, "Beacons");
    this.summary = make("p", { class: "note" });
    this.heads = columns.map((column) => make("th", { scope: "col" }, make("button", {
      type: "button", "aria-label": column.label ?? null, "data-key": column.key, onclick: () => this.sortBy(column),
    }, column.name)));
    this.body = make("tbody");
    const table = make("table", {}, make("thead", {}, make("tr", {}, ...this.heads)), this.body);
    root.append(this.title, make("div", { class: "scroller" }, table), this.summary);
    this.markHeads();
  }

  /** @param {{key: string, isFirstAscending: boolean}} column */
  sortBy(column) {
    this.isAscending = this.key === column.key ? !this.isAscending : column.isFirstAscending;
    this.key = column.key;
    this.markHeads();
    this.fill();
  }

  markHeads() {
    columns.forEach((column, index) => {
      const order = column.key !== this.key ? "none" : this.isAscending ? "ascending" : "descending";
      this.heads[index].setAttribute("aria-sort", order);
    });
  }

  /** @param {any[]|null} beacons null if the beacons of the instant are not stored */
  show(beacons) {
    if (beacons === null) {
      this.beacons = [];
      this.summary.textContent = "The beacons of this instant are not stored.";
      this.fill();
      return;
    }
    this.beacons = beacons.map((beacon) => ({
      ...beacon, difference: typeof beacon.expected === "number" ? beacon.rssi - beacon.expected : null,
    }));
    const unknown = beacons.filter((beacon) => !beacon.isKnown).length;
    const count = beacons.length === 0 ? "No beacon was received in the last 30 s." : `${beacons.length} received`;
    this.summary.textContent = unknown === 0 ? count : `${count}, ${unknown} not in the venue`;
    this.fill();
  }

  fill() {
    const direction = this.isAscending ? 1 : -1;
    const rows = [...this.beacons].sort((a, b) => {
      const [x, y] = [a[this.key], b[this.key]];
      if (x === null || x === undefined) return y === null || y === undefined ? 0 : 1;
      if (y === null || y === undefined) return -1;
      if (this.key === "id") return direction * a.id.localeCompare(b.id, "en", { numeric: true });
      return direction * (x - y);
    });
    this.body.replaceChildren(...rows.map((beacon) => rowOf(beacon)));
  }
}

/** @param {any} beacon */
function rowOf(beacon) {
  const name = make("td", { title: beacon.id }, beaconName(beacon.id));
  if (!beacon.isKnown) name.append(make("span", { class: "tag" }, "not in the venue"));
  const isWideOff = beacon.difference !== null && typeof beacon.deviation === "number"
    && Math.abs(beacon.difference) > 2 * beacon.deviation;
  const expected = typeof beacon.expected !== "number" ? "—" : number(beacon.expected);
  const spread = typeof beacon.deviation === "number" ? `±${number(beacon.deviation)}` : "";
  const difference = beacon.difference === null ? "—" : signed(beacon.difference) + (isWideOff ? "\u00a0!" : "");
  const kinds = `${beacon.isKnown ? "" : "unknown"} ${beacon.age > 5 ? "stale" : ""}`.trim();
  const remark = isWideOff ? "more than two standard deviations" : null;
  return make(
    "tr", { class: kinds || null, "data-beacon": beacon.id },
    name,
    make("td", {}, number(beacon.rssi)),
    make("td", { title: spread === "" ? null : `standard deviation ${spread} dB` }, expected),
    make("td", { class: isWideOff ? "wide-off" : null, title: remark }, difference),
    make("td", {}, age(beacon.age)));
}
