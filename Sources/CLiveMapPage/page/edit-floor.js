// @ts-check
/** The panels of the shown floor and of the venue: names, levels, images, the scale and the radio map. */
import { byId, make, setText } from "./dom.js";
import { numberOf } from "./edit-fields.js";
import { pictureSize, uploadPlan, uploadRadioMap } from "./edit-store.js";
import { number } from "./format.js";
import { withCopiedFloor, withImage, withMap, withNewFloor, withScale, withoutFloor } from "./venue-floors.js";
import { countsOf, objectsOn } from "./venue-objects.js";
import { listOf, withFields } from "./venue-values.js";

export class FloorPanel {
  /** @param {import("./edit-app.js").EditApp} app */
  constructor(app) {
    this.app = app;
    /** The ends of the line whose length is asked for, in metres. @type {number[][]} */
    this.line = [];
    const actions = {
      "floor-add": () => this.open(withNewFloor(app.document, app.plan.scene.map), "Add a floor"),
      "floor-copy": () => this.open(withCopiedFloor(app.document, this.mapId), "Copy the floor"),
      "floor-remove": () => this.ask(),
      "floor-image": () => byId("plan-file").click(),
      "choose-image": () => byId("plan-file").click(),
      "floor-scale": () => {
        app.tools.choose("scale");
        byId("plan").focus();
      },
      "radio-map-upload": () => byId("radio-map-file").click(),
      "removal-cancel": () => byId("removal").close(),
      "removal-confirm": () => this.remove(),
      "scale-cancel": () => byId("scale-dialog").close(),
    };
    for (const [id, act] of Object.entries(actions)) byId(id).addEventListener("click", act);
    byId("plan-file").addEventListener("change", () => this.chosen("plan-file", (file) => this.upload(file)));
    byId("radio-map-file").addEventListener("change", () => this.chosen("radio-map-file", (file) => this.attach(file)));
    byId("scale-form").addEventListener("submit", (/** @type {Event} */ event) => this.applyScale(event));
    this.bind("floor-name", (text) => this.set({ name: text }, "the floor's name"));
    this.bind("floor-level", (text) => this.setNumber("floor-level", text, "level", true));
    this.bind("floor-elevation", (text) => this.setNumber("floor-elevation", text, "elevation", false));
    this.bind("venue-name", (text) => this.setVenue({ name: text }, "the venue's name"));
    this.bind("venue-version", (text) => {
      const value = Number(text);
      const isRight = text !== "" && Number.isSafeInteger(value) && value >= 0;
      byId("venue-version").setAttribute("aria-invalid", String(!isRight));
      if (isRight) this.setVenue({ version: value }, "the version");
    });
    byId("radio-map").addEventListener("change", () => (
      this.setVenue({ radioMap: byId("radio-map").value || undefined }, "the radio map")));
  }

  get mapId() { return this.app.plan.scene.map?.id ?? -1; }
  get map() { return listOf(this.app.document.maps).find((one) => one?.id === this.mapId); }

