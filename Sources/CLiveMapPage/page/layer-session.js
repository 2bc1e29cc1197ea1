// @ts-check
import { metres, number } from "./format.js";
import { claim, drawLabel, font, pointBoxes } from "./layer-venue.js";
import { isOfShownVenue } from "./plan.js";

/**
 * Draws what moves: the trail, the route, the heard beacons, the ground truth and the estimate.
 * @param {import("./plan.js").Pass} pass
 */
export function drawSession(pass) {
  const { scene } = pass;
  if (!scene.frame) return;
  if (scene.layers.has("trail")) drawTrails(pass);
  const isHere = isOfShownVenue(scene.frame, scene);
  if (isHere && scene.layers.has("route")) drawRoute(pass);
  if (scene.layers.has("beacons")) drawHeardBeacons(pass);
  if (isHere && scene.layers.has("estimate")) drawEstimate(pass);
  if (isHere && scene.layers.has("truth")) drawTruth(pass);
}

/** @param {import("./plan.js").Pass} pass */
function drawTrails({ context, view, scene, palette }) {
  const mapId = scene.map.id;
  for (const kind of ["truth", "estimate"]) {
    if (kind === "truth" && !scene.layers.has("truth")) continue;
    context.beginPath();
    let isDown = false;
    for (const frame of scene.trail) {
      const place = frame[kind];
      if (place && place.mapId === mapId && isOfShownVenue(frame, scene)) {
        const [x, y] = view.toScreen(place.x, place.y);
        if (isDown) context.lineTo(x, y);
        else context.moveTo(x, y);
        isDown = true;
      } else {
        isDown = false;
      }
    }
    context.strokeStyle = palette[kind];
    context.lineJoin = "round";
    context.lineCap = "round";
    context.globalAlpha = kind === "truth" ? 0.8 : 0.6;
    context.lineWidth = kind === "truth" ? 1.5 : 3;
    context.setLineDash(kind === "truth" ? [2, 5] : []);
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
  }
}

/** @param {import("./plan.js").Pass} pass */
function drawRoute({ context, view, scene, palette }) {
  const route = scene.frame.route ?? [];
  context.beginPath();
  let last = null;
  let previous = null;
  for (const place of route) {
    if (place.mapId === scene.map.id) {
      const [x, y] = view.toScreen(place.x, place.y);
      if (previous !== null && previous.mapId === place.mapId) context.lineTo(x, y);
      else context.moveTo(x, y);
      last = place === route[route.length - 1] ? [x, y] : null;
    }
    previous = place;
  }
  context.lineJoin = "round";
  context.lineCap = "round";
  context.strokeStyle = palette.halo;
  context.lineWidth = 8;
  context.stroke();
  context.strokeStyle = palette.route;
  context.lineWidth = 4;
  context.setLineDash([1, 8]);
  context.stroke();
  context.setLineDash([]);
  if (!last) return;
  // A flag marks the goal.
  const [x, y] = last;
  context.fillStyle = palette.route;
  context.fillRect(x - 1, y - 20, 2.5, 20);
  context.beginPath();
  context.moveTo(x + 1, y - 20);
  context.lineTo(x + 14, y - 15);
  context.lineTo(x + 1, y - 10);
  context.fill();
}

