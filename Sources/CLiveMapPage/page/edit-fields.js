// @ts-check
/** The fields of the selected object. */
import { byId, make, setText } from "./dom.js";
import { hasCorners, mapsOf, namingOf, namings, nextIdentity } from "./venue-objects.js";
import { objectAt, renamed, replaced, reshaped, shapeAt, titleOf, withFields } from "./venue-objects.js";

/** The names of the fields, and their units. @type {Record<string, string>} */
const titles = {
  uuid: "UUID", major: "Major", minor: "Minor", namespace: "Namespace", instance: "Instance",
  altBeaconId: "AltBeacon id", address: "Address", addressType: "Type of the address", x: "x (m)", y: "y (m)",
  z: "Height above the floor (m)", measuredPower: "RSSI at 1 m (dBm)", pathLossExponent: "Path loss exponent",
  id: "Id", name: "Name", radius: "Radius (m)",
};
const numbers = new Set(["major", "minor", "x", "y", "z", "measuredPower", "pathLossExponent", "radius"]);
const required = new Set(["x", "y", "major", "minor", "radius"]);

/**
 * A field of the panel.
 * @typedef {{input: any, read: () => string}} Binding
 */

export class Fields {
  /** @param {import("./edit-app.js").EditApp} app */
  constructor(app) {
    this.app = app;
    this.root = byId("fields");
    this.form = "";
    /** @type {Binding[]} */
    this.bindings = [];
  }

  get one() { return objectAt(this.app.document, this.app.selected); }

  /** Shows the selected object. The fields stay while the object has the same ones, and with them the focus. */
  show() {
    const { selected, document } = this.app;
    byId("selection").hidden = !selected || !this.one;
    if (!selected || !this.one) {
      this.form = "";
      return;
    }
    const kind = selected.kind === "beacon" ? namingOf(this.one)?.id ?? "receiver" : selected.kind;
    setText(byId("selection-name"), titleOf(document, selected));
    const corners = hasCorners(document, selected) ? shapeAt(document, selected).length : 0;
    const form = JSON.stringify([selected, kind, corners]);
    if (form !== this.form) {
      this.form = form;
      this.bindings = [];
      this.root.replaceChildren(...this.contents(kind, corners));
    }
    for (const { input, read } of this.bindings) {
      if (input !== window.document.activeElement) input.value = read();
    }
    this.root.querySelectorAll("[data-corner]").forEach((/** @type {any} */ row) => {
      row.classList.toggle("chosen", Number(row.dataset.corner) === this.app.corner);
    });
  }

  /**
   * @param {string} kind
   * @param {number} corners
   * @returns {Node[]}
   */
  contents(kind, corners) {
    if (kind === "wall") return [this.cornerList(corners)];
    if (kind === "room") {
      const shape = corners > 0 ? [this.cornerList(corners)] : [this.row(["x", "y", "radius"])];
      return [this.field("name"), this.row(["id"]), this.floor(), ...shape];
    }
    const place = [this.floor(), this.row(["x", "y"]), this.row(["z"])];
    const radio = this.row(["measuredPower", "pathLossExponent"]);
    if (kind === "receiver") return [this.field("id"), ...place, radio];
    const names = namings.find((naming) => naming.id === kind)?.fields ?? [];
    const address = [this.field("address"), this.choice("addressType", [["", "not stated"], ["public", "public"], ["random", "random"]])];
    const own = names.filter((name) => name !== "address");
    const pairs = own.includes("major") ? [this.field("uuid"), this.row(["major", "minor"])]
      : own.map((name) => this.field(name));
    return [this.naming(), ...pairs, ...address, ...place, radio];
  }

  /** @param {string[]} names */
  row(names) { return make("div", { class: "row" }, ...names.map((name) => this.field(name))); }

  /** @param {string} name */
  field(name) {
    const isNumber = numbers.has(name) || (name === "id" && this.app.selected?.kind === "room");
    const problem = make("span", { class: "invalid", id: `invalid-${name}`, role: "alert", hidden: "" });
    const input = make("input", {
      type: "text", id: `field-${name}`, name, autocomplete: "off", spellcheck: "false",
      inputmode: isNumber ? "decimal" : null, "aria-describedby": problem.id,
      onchange: () => this.enter(name, isNumber, input, problem),
    });
    this.bindings.push({ input, read: () => textOf(this.one?.[name]) });
    return make("label", { class: "field" }, make("span", {}, titles[name] ?? name), input, problem);
  }

