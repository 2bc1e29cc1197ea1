// @ts-check
/** What pointers and keys do on the plan with each tool. */
import { handleUnder, objectsUnder, snapped } from "./edit-geometry.js";
import { kindNamed, kinds } from "./venue-kinds.js";
import { added, fewestCorners, handlesAt, hasCorners, isSame, replaced, reshaped, shapeAt } from "./venue-objects.js";
import { titleOf } from "./venue-objects.js";

/** The pixels around a line or a point in which a pointer meets it. */
const reach = 10;
/** The metres that an arrow key moves the pointer of a drawing tool, and with the shift key. */
const strides = [0.25, 1];

/** Returns the shape that a tool draws: the line of the scale, or that of a kind. */
const shapeOf = (/** @type {string} */ tool) => (tool === "scale" ? "line" : kindNamed(tool).drawn ?? kindNamed(tool).shape);
const named = (/** @type {string} */ kind) => kindNamed(kind).title.toLowerCase();

export class Tools {
  /** @param {import("./edit-app.js").EditApp} app */
  constructor(app) {
    this.app = app;
    /** "select", "delete", "scale", or the kind of the objects that are drawn. */
    this.tool = "select";
    /** The shape that is being drawn. @type {{kind: string, corners: number[][]}|null} */
    this.draft = null;
    /** The place of the pointer on the map in metres. @type {number[]|null} */
    this.pointer = null;
    this.isSnapped = false;
    /** @type {{reference: any, corner: number|null, isNew: boolean, start: number[], corners: number[][]}|null} */
    this.drag = null;
    /** The place of the latest click on objects, in pixels. @type {number[]|null} */
    this.clicked = null;
  }

  get map() { return this.app.plan.scene.map; }

  get isDrawing() { return this.tool === "scale" || kinds.some((kind) => kind.id === this.tool); }

  /** The metres around a line or a point in which a pointer meets it. */
  get reach() { return reach / this.app.plan.view.scale; }

  /** @param {string} tool */
  choose(tool) {
    this.tool = tool;
    this.draft = null;
    this.app.showKind(tool);
    this.app.toolChanged();
  }

  /**
   * Returns where a pointer is on the map, after snapping.
   * @param {number} px
   * @param {number} py
   * @param {{shiftKey?: boolean}} event
   * @param {number[]|null} origin the place to whose axis it keeps with the shift key
   * @param {number[][]} own corners that move with it
   */
  placeOf(px, py, event, origin, own = []) {
    return this.snap(this.app.plan.view.toMap(px, py), event.shiftKey === true, origin, own);
  }

  /**
   * @param {number[]} place
   * @param {boolean} toAxis
   * @param {number[]|null} origin
   * @param {number[][]} own
   */
  snap(place, toAxis, origin, own) {
    const moving = this.drag?.reference.kind ?? this.tool;
    const isPoint = moving === "select" || moving === "delete" || moving === "scale" || kindNamed(moving).shape === "point"
      || (moving === "path" && this.drag !== null);
    const to = !this.app.snapsToCorners || isPoint ? "nothing" : moving === "path" ? "paths" : "corners";
    // Not to the state during a drag, in which the moved corner is near to itself.
    const found = snapped(this.app.history.document, this.map.id, place, {
      reach: this.reach, to, toAxis, origin, own, isShown: (kind) => this.app.isShown(kind) });
    // The outline of the map is the border of what can be drawn.
    const [x, y] = [
      Math.min(this.map.width, Math.max(0, found.place[0])), Math.min(this.map.height, Math.max(0, found.place[1]))];
    return { place: [x, y], isCorner: found.isCorner };
  }

  // Pointers

  /**
   * Returns the objects at a place, the one that a click means first.
   * @param {number[]} place
   */
  under(place) {
    return objectsUnder(this.app.document, this.map.id, place, this.reach, (kind) => this.app.isShown(kind));
  }

  /**
   * Whether a pointer that goes down moves something.
   * @param {number} px
   * @param {number} py
   */
  grabbed(px, py) {
    if (this.tool !== "select" || !this.map) return false;
    const { document, selected } = this.app;
    const place = this.app.plan.view.toMap(px, py);
    const handle = this.app.isSelectedShown ? handleUnder(document, selected, place, this.reach) : null;
    const under = handle ? [] : this.under(place);
    // The selected object is moved even if another one is above it.
    const isChosen = handle !== null || under.some((one) => isSame(one, selected));
    const reference = isChosen ? selected : under[0];
    // A room is moved only after it was chosen, so that the plan can be moved by any of its areas.
    if (!reference || (kindNamed(reference.kind).shape !== "point" && !isChosen)) return false;
    const corners = handlesAt(document, reference).map((one) => [...one]);
    this.drag = { reference, corner: handle?.corner ?? null, isNew: handle?.isNew ?? false, start: place, corners };
    if (!isChosen) this.app.select(reference);
    return true;
  }

