// @ts-check
/** The fields of the selected object. */
import { byId, make, setText } from "./dom.js";
import { oneLine, readJSON } from "./json-source.js";
import { namingOf, namings, nextIdentity, renamed, withOtherRole } from "./venue-beacons.js";
import { kindNamed } from "./venue-kinds.js";
import { changed, hasCorners, isClosed, mapsOf, objectAt, radiusAt, replaced, reshaped, shapeAt } from "./venue-objects.js";
import { titleOf, withOtherShape } from "./venue-objects.js";
import { nodesToJoin, withStairs } from "./venue-paths.js";
import { isNumber, listOf } from "./venue-values.js";

/** @typedef {import("./venue-kinds.js").Field} Field */
/**
 * A field of the panel.
 * @typedef {{input: any, show: () => void}} Binding
 */

export class Fields {
  /** @param {import("./edit-app.js").EditApp} app */
  constructor(app) {
    this.app = app;
    this.root = byId("fields");
    this.form = "";
    /** @type {Binding[]} */
    this.bindings = [];
    byId("selection").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.pressed(event));
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
    const kind = kindNamed(selected.kind);
    setText(byId("selection-name"), titleOf(document, selected));
    setText(byId("selection-kind"), kind.title);
    const rows = kind.fields(this.one);
    const corners = isClosed(document, selected) || kind.shape === "line" ? shapeAt(document, selected).length : 0;
    const joins = kind.id === "node" ? nodesToJoin(document, this.one).map(({ node }) => node.id) : [];
    const keys = rows.map((row) => row.map((field) => field.key));
    const form = JSON.stringify([selected, keys, corners, joins, mapsOf(document).map((map) => [map.id, map.name])]);
    if (form !== this.form) {
      this.form = form;
      this.bindings = [];
      this.root.replaceChildren(
        ...rows.map((row) => make("div", { class: "row" }, ...row.map((field) => this.control(field)))),
        ...(corners > 0 ? [this.cornerList(corners)] : []));
    }
    for (const { input, show } of this.bindings) if (input !== window.document.activeElement) show();
    this.root.querySelectorAll("[data-corner]").forEach((/** @type {any} */ row) => {
      row.classList.toggle("chosen", Number(row.dataset.corner) === this.app.corner);
    });
  }

  /**
   * Leaves a field. With Enter, the focus stays in the panel, where no key has an effect on the plan: a person may go on
   * typing. With Escape, the field gets its earlier value, and the plan the focus.
   * @param {KeyboardEvent} event
   */
  pressed(event) {
    const input = event.target;
    const isField = input instanceof HTMLInputElement && input.type === "text";
    if (event.key === "Enter" && isField) {
      event.preventDefault();
      byId("selection-name").focus();
    } else if (event.key === "Escape") {
      event.preventDefault();
      if (isField) this.bindings.find((one) => one.input === input)?.show();
      byId("plan").focus();
    }
  }

  /**
   * @param {Field} field
   * @returns {Node}
   */
  control(field) {
    switch (field.type) {
      case "choice": return this.choice(field.key, field.title, field.options ?? [], {
        read: () => textOf(this.one?.[field.key]),
        write: (value) => this.set({ [field.key]: value === "" ? undefined : value }, field.title),
      });
      case "floor": {
        const maps = mapsOf(this.app.document).map((map) => [String(map.id), map.name]);
        return this.choice(field.key, field.title, maps, {
          read: () => textOf(this.one?.mapId), write: (value) => this.set({ mapId: Number(value) }, "floor"),
        });
      }
      case "role": return this.choice(field.key, field.title, [["beacon", "Beacon"], ["receiver", "Receiver of tags"]], {
        read: () => this.app.selected?.kind ?? "",
        write: () => this.replace(withOtherRole(this.app.document, this.one), "Change the use"),
      });
      case "naming": return this.choice(field.key, field.title, namings.map((one) => [one.id, one.title]), {
        read: () => namingOf(this.one ?? {}).id,
        write: (value) => this.replace(
          renamed(this.one, value, nextIdentity(this.app.document, this.one.mapId)), "Change the kind of the identity"),
      });
      case "shape": return this.choice(field.key, field.title, [["polygon", "Polygon"], ["circle", "Circle"]], {
        read: () => (this.app.selected && radiusAt(this.app.document, this.app.selected) !== null ? "circle" : "polygon"),
        write: () => {
          const { selected, document } = this.app;
          if (selected) this.app.change(withOtherShape(document, selected), "Change the shape");
        },
      });
      case "join": return this.join(field);
      case "check": return this.check(field);
      default: return this.textField(field);
    }
  }

  /** @param {Field} field */
  textField(field) {
    const isNumeric = field.type === "number" || field.type === "integer";
    const problem = make("span", { class: "invalid", id: `invalid-${field.key}`, role: "alert", hidden: "" });
    const read = (/** @type {any} */ value) => (field.type === "json" && value !== undefined ? oneLine(value) : textOf(value));
    const input = make("input", {
      type: "text", id: `field-${field.key}`, name: field.key, autocomplete: "off", spellcheck: "false",
      inputmode: isNumeric ? "decimal" : null, "aria-describedby": problem.id,
      onchange: () => {
        const { value, fault } = valueOf(field, input.value.trim());
        problem.hidden = fault === "";
        setText(problem, fault);
        input.setAttribute("aria-invalid", String(fault !== ""));
        if (fault === "" && read(value) !== read(this.one?.[field.key])) this.set({ [field.key]: value }, field.title);
      },
    });
    this.bind(input, () => read(this.one?.[field.key]));
    return make("label", { class: "field" }, make("span", {}, field.title), input, problem);
  }

  /**
   * @param {any} input
   * @param {() => string} read
   */
  bind(input, read) {
    this.bindings.push({ input, show: () => { input.value = read(); } });
  }

  /**
   * @param {string} key
   * @param {string} title
   * @param {string[][]} options
   * @param {{read: () => string, write: (value: string) => void}} value
   */
  choice(key, title, options, value) {
    const select = make(
      "select", { id: `field-${key}`, name: key, onchange: () => value.write(select.value) },
      ...options.map(([name, text]) => make("option", { value: name }, text)));
    this.bind(select, value.read);
    return make("label", { class: "field" }, make("span", {}, title), select);
  }

  /** @param {Field} field */
  check(field) {
    const input = make("input", {
      type: "checkbox", id: `field-${field.key}`, name: field.key,
      onchange: () => this.set({ [field.key]: input.checked ? true : undefined }, field.title),
    });
    this.bindings.push({ input, show: () => { input.checked = this.one?.[field.key] === true; } });
    return make("label", { class: "choice" }, input, field.title);
  }

  /**
   * The choice of a node of another floor, to which stairs lead.
   * @param {Field} field
   */
  join(field) {
    const { document } = this.app;
    const names = new Map(mapsOf(document).map((map) => [map.id, map.name]));
    const options = nodesToJoin(document, this.one).map(({ node, far }) => (
      [String(node.id), `${names.get(node.mapId) ?? node.mapId}: node ${node.id}, ${far.toFixed(1)} m away`]));
    return this.choice(field.key, field.title, [["", "Choose a node"], ...options], {
      read: () => "",
      write: (value) => {
        if (value !== "") this.app.change(withStairs(this.app.document, this.one.id, Number(value)), "Add stairs");
      },
    });
  }

  /**
   * @param {Record<string, any>} fields
   * @param {string} name
   */
  set(fields, name) {
    const { selected, document } = this.app;
    if (selected) this.app.change(changed(document, selected, fields), `Change ${name}`);
  }

  /**
   * @param {any} one
   * @param {string} name
   */
  replace(one, name) {
    const { selected, document } = this.app;
    if (selected) this.app.change(replaced(document, selected, one), name);
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
        if (isWrong || !selected || !hasCorners(document, selected)) return;
        const corners = shapeAt(document, selected).map((one) => [...one]);
        corners[corner][axis] = number;
        this.app.change(reshaped(document, selected, corners), "Move a corner");
      },
    });
    this.bind(input, () => textOf(this.app.selected && shapeAt(this.app.document, this.app.selected)[corner]?.[axis]));
    return input;
  }
}

