"use strict";

// Searches all pages for the words that are typed. Each word must occur; titles count more than summaries and texts.
const field = document.getElementById("search");
const found = document.getElementById("found");
const results = document.getElementById("results");
const most = 30;
let pages;
let latest = 0;

async function load() {
    pages ??= fetch("search.json").then((answer) => {
        if (!answer.ok) throw new Error(`search.json: ${answer.status}`);
        return answer.json();
    }).then((entries) => entries.map(([address, title, kind, summary, text]) => ({
        address, title, kind, summary,
        name: title.toLowerCase(), near: summary.toLowerCase(), words: text.toLowerCase(),
    })));
    return pages;
}

// Returns how well a page answers a word, or 0 if the word doesn't occur.
function score(page, word) {
    let value = 0;
    if (page.name === word) value = 100;
    else if (page.name.startsWith(word)) value = 60;
    else if (page.name.includes(word)) value = 40;
    else if (page.near.includes(word)) value = 12;
    else if (page.words.includes(word)) value = 4;
    if (value && (page.kind === "article" || page.kind === "page")) value += 8;
    // Types before their members.
    return value && value - Math.min(page.address.split("/").length, 6) / 10;
}

async function search() {
    const number = ++latest;
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let best = [];
    let failure = "";
    if (words.length) {
        try {
            for (const page of await load()) {
                const scores = words.map((word) => score(page, word));
                const whole = words.length > 1 && page.name.includes(words.join(" ")) ? 100 : 0;
                if (scores.every(Boolean)) best.push([whole + scores.reduce((a, b) => a + b), page]);
            }
        } catch (error) {
            pages = undefined;
            failure = `The search can't be loaded (${error.message}).`;
        }
    }
    // An answer for earlier letters.
    if (number !== latest) return;
    best.sort(([a, one], [b, other]) => b - a || one.title.localeCompare(other.title));
    found.textContent = failure || (words.length ? `${best.length} ${best.length === 1 ? "page" : "pages"}` : "");
    results.replaceChildren(...best.slice(0, most).map(([, page]) => {
        const item = document.createElement("li");
        const link = item.appendChild(document.createElement("a"));
        link.href = page.address;
        link.textContent = page.title;
        item.appendChild(document.createElement("span")).textContent = page.kind;
        if (page.summary) item.appendChild(document.createElement("p")).textContent = page.summary;
        return item;
    }));
}

field.addEventListener("input", search);
field.form.addEventListener("submit", (event) => {
    event.preventDefault();
    results.querySelector("a")?.click();
});
// What was typed before this script was loaded.
if (field.value) search();
