"use strict";
(function () {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const specifications = read("specs");
  const { pictures, strips } = read("strips");
  const arms = read("arms");
  const byId = (id) => document.getElementById(id);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const keys = [...document.querySelectorAll("button.key")];
  let views = new Map();

  function theme() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const ink = colour("--ink"), quiet = colour("--quiet"), line = colour("--line");
    return {
      background: null,
      font: getComputedStyle(document.body).fontFamily,
      autosize: { type: "fit-x", contains: "padding" },
      axis: {
        labelColor: quiet, titleColor: quiet, gridColor: line, domainColor: line, tickColor: line,
        labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", labelOverlap: true,
      },
      axisY: { labelLimit: 110, minExtent: 44 },
      rule: { color: quiet },
      text: { color: ink },
      view: { stroke: null },
      range: { category: arms.map((_, index) => colour("--arm-" + (index % 8))) },
    };
  }

  const figures = [...document.querySelectorAll("figure[data-network]")];
  const ALL_NETWORKS = "all networks", ALL_SITES = "all sites";

  async function draw() {
    const old = views;
    views = new Map();
    for (const view of old.values()) view.finalize();
    await choose();
  }

  // Charts are drawn when they are first shown: a study may have a hundred networks.
  async function view(id) {
    if (!views.has(id)) {
      const made = await vegaEmbed(byId(id), specifications[id], { config: theme(), actions: false,
        renderer: "svg", tooltip: { theme: dark.matches ? "dark" : "light" } });
      views.set(id, made.view);
    }
    return views.get(id);
  }

  function hiddenArms() {
    const pressed = (button) => button.getAttribute("aria-pressed") === "true";
    return keys.filter((button) => !pressed(button)).map((button) => button.dataset.arm);
  }

  async function choose() {
    const metric = byId("metric").value, site = byId("site").value;
    const network = byId("network").value, hidden = hiddenArms();
    for (const figure of figures) {
      figure.hidden = network !== ALL_NETWORKS && figure.dataset.network !== network;
    }
    const shown = figures.filter((figure) => !figure.hidden);
    const ids = shown.flatMap((figure) =>
      [...figure.querySelectorAll(".chart")].map((chart) => chart.id));
    await Promise.all(ids.map(async (id) => {
      const made = (await view(id)).signal("metric", metric).signal("hidden", hidden);
      return (id.startsWith("curve") ? made.signal("site", site) : made).runAsync();
    }));
    for (const row of document.querySelectorAll("table.cells tbody tr")) {
      const [ofSite, ofNetwork, ofArm] = [...row.children].map((each) => each.textContent);
      row.hidden = (site !== ALL_SITES && ofSite !== site) || hidden.includes(ofArm) ||
        (network !== ALL_NETWORKS && ofNetwork !== network);
    }
  }

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
      const button = cell("button", head.textContent, { type: "button", class: "sort" });
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

  function csvOf(table) {
    const field = (text) => '"' + text.trim().replace(/"/g, '""') + '"';
    const lines = [...table.rows].filter((row) => !row.hidden).map((row) =>
      [...row.children].map((each) => field(each.innerText.replace(/\s*\n\s*/g, "; "))).join(","));
    return lines.join("\r\n") + "\r\n";
  }

  function addExport(table) {
    const caption = table.querySelector("caption").textContent;
    const button = cell("button", "CSV", { type: "button", class: "export",
      "aria-label": "save as CSV: " + caption });
    button.addEventListener("click", () => {
      const link = document.createElement("a");
      link.download = caption.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 60) + ".csv";
      link.href = "data:text/csv;charset=utf-8," + encodeURIComponent(csvOf(table));
      link.click();
    });
    table.parentElement.after(button);
  }

  function cell(name, text, attributes) {
    const made = document.createElement(name);
    made.textContent = text;
    for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
    return made;
  }

  function seconds(ms) {
    return (ms / 1000).toFixed(ms % 100 ? 2 : 1) + " s";
  }

  function stripRow(arm, strip, times, metric) {
    const row = document.createElement("tr");
    const head = cell("th", arm, { scope: "row" });
    row.append(head);
    if (!strip) {
      row.append(cell("td", "no counted load with pictures", { colspan: String(times.length) }));
      return row;
    }
    const detail = metric + " " + Math.round(strip.value_ms) + " ms, block " + strip.repetition;
    head.append(cell("small", detail));
    strip.pictures.forEach((picture, index) => {
      const image = document.createElement("img");
      image.src = pictures[picture];
      image.alt = arm + " after " + seconds(times[index]);
      const td = document.createElement("td");
      if (index && picture === strip.pictures[index - 1]) td.className = "same";
      td.append(image);
      row.append(td);
    });
    return row;
  }

  function showStrips() {
    const target = byId("filmstrip");
    const site = byId("strip-site").value, network = byId("strip-network").value;
    const found = strips.find((each) => each.site === site && each.network === network);
    target.replaceChildren();
    if (!found) {
      target.append(cell("p", "No pictures were kept for " + site + " on " + network + "."));
      return;
    }
    const table = document.createElement("table");
    const caption = cell("caption", site + " on " + network +
      ", seconds after navigation start; pictures that did not change are dimmed");
    const head = document.createElement("thead");
    const times = document.createElement("tr");
    times.append(cell("td", ""));
    for (const time of found.times_ms) times.append(cell("th", seconds(time), { scope: "col" }));
    head.append(times);
    const body = document.createElement("tbody");
    for (const id of ["strip-first", "strip-second"]) {
      const arm = byId(id).value;
      body.append(stripRow(arm, found.arms[arm], found.times_ms, target.dataset.metric));
    }
    table.append(caption, head, body);
    target.append(table);
  }

  for (const table of document.querySelectorAll(".scroll > table")) {
    if (table.tHead && table.tBodies[0].rows.length > 1) makeSortable(table);
    addExport(table);
  }
  for (const button of keys) {
    button.addEventListener("click", () => {
      const shown = button.getAttribute("aria-pressed") === "true";
      button.setAttribute("aria-pressed", String(!shown));
      choose();
    });
  }
  for (const id of ["metric", "site", "network"]) byId(id).addEventListener("change", choose);
  dark.addEventListener("change", draw);
  if (byId("filmstrip")) {
    for (const id of ["strip-site", "strip-network", "strip-first", "strip-second"]) {
      byId(id).addEventListener("change", showStrips);
    }
    showStrips();
  }
  draw().then(() => { document.documentElement.dataset.drawn = "yes"; });
})();
