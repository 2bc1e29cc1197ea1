// @ts-check
/** The pixels that a finger may move during a tap. */
const tremor = 6;

/**
 * Zoom and pan with mouse, touch and pen, and taps on the plan.
 * @param {HTMLElement} root
 * @param {import("./view.js").View} view
 * @param {{
 *   moved: () => void, tapped: (x: number, y: number, event: PointerEvent) => void,
 *   grabbed?: (x: number, y: number) => boolean, dragged?: (x: number, y: number, event: PointerEvent) => void,
 *   dropped?: (isCancelled: boolean) => void,
 * }} reports `grabbed` returns whether a finger moves something on the plan instead of the plan; `dragged` and `dropped`
 *   then follow.
 */
export function attachGestures(root, view, reports) {
  /** @type {Map<number, {x: number, y: number}>} */
  const fingers = new Map();
  let travelled = 0;
  let lastTap = { at: 0, x: 0, y: 0 };
  let isGrabbed = false;

  const drop = (/** @type {boolean} */ isCancelled) => {
    if (!isGrabbed) return;
    isGrabbed = false;
    reports.dropped?.(isCancelled);
  };

  const place = (/** @type {MouseEvent} */ event) => {
    const box = root.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  root.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse" && event.button !== 0) return;
    root.setPointerCapture(event.pointerId);
    const at = place(event);
    if (fingers.size === 0) {
      travelled = 0;
      isGrabbed = reports.grabbed?.(at.x, at.y) ?? false;
    } else {
      drop(true);
    }
    fingers.set(event.pointerId, at);
  });

  root.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const now = place(event);
    travelled += Math.hypot(now.x - before.x, now.y - before.y);
    if (fingers.size === 1) {
      if (isGrabbed) {
        if (travelled > tremor) reports.dragged?.(now.x, now.y, event);
      } else if (travelled > 4) {
        root.classList.add("dragged");
        view.pan(now.x - before.x, now.y - before.y);
        reports.moved();
      }
    } else {
      const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
      if (other) {
        const distanceBefore = Math.hypot(before.x - other.x, before.y - other.y);
        const distance = Math.hypot(now.x - other.x, now.y - other.y);
        const middle = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
        view.pan((now.x - before.x) / 2, (now.y - before.y) / 2);
        if (distanceBefore > 10) view.zoom(distance / distanceBefore, middle.x, middle.y);
        reports.moved();
      }
    }
    fingers.set(event.pointerId, now);
  });

  const lift = (/** @type {PointerEvent} */ event) => {
    const wasDown = fingers.delete(event.pointerId);
    if (fingers.size > 0) {
      // The rest of a pinch is no tap.
      travelled = Infinity;
      return;
    }
    root.classList.remove("dragged");
    drop(event.type !== "pointerup" || travelled <= tremor);
    if (!wasDown || event.type !== "pointerup" || travelled > tremor) return;
    const at = place(event);
    const isDouble = event.timeStamp - lastTap.at < 300 && Math.hypot(at.x - lastTap.x, at.y - lastTap.y) < 24;
    lastTap = { at: isDouble ? 0 : event.timeStamp, ...at };
    if (isDouble && !root.classList.contains("marking")) {
      view.zoom(2, at.x, at.y);
      reports.moved();
    } else {
      reports.tapped(at.x, at.y, event);
    }
  };
  root.addEventListener("pointerup", lift);
  root.addEventListener("pointercancel", lift);

  root.addEventListener("wheel", (event) => {
    event.preventDefault();
    const at = place(event);
    // A wheel reports lines or pixels; a trackpad's pinch is a wheel with the control key.
    const unit = event.deltaMode === 1 ? 16 : 1;
    const strength = event.ctrlKey ? 0.01 : 0.0018;
    view.zoom(Math.exp(-event.deltaY * unit * strength), at.x, at.y);
    reports.moved();
  }, { passive: false });
}