/** @param {import("./plan.js").Pass} pass */
function drawHeardBeacons(pass) {
  const { context, view, scene, palette } = pass;
  const heard = [...(scene.frame.beacons ?? [])].sort((a, b) => b.rssi - a.rssi).flatMap((beacon) => {
    const place = scene.venue.places.get(beacon.id);
    if (!place || place.mapId !== scene.map.id) return [];
    const [x, y] = view.toScreen(place.x, place.y);
    return [{ beacon, x, y }];
  });
  for (const { beacon, x, y } of heard) {
    context.globalAlpha = Math.max(0.4, 1 - beacon.age / 12);
    context.fillStyle = palette.heard;
    context.strokeStyle = palette.halo;
    context.lineWidth = 2;
    context.fillRect(x - 5, y - 5, 10, 10);
    context.strokeRect(x - 6, y - 6, 12, 12);
    context.globalAlpha = 1;
  }
  if (!scene.layers.has("readings")) return;
  // A label is left out where it would cover a point of interest, a beacon or the label of a stronger one.
  const boxes = pointBoxes(pass).concat(scene.venue.beacons.flatMap((/** @type {any} */ one) => {
    if (one.mapId !== scene.map.id) return [];
    const [x, y] = view.toScreen(one.x, one.y);
    return [[x - 6, y - 6, x + 6, y + 6]];
  }));
  context.font = font(12, 600);
  for (const { beacon, x, y } of heard) {
    const text = beacon.age >= 1.5 ? `${number(beacon.rssi)} · ${Math.round(beacon.age)} s` : number(beacon.rssi);
    const length = context.measureText(text).width + 3;
    const isAtEdge = x + 10 + length > pass.width;
    const box = isAtEdge ? [x - 10 - length, y - 8, x - 7, y + 8] : [x + 7, y - 8, x + 10 + length, y + 8];
    if (!claim(box, boxes)) continue;
    const align = isAtEdge ? "right" : "left";
    drawLabel(pass, text, isAtEdge ? x - 10 : x + 10, y, { color: palette.heard, size: 12, weight: 600, align });
  }
}

/** @param {import("./plan.js").Pass} pass */
function drawTruth(pass) {
  const { context, view, scene, palette } = pass;
  const truth = scene.frame.truth;
  if (!truth || truth.mapId !== scene.map.id) return;
  const [x, y] = view.toScreen(truth.x, truth.y);
  const estimate = scene.estimate;
  if (estimate && estimate.mapId === truth.mapId && scene.layers.has("estimate")) {
    const [ex, ey] = view.toScreen(estimate.x, estimate.y);
    context.strokeStyle = palette.truth;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(ex, ey);
    context.stroke();
    if (Math.hypot(ex - x, ey - y) > 56 && typeof scene.frame.error === "number") {
      drawLabel(pass, metres(scene.frame.error), (x + ex) / 2, (y + ey) / 2, { color: palette.truth, weight: 600 });
    }
  }
  // A cross in a ring differs from the estimate's disc by its shape, and leaves the disc visible below it.
  for (const [color, wider] of [[palette.halo, 2.5], [palette.truth, 0]]) {
    context.strokeStyle = /** @type {string} */ (color);
    context.lineWidth = 2 + /** @type {number} */ (wider);
    context.beginPath();
    context.arc(x, y, 9, 0, 2 * Math.PI);
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      context.moveTo(x + 4 * dx, y + 4 * dy);
      context.lineTo(x + 13 * dx, y + 13 * dy);
    }
    context.stroke();
  }
}

/** @param {import("./plan.js").Pass} pass */
function drawEstimate({ context, view, scene, palette }) {
  const estimate = scene.estimate;
  if (!estimate || estimate.mapId !== scene.map.id) return;
  const [x, y] = view.toScreen(estimate.x, estimate.y);
  const radius = estimate.radius * view.scale;
  context.fillStyle = palette.estimate;
  context.strokeStyle = palette.estimate;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.globalAlpha = 0.12;
  context.fill();
  context.globalAlpha = 0.9;
  context.lineWidth = 1.5;
  context.stroke();
  context.globalAlpha = 1;

  if (typeof estimate.course === "number") {
    const angle = (estimate.course * Math.PI) / 180;
    context.save();
    context.translate(x, y);
    context.rotate(angle);
    context.beginPath();
    context.moveTo(0, -23);
    context.lineTo(8, -11);
    context.quadraticCurveTo(0, -15, -8, -11);
    context.closePath();
    context.fillStyle = palette.estimate;
    context.strokeStyle = palette.halo;
    context.lineWidth = 2;
    context.stroke();
    context.fill();
    context.restore();
  }
  context.beginPath();
  context.arc(x, y, 9.5, 0, 2 * Math.PI);
  context.fillStyle = "#ffffff";
  context.shadowColor = "rgb(0 0 0 / 0.35)";
  context.shadowBlur = 4;
  context.fill();
  context.shadowBlur = 0;
  context.shadowColor = "transparent";
  context.beginPath();
  context.arc(x, y, 7, 0, 2 * Math.PI);
  context.fillStyle = palette.estimate;
  context.fill();
}
