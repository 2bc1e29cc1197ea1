// @ts-check
/**
 * Shows a bar of a round number of metres.
 * @param {HTMLElement} bar
 * @param {HTMLElement} label
 * @param {number} pixelsPerMetre
 */
export function showScale(bar, label, pixelsPerMetre) {
  const longest = 120 / pixelsPerMetre;
  const decade = 10 ** Math.floor(Math.log10(longest));
  const length = [5, 2, 1].map((step) => step * decade).find((step) => step <= longest) ?? decade;
  bar.style.width = `${length * pixelsPerMetre}px`;
  label.textContent = length < 1 ? `${Math.round(length * 100)} cm` : `${length} m`;
}
