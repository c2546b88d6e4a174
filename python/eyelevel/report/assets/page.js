"use strict";
(function () {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const specifications = read("specs");
  const stacks = read("stacks");
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
        labelFlush: false, labelSeparation: 4, // labels drawn inwards would touch their neighbours
      },
      axisY: { labelLimit: 110, minExtent: 44 },
      rule: { color: quiet },
      legend: { labelColor: ink, titleColor: ink, labelFontSize: 12 },
      text: { color: ink },
      view: { stroke: null },
      range: { category: stacks.map((_, index) => colour("--stack-" + (index % 8))) },
    };
  }

  // Of a paper's figure: its own sizes, our colours.
  function drawingTheme() {
    const { autosize, ...shared } = theme();
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--ink").trim();
    const said = { labelColor: ink, titleColor: ink };
    return { ...shared, header: said, legend: said, title: { color: ink } };
  }

  // Charts are drawn when they are first seen: a study may have a hundred networks, and what is in
  // closed details has no width to fit.
  const seen = (element) => !element.closest("details:not([open]), [hidden]");

  async function drawSeen() {
    for (const place of document.querySelectorAll(".drawing")) {
      if (seen(place)) await view(place.id, drawingTheme());
    }
    for (const place of document.querySelectorAll(".chart")) {
      if (seen(place) && !place.closest("figure[data-network]")) await view(place.id, theme());
    }
    await choose();
  }

  const figures = [...document.querySelectorAll("figure[data-network]")];
  const ALL_NETWORKS = "all networks", ALL_SITES = "all sites";

  async function draw() {
    const old = views;
    views = new Map();
    for (const view of old.values()) view.finalize();
    await drawSeen();
  }

  async function view(id, config) {
    if (!views.has(id)) {
      const made = await drawChart(byId(id), specifications[id], config, dark.matches);
      views.set(id, made.view);
      // A chart is one picture with a name; its numbers are in the tables.
      byId(id).querySelector("svg").setAttribute("aria-hidden", "true");
    }
    return views.get(id);
  }

  function hiddenStacks() {
    const pressed = (button) => button.getAttribute("aria-pressed") === "true";
    return keys.filter((button) => !pressed(button)).map((button) => button.dataset.stack);
  }

  async function choose() {
    const metric = byId("metric").value, site = byId("site").value;
    const network = byId("network").value, hidden = hiddenStacks();
    for (const figure of figures) {
      figure.hidden = network !== ALL_NETWORKS && figure.dataset.network !== network;
    }
    const shown = figures.filter(seen);
    const ids = shown.flatMap((figure) =>
      [...figure.querySelectorAll(".chart")].map((chart) => chart.id));
    await Promise.all(ids.map(async (id) => {
      const made = (await view(id, theme())).signal("metric", metric).signal("hidden", hidden);
      return (id.startsWith("curve") ? made.signal("site", site) : made).runAsync();
    }));
    for (const table of document.querySelectorAll("table.cells")) {
      const [siteAt, networkAt, stackAt] = columnsOf(table);
      for (const row of table.tBodies[0].rows) {
        const text = (column) => row.cells[column].textContent;
        row.hidden = (siteAt >= 0 && site !== ALL_SITES && text(siteAt) !== site) ||
          (network !== ALL_NETWORKS && text(networkAt) !== network) ||
          hidden.includes(text(stackAt));
      }
    }
  }

  // By their headings: not every table has a column of sites.
  function columnsOf(table) {
    const headings = [...table.tHead.rows[0].cells].map((each) => each.textContent.trim());
    return ["site", "network", "stack"].map((name) => headings.indexOf(name));
  }

  for (const button of keys) {
    button.addEventListener("click", () => {
      const shown = button.getAttribute("aria-pressed") === "true";
      button.setAttribute("aria-pressed", String(!shown));
      choose();
    });
  }
  for (const id of ["metric", "site", "network"]) byId(id).addEventListener("change", choose);
  for (const details of document.querySelectorAll("details.figure, details.reviewers")) {
    details.addEventListener("toggle", drawSeen);
  }
  dark.addEventListener("change", draw);
  draw().then(() => { document.documentElement.dataset.drawn = "yes"; });
})();
