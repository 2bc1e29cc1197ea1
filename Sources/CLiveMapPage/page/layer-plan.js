// @ts-check
import { drawAreaNames, drawAreas, drawFixedBeacons, drawPoints } from "./layer-venue.js";
import { drawHeat, drawRadioMap, drawSurveyPoints } from "./layer-radio-map.js";
import { drawTiles } from "./layer-tiles.js";

/**
 * Draws what changes only with the view: the image of the plan, its walls, and the places of the venue. Returns the boxes
 * of the labels, and of all that other labels must not cover.
 * @param {import("./plan.js").Pass} pass
 * @param {import("./images.js").Images} images
 */
export function drawPlan(pass, images) {
  const { context, view, scene, palette } = pass;
  const { map, layers } = scene;
  const [left, top] = view.toScreen(0, 0);
  const width = map.width * view.scale;
  const height = map.height * view.scale;
  context.fillStyle = palette.plan;
  context.fillRect(left, top, width, height);

  const image = layers.has("image") && map.hasImage ? images.plan(scene.venue.id, map.id) : null;
  const hasTiles = layers.has("image") && map.tiles !== null && map.tiles !== undefined && drawTiles(pass, images);
  if (!hasTiles && image) {
    context.imageSmoothingQuality = "high";
    context.drawImage(image, left, top, width, height);
  }
  const hasPicture = hasTiles || image !== null;
  if (layers.has("walls") && !hasPicture) drawWalkable(pass);
  if (scene.radioMap) drawRadioMap(pass);
  const heat = scene.heats?.get(map.id);
  if (heat) drawHeat(pass, heat.grid, heat.canvas);
  drawAreas(pass, hasPicture);
  // An editor draws walls over those of the image, and more labels than there is room for.
  const isEdited = layers.has("edited");
  if (layers.has("walls")) drawWalls(pass, hasPicture && isEdited);
  const marks = isEdited ? markBoxes(pass) : [];
  const boxes = [...marks];
  drawAreaNames(pass, boxes);
  if (layers.has("points")) drawPoints(pass, isEdited ? boxes : undefined);
  if (layers.has("beacons")) drawFixedBeacons(pass);
  if (scene.radioMap) drawSurveyPoints(pass);
  context.strokeStyle = palette.line;
  context.lineWidth = 1;
  context.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
  return { labels: boxes.slice(marks.length), taken: boxes };
}

/**
 * Returns the boxes of what an editor draws over the plan: the marks of beacons and the like, and the pins.
 * @param {import("./plan.js").Pass} pass
 */
function markBoxes({ view, scene }) {
  const around = (/** @type {any} */ one, /** @type {number[]} */ [left, top, right, bottom]) => {
    const [x, y] = view.toScreen(one.x, one.y);
    return [x + left, y + top, x + right, y + bottom];
  };
  const isHere = (/** @type {any} */ one) => one.mapId === scene.map.id;
  return [
    ...scene.venue.marks.filter(isHere).map((/** @type {any} */ one) => around(one, [-7, -7, 7, 7])),
    ...scene.venue.pointsOfInterest.filter(isHere).map((/** @type {any} */ one) => around(one, [-7, -20, 7, 0])),
  ];
}

/** @param {import("./plan.js").Pass} pass */
function drawWalkable({ context, view, scene, palette }) {
  context.fillStyle = palette.walkable;
  context.beginPath();
  for (const polygon of scene.map.walkable) trace(context, view, polygon, true);
  context.fill("evenodd");
}

/**
 * @param {import("./plan.js").Pass} pass
 * @param {boolean} isDistinct whether they differ from the walls of a picture below them, which usually are black lines
 */
function drawWalls({ context, view, scene, palette }, isDistinct) {
  const width = Math.max(1.4, Math.min(4, 0.12 * view.scale));
  context.lineJoin = "round";
  context.lineCap = "round";
  context.beginPath();
  for (const line of scene.map.walls) trace(context, view, line, false);
  if (isDistinct) {
    context.strokeStyle = palette.halo;
    context.lineWidth = width + 4;
    context.stroke();
  }
  context.strokeStyle = isDistinct ? palette.drawn : palette.wall;
  context.lineWidth = width;
  context.stroke();
}

/**
 * Adds a polyline of x, y, x, y, … in metres to the path.
 * @param {CanvasRenderingContext2D} context
 * @param {import("./view.js").View} view
 * @param {number[]} line
 * @param {boolean} isClosed
 */
function trace(context, view, line, isClosed) {
  for (let index = 0; index + 1 < line.length; index += 2) {
    const [x, y] = view.toScreen(line[index], line[index + 1]);
    if (index === 0) context.moveTo(x, y);
    else context.lineTo(x, y);
  }
  if (isClosed) context.closePath();
}