  /**
   * @param {string} name
   * @param {boolean} isNumber
   * @param {any} input
   * @param {any} problem
   */
  enter(name, isNumber, input, problem) {
    const text = input.value.trim();
    const number = numberOf(text);
    const isMissing = text === "" && (required.has(name) || (name === "id" && isNumber));
    const isWrong = isNumber && (isMissing || !Number.isFinite(number));
    problem.hidden = !isWrong;
    setText(problem, isWrong ? "Give a number." : "");
    input.setAttribute("aria-invalid", String(isWrong));
    const { selected, document } = this.app;
    if (isWrong || !selected) return;
    const value = text === "" ? (name === "name" ? "" : undefined) : isNumber ? number : text;
    if (value === this.one[name]) return;
    const changed = withFields(this.one, { [name]: value });
    this.app.change(replaced(document, selected, changed), `Change ${titles[name] ?? name}`);
  }

  /**
   * @param {string} name
   * @param {string[][]} options
   */
  choice(name, options) {
    const select = make("select", {
      id: `field-${name}`, name,
      onchange: () => this.set({ [name]: select.value === "" ? undefined : select.value }, name),
    }, ...options.map(([value, text]) => make("option", { value }, text)));
    this.bindings.push({ input: select, read: () => textOf(this.one?.[name]) });
    return make("label", { class: "field" }, make("span", {}, titles[name]), select);
  }

  /** The choice of the map. */
  floor() {
    const select = make("select", {
      id: "field-mapId", name: "mapId", onchange: () => this.set({ mapId: Number(select.value) }, "floor"),
    }, ...mapsOf(this.app.document).map((map) => make("option", { value: map.id }, map.name)));
    this.bindings.push({ input: select, read: () => textOf(this.one?.mapId) });
    return make("label", { class: "field" }, make("span", {}, "Floor"), select);
  }

  /** The choice of the kind of a beacon's name. */
  naming() {
    const select = make("select", {
      id: "field-naming", name: "naming",
      onchange: () => {
        const { selected, document } = this.app;
        if (!selected) return;
        const beacon = renamed(this.one, select.value, nextIdentity(document, this.one.mapId));
        this.app.change(replaced(document, selected, beacon), "Change the kind of the identity");
      },
    }, ...namings.map((naming) => make("option", { value: naming.id }, naming.title)));
    this.bindings.push({ input: select, read: () => namingOf(this.one)?.id ?? "" });
    return make("label", { class: "field" }, make("span", {}, "Kind"), select);
  }

  /**
   * @param {Record<string, any>} fields
   * @param {string} name
   */
  set(fields, name) {
    const { selected, document } = this.app;
    if (selected) this.app.change(replaced(document, selected, withFields(this.one, fields)), `Change ${name}`);
  }

  /**
   * The corners as numbers.
   * @param {number} count
   */
  cornerList(count) {
    const rows = Array.from({ length: count }, (_, index) => make("div", {
      class: "row corner", "data-corner": index, role: "group", "aria-label": `Corner ${index + 1}`,
      onfocusin: () => this.app.select(this.app.selected, index),
    }, this.coordinate(index, 0), this.coordinate(index, 1)));
    return make("fieldset", { id: "corners" }, make("legend", {}, `${count} corners (m)`), ...rows);
  }

  /**
   * @param {number} corner
   * @param {number} axis 0 for x, 1 for y
   */
  coordinate(corner, axis) {
    const input = make("input", {
      type: "text", inputmode: "decimal", autocomplete: "off", "aria-label": axis === 0 ? "x" : "y",
      onchange: () => {
        const { selected, document } = this.app;
        const number = numberOf(input.value);
        const isWrong = input.value.trim() === "" || !Number.isFinite(number);
        input.setAttribute("aria-invalid", String(isWrong));
        if (isWrong || !selected) return;
        const corners = shapeAt(document, selected).map((one) => [...one]);
        corners[corner][axis] = number;
        this.app.change(reshaped(document, selected, corners), "Move a corner");
      },
    });
    this.bindings.push({
      input, read: () => textOf(this.app.selected && shapeAt(this.app.document, this.app.selected)[corner]?.[axis]),
    });
    return input;
  }
}

/**
 * Returns the number that a person entered, with a comma or a point and any minus sign; NaN for another text.
 * @param {string} text
 */
function numberOf(text) { return Number(text.replace(",", ".").replace("\u2212", "-")); }

/** @param {any} value */
function textOf(value) {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? String(value.text ?? "") : String(value);
}
