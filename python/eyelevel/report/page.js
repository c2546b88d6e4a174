"use strict";
(function () {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const specifications = read("specs");
  const { pictures, strips } = read("strips");
  const arms = read("arms");
  const byId = (id) => document.getElementById(id);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let views = [];

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

  async function draw() {
    const config = theme();
    for (const old of views) old.finalize();
    views = await Promise.all(Object.entries(specifications).map(([id, specification]) =>
      vegaEmbed(byId(id), specification, { config, actions: false, renderer: "svg",
        tooltip: { theme: dark.matches ? "dark" : "light" } })));
    await choose();
  }

  async function choose() {
    const metric = byId("metric").value, site = byId("site").value;
    await Promise.all(Object.keys(specifications).map((id, index) => {
      const view = views[index].view.signal("metric", metric);
      return (id.startsWith("curve") ? view.signal("site", site) : view).runAsync();
    }));
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

  for (const id of ["metric", "site"]) byId(id).addEventListener("change", choose);
  dark.addEventListener("change", draw);
  if (byId("filmstrip")) {
    for (const id of ["strip-site", "strip-network", "strip-first", "strip-second"]) {
      byId(id).addEventListener("change", showStrips);
    }
    showStrips();
  }
  draw().then(() => { document.documentElement.dataset.drawn = "yes"; });
})();
