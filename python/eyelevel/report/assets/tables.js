"use strict";
// Every table of the page: its columns sort, and what is shown of it can be saved as CSV.
(function () {
  // The first line of a cell as a number where it is one: "−12.3 %", "1 234 ms".
  function sortKey(row, column) {
    const content = row.children[column];
    const text = (content.firstChild ? content.firstChild.textContent : "").trim();
    const number = parseFloat(text.replace("−", "-").replace(/[\u00a0\s]/g, ""));
    return Number.isNaN(number) ? text : number;
  }

  function compare(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return a < b ? -1 : a > b ? 1 : 0;
  }

  function makeSortable(table) {
    const heads = [...table.querySelectorAll("thead th")];
    heads.forEach((head, column) => {
      const button = element("button", head.textContent, { type: "button", class: "sort" });
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const descending = head.getAttribute("aria-sort") === "ascending";
        for (const each of heads) each.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", descending ? "descending" : "ascending");
        const body = table.tBodies[0];
        const rows = [...body.rows].map((row) => [sortKey(row, column), row]);
        rows.sort((a, b) => (descending ? -1 : 1) * compare(a[0], b[0]));
        body.append(...rows.map(([, row]) => row));
      });
    });
  }

  // As eyelevel.store.cells has it: no spreadsheet takes a text for a formula. A unit may follow.
  function guarded(text) {
    const isFormula = /^'*[=+\-@]/.test(text);
    const isHarmless = /^(-|[+-]?\d[\d.\s]*(%|[a-zA-Z]+)?)$/.test(text);
    return isFormula && !isHarmless ? "'" + text : text;
  }

  function csvOf(table) {
    const field = (text) => '"' + guarded(text.trim()).replace(/"/g, '""') + '"';
    const lines = [...table.rows].filter((row) => !row.hidden).map((row) =>
      [...row.children].map((each) => field(each.innerText.replace(/\s*\n\s*/g, "; "))).join(","));
    return lines.join("\r\n") + "\r\n";
  }

  function addExport(table) {
    const caption = table.querySelector("caption").textContent;
    const button = element("button", "CSV", { type: "button", class: "export",
      "aria-label": "save as CSV: " + caption });
    button.addEventListener("click", () => {
      const link = document.createElement("a");
      link.download = caption.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 60) + ".csv";
      link.href = "data:text/csv;charset=utf-8," + encodeURIComponent(csvOf(table));
      link.click();
    });
    table.closest(".table").append(button);
  }

  function element(name, text, attributes) {
    const made = document.createElement(name);
    made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  function addCopy(block) {
    const button = element("button", "Copy", { type: "button", class: "export",
      "aria-label": "copy: " + block.dataset.copy });
    const said = element("span", "", { role: "status", class: "quiet" });
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(block.textContent);
        said.textContent = " copied";
      } catch {
        getSelection().selectAllChildren(block);
        said.textContent = " selected: copy it with your keyboard";
      }
    });
    block.after(button, said);
  }

  for (const table of document.querySelectorAll(".table table")) {
    if (table.tHead && table.tBodies[0].rows.length > 1) makeSortable(table);
    addExport(table);
  }
  for (const block of document.querySelectorAll("[data-copy]")) addCopy(block);
})();