/**
 * Returns the number that a person entered, with a comma or a point and any minus sign; NaN for another text.
 * @param {string} text
 */
export function numberOf(text) { return Number(text.replace(",", ".").replace("\u2212", "-")); }

/**
 * Returns the value that a person entered, or why it can't be used.
 * @param {Field} field
 * @param {string} text
 * @returns {{value: any, fault: string}}
 */
function valueOf(field, text) {
  if (text === "" && !field.isRequired) return { value: field.key === "name" ? "" : undefined, fault: "" };
  switch (field.type) {
    case "number": case "integer": {
      const value = text === "" ? NaN : numberOf(text);
      const isRight = Number.isFinite(value) && (field.type === "number" || Number.isSafeInteger(value));
      return { value, fault: isRight ? "" : field.type === "number" ? "Give a number." : "Give a whole number." };
    }
    case "words": return { value: text.split(",").map((one) => one.trim()).filter((one) => one !== ""), fault: "" };
    case "json":
      try {
        return { value: readJSON(text), fault: "" };
      } catch {
        return { value: undefined, fault: "Give a JSON value, such as {\"icon\": \"desk\"} or \"text\"." };
      }
    default: return { value: text, fault: "" };
  }
}

/** @param {any} value */
function textOf(value) {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value.join(", ");
  // A number that JavaScript can't represent has its text.
  return typeof value === "object" ? oneLine(value) : String(value);
}