  /**
   * @param {number} px
   * @param {number} py
   * @param {PointerEvent} event
   */
  dragged(px, py, event) {
    const { drag } = this;
    if (!drag) return;
    const corners = drag.corners.map((one) => [...one]);
    const isCentred = !hasCorners(this.app.history.document, drag.reference);
    if (drag.corner === null) {
      // A circle keeps its radius.
      const own = isCentred ? corners.slice(0, 1) : corners;
      // The nearest corner to the pointer leads.
      const lead = own.reduce((best, one) => (
        Math.hypot(one[0] - drag.start[0], one[1] - drag.start[1]) < Math.hypot(best[0] - drag.start[0], best[1] - drag.start[1])
          ? one : best));
      const [x, y] = this.app.plan.view.toMap(px, py);
      const wanted = [lead[0] + x - drag.start[0], lead[1] + y - drag.start[1]];
      const { place, isCorner } = this.snap(wanted, event.shiftKey, lead, drag.corners);
      this.show(place, isCorner);
      const [dx, dy] = [place[0] - lead[0], place[1] - lead[1]];
      this.app.preview(reshaped(
        this.app.history.document, drag.reference, own.map((one) => [one[0] + dx, one[1] + dy])));
      return;
    }
    const origin = corners[(drag.corner + corners.length - 1) % corners.length];
    const own = drag.isNew ? [] : [drag.corners[drag.corner]];
    const { place, isCorner } = this.placeOf(px, py, event, origin, own);
    this.show(place, isCorner);
    if (drag.isNew) corners.splice(drag.corner, 0, place);
    else corners[drag.corner] = place;
    if (!isCentred) this.app.corner = drag.corner;
    this.app.preview(reshaped(this.app.history.document, drag.reference, corners));
  }

  /** @param {boolean} isCancelled */
  dropped(isCancelled) {
    const drag = this.drag;
    this.drag = null;
    if (!drag) return;
    const name = drag.corner === null ? "Move" : drag.isNew ? "Add a corner" : "Move a corner";
    if (isCancelled) this.app.preview(null);
    else this.app.commitPreview(`${name}: ${titleOf(this.app.document, drag.reference)}`);
  }

  /**
   * @param {number} px
   * @param {number} py
   * @param {{shiftKey?: boolean}} event
   */
  tapped(px, py, event) {
    if (!this.map) return;
    if (this.isDrawing) {
      const { place } = this.placeOf(px, py, event, this.draft?.corners.at(-1) ?? null);
      this.set(place);
      return;
    }
    const place = this.app.plan.view.toMap(px, py);
    const { selected } = this.app;
    const handle = this.app.isSelectedShown ? handleUnder(this.app.document, selected, place, this.reach) : null;
    if (this.tool === "select" && handle && !handle.isNew && selected && hasCorners(this.app.document, selected)) {
      this.app.select(selected, handle.corner);
      return;
    }
    const under = this.under(place);
    if (this.tool === "delete" && under.length > 0) {
      this.app.remove(under[0]);
      return;
    }
    // A second click at the same place means the next object there.
    const isSecond = this.clicked !== null && Math.hypot(this.clicked[0] - px, this.clicked[1] - py) < 4;
    const last = under.findIndex((one) => isSame(one, this.app.selected));
    this.clicked = [px, py];
    this.app.select(under[isSecond && last >= 0 ? (last + 1) % under.length : 0] ?? null);
  }

  /**
   * @param {number} px
   * @param {number} py
   * @param {PointerEvent} event
   */
  hovered(px, py, event) {
    if (!this.map || this.drag) return;
    const found = this.isDrawing ? this.placeOf(px, py, event, this.draft?.corners.at(-1) ?? null)
      : { place: this.app.plan.view.toMap(px, py), isCorner: false };
    this.show(found.place, found.isCorner);
  }

  /**
   * @param {number[]|null} place
   * @param {boolean} isSnapped
   */
  show(place, isSnapped) {
    this.pointer = place;
    this.isSnapped = isSnapped;
    this.app.pointerMoved();
  }

  // Drawing

