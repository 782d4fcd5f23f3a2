"use strict";
/* Searches the rows of the class "entry", and opens and closes all that open. Without it, the page
   can still be read, and everything still opens. */
(() => {
  const field = document.querySelector("input[type=search]");
  if (!field) return;
  const found = document.querySelector(".search output");
  const entries = [...document.querySelectorAll(".entry")];
  let waiting = 0;
  const search = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const entry of entries) {
      const text = entry.textContent.toLowerCase();
      const fits = words.every((word) => text.includes(word));
      if (entry.hidden === fits) entry.hidden = !fits;
      count += fits;
      const around = fits && words.length && entry.parentElement.closest("details");
      if (around) around.open = true; // what is found inside an agent is seen
    }
    found.textContent = words.length ? `${count} of ${entries.length}` : "";
  };
  field.closest(".search").hidden = false;
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(search, entries.length > 500 ? 150 : 0);
  });
  for (const button of document.querySelectorAll("button[data-open]")) {
    button.addEventListener("click", () => {
      for (const each of document.querySelectorAll(".entry:not([hidden]) details, details.entry:not([hidden])")) {
        each.open = button.dataset.open === "all";
      }
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== field && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      field.focus();
    } else if (event.key === "Escape" && document.activeElement === field) {
      field.value = "";
      search();
    }
  });
})();