  /**
   * @param {string} id
   * @param {(text: string) => void} enter
   */
  bind(id, enter) {
    const input = byId(id);
    input.addEventListener("change", () => enter(input.value.trim()));
    input.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault();
      if (event.key === "Escape") {
        this.show(input);
        byId("plan").focus();
      } else {
        input.closest("details").querySelector("summary").focus();
      }
    });
  }

  /**
   * Shows the floor and the venue.
   * @param {any} [restored] the field that gets its value although it has the focus
   */
  show(restored) {
    const { map } = this;
    const { document, overview } = this.app;
    byId("floor-panel").hidden = map === undefined;
    byId("choose-image").hidden = map === undefined || typeof map.image === "string" || typeof map.tiles === "string";
    const write = (/** @type {string} */ id, /** @type {any} */ value) => {
      const input = byId(id);
      if (input !== window.document.activeElement || input === restored) input.value = value ?? "";
    };
    write("venue-name", document.name);
    write("venue-version", document.version);
    const known = listOf(overview.radioMaps).map((one) => one.path);
    const used = typeof document.radioMap === "string" ? document.radioMap : "";
    const paths = [...new Set([...known, ...(used === "" ? [] : [used])])];
    const unused = known.filter((path) => path !== used);
    byId("radio-map").replaceChildren(
      make("option", { value: "" }, "None"), ...paths.map((path) => make("option", { value: path }, path)));
    byId("radio-map").value = used;
    setText(byId("radio-map-note"), used === "" && unused.length > 0
      ? `The packet has ${unused.join(", ")}, but doesn't use it.`
      : used === "" ? "The venue has no radio map." : sizeText(overview, used));
    if (map === undefined) return;
    setText(byId("floor-title"), `Floor: ${map.name}`);
    write("floor-name", map.name);
    write("floor-level", map.level ?? 0);
    write("floor-elevation", map.elevation);
    const image = typeof map.image === "string" ? `, ${map.image}` : ", without an image";
    setText(byId("floor-size"), `${number(map.widthMeters, 2)} × ${number(map.heightMeters, 2)} m${image}`);
    byId("floor-remove").disabled = document.maps.length < 2;
  }

  /**
   * @param {Record<string, any>} fields
   * @param {string} name
   */
  set(fields, name) { this.app.change(withMap(this.app.document, this.mapId, fields), `Change ${name}`); }

  /**
   * @param {Record<string, any>} fields
   * @param {string} name
   */
  setVenue(fields, name) { this.app.change(withFields(this.app.document, fields), `Change ${name}`); }

  /**
   * @param {string} id
   * @param {string} text
   * @param {string} key
   * @param {boolean} isLevel
   */
  setNumber(id, text, key, isLevel) {
    const value = text === "" ? NaN : numberOf(text);
    const isRight = isLevel ? Number.isSafeInteger(value) : text === "" || Number.isFinite(value);
    byId(id).setAttribute("aria-invalid", String(!isRight));
    if (isRight) this.set({ [key]: text === "" ? undefined : value }, `the ${key}`);
  }

  /**
   * Shows a new floor.
   * @param {{document: any, id: number}} added
   * @param {string} name
   */
  open(added, name) {
    this.app.change(added.document, name);
    this.app.chooseMap(added.id);
    byId("floor-panel").open = true;
    this.app.say(`${this.map?.name ?? "The floor"} added.`);
  }

  // Removing

  /** Asks before a floor is removed. */
  ask() {
    const { map } = this;
    if (!map) return;
    const counts = countsOf(objectsOn(this.app.document, this.mapId));
    setText(byId("removal-title"), `Remove ${map.name}?`);
    setText(byId("removal-text"), counts === "" ? "The floor has no objects."
      : `These are removed with it: ${counts}. Undo brings them back.`);
    byId("removal").showModal();
  }

  remove() {
    byId("removal").close();
    const { map } = this;
    if (!map) return;
    this.app.select(null);
    this.app.change(withoutFloor(this.app.document, this.mapId), `Remove ${map.name}`);
    this.app.showMap(this.app.plan.scene.map);
    this.app.say(`${map.name} removed. Ctrl+Z undoes it.`);
  }

  // Files

  /**
   * @param {string} id
   * @param {(file: File) => Promise<void>} use
   */
  async chosen(id, use) {
    const [file] = byId(id).files;
    // The same file can be chosen again.
    byId(id).value = "";
    if (!file) return;
    this.app.say(`${file.name} is being read.`);
    try {
      await use(file);
    } catch (error) {
      this.app.say(String(/** @type {any} */ (error).message));
    }
  }

  /** @param {File} file */
  async upload(file) {
    const { mapId } = this;
    const size = await pictureSize(file);
    const { path } = await uploadPlan(file);
    this.app.change(withImage(this.app.document, mapId, path, size), "Change the image");
    this.app.showMap(this.app.plan.scene.map);
    this.app.say("The image is shown. Set its scale: two clicks, and the distance between them.");
    byId("floor-panel").open = true;
  }

  /** @param {File} file */
  async attach(file) {
    const uploaded = await uploadRadioMap(file);
    const others = listOf(this.app.overview.radioMaps).filter((one) => one.path !== uploaded.path);
    this.app.overview = { ...this.app.overview, radioMaps: [...others, uploaded] };
    this.setVenue({ radioMap: uploaded.path }, "the radio map");
    this.app.say("The radio map is used from the next saving on.");
  }

  // The scale

  /**
   * Asks for the length of a line.
   * @param {number[][]} line its ends in metres
   */
  askLength(line) {
    this.line = line;
    this.app.tools.choose("select");
    const length = this.length;
    setText(byId("scale-present"), `On the plan, the line is ${number(length, 2)} m long.`);
    byId("scale-length").value = "";
    byId("scale-length").setAttribute("aria-invalid", "false");
    byId("scale-dialog").showModal();
    byId("scale-length").focus();
  }

  get length() {
    const [a, b] = this.line;
    return Math.hypot(a[0] - b[0], a[1] - b[1]);
  }

  /** @param {Event} event */
  applyScale(event) {
    event.preventDefault();
    const wanted = numberOf(byId("scale-length").value.trim() || "x");
    const isRight = Number.isFinite(wanted) && wanted > 0 && wanted < 100000;
    byId("scale-length").setAttribute("aria-invalid", String(!isRight));
    if (!isRight) return;
    byId("scale-dialog").close();
    const keeps = byId("scale-objects").checked;
    this.app.change(withScale(this.app.document, this.mapId, wanted / this.length, keeps), "Change the scale");
    this.app.showMap(this.app.plan.scene.map);
    const { map } = this;
    this.app.say(`The plan is ${number(map.widthMeters, 2)} × ${number(map.heightMeters, 2)} m now.`);
  }
}

/**
 * @param {any} overview
 * @param {string} path
 */
function sizeText(overview, path) {
  const found = listOf(overview.radioMaps).find((one) => one.path === path);
  return found ? `${number(found.bytes / 1000, 0)} kB` : "";
}