  /**
   * Sets a point, or the next corner of a shape.
   * @param {number[]} place
   */
  set(place) {
    if (!this.isDrawing) return;
    const shape = shapeOf(this.tool);
    if (shape === "point") {
      this.app.add(this.tool, [place]);
      return;
    }
    const corners = this.draft?.corners ?? [];
    const isNear = (/** @type {number[]|undefined} */ one) => one !== undefined
      && Math.hypot(one[0] - place[0], one[1] - place[1]) <= this.reach;
    // A second click at the last corner, or one at the first corner, ends the shape.
    const isArea = shape === "area" || shape === "polygon";
    if (isNear(corners.at(-1)) || (corners.length > 2 && isArea && isNear(corners[0]))) {
      this.finish();
      return;
    }
    this.draft = { kind: this.tool, corners: [...corners, place] };
    if (this.tool === "scale" && corners.length === 1) this.app.floorPanel.askLength([...corners, place]);
    this.app.draftChanged();
  }

  /** Ends the shape that is being drawn, if it has enough corners. */
  finish() {
    const draft = this.draft;
    if (!draft || draft.kind === "scale") return;
    const fewest = fewestCorners(draft.kind);
    if (draft.corners.length < fewest) {
      this.app.say(`A ${named(draft.kind)} needs at least ${fewest} corners.`);
      return;
    }
    this.draft = null;
    this.app.add(draft.kind, draft.corners);
    this.app.draftChanged();
  }

  /** Removes the last corner of the shape that is being drawn. Returns false without a shape. */
  takeBack() {
    if (!this.draft) return false;
    const corners = this.draft.corners.slice(0, -1);
    this.draft = corners.length > 0 ? { ...this.draft, corners } : null;
    this.app.draftChanged();
    return true;
  }

  /** Ends what is going on: the shape, the tool, or the selection. */
  escape() {
    if (this.draft) {
      this.draft = null;
      this.app.draftChanged();
    } else if (this.tool !== "select") {
      this.choose("select");
    } else {
      this.app.select(null);
    }
  }

  // Keys

  /**
   * Moves the selected object or corner, the pointer of a drawing tool, or the plan.
   * @param {number} dx -1, 0 or 1
   * @param {number} dy -1, 0 or 1
   * @param {boolean} isWide
   */
  nudge(dx, dy, isWide) {
    const { view } = this.app.plan;
    if (!this.map) return;
    if (this.isDrawing) {
      const stride = strides[isWide ? 1 : 0];
      const from = this.pointer ?? view.toMap(view.width / 2, view.height / 2);
      const { place, isCorner } = this.snap([from[0] + dx * stride, from[1] + dy * stride], false, null, []);
      // A corner in reach would hold the pointer for ever.
      this.show(isCorner && place[0] === from[0] && place[1] === from[1]
        ? [from[0] + dx * stride, from[1] + dy * stride] : place, isCorner);
      return;
    }
    const { selected, corner, document } = this.app;
    if (!selected || !this.app.isSelectedShown) {
      view.pan(-dx * 64, -dy * 64);
      this.app.plan.invalidate();
      return;
    }
    const far = isWide ? 1 : 0.1;
    const corners = shapeAt(document, selected).map(([x, y], index) => (
      corner === null || corner === index ? [x + dx * far, y + dy * far] : [x, y]));
    this.app.change(
      reshaped(document, selected, corners), `Move: ${titleOf(document, selected)}`,
      `nudge ${selected.kind} ${selected.index} ${corner}`);
  }

  /** Deletes the selected corner, or the selected object. */
  deleteSelected() {
    const { selected, corner, document } = this.app;
    if (!selected) return;
    const corners = shapeAt(document, selected);
    if (corner === null || !hasCorners(document, selected) || selected.kind === "path") {
      this.app.remove(selected);
    } else if (corners.length <= fewestCorners(selected.kind)) {
      const kind = named(selected.kind);
      this.app.say(`A ${kind} needs at least ${fewestCorners(selected.kind)} corners. Select the whole ${kind} to delete it.`);
    } else {
      this.app.corner = null;
      this.app.change(
        reshaped(document, selected, corners.filter((_, index) => index !== corner)),
        `Delete a corner: ${titleOf(document, selected)}`);
    }
  }

  /**
   * Returns the document without an object.
   * @param {any} reference
   */
  without(reference) { return replaced(this.app.document, reference, undefined); }

  /**
   * Returns the document with a new object.
   * @param {string} kind
   * @param {number[][]} corners
   */
  with(kind, corners) {
    const { selected, document } = this.app;
    return added(document, kind, this.map.id, corners, selected?.kind === "walk" ? selected.index : undefined);
  }
}
