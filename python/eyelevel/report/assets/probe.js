"use strict";
(function () {
  const specifications = JSON.parse(document.getElementById("specs").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let views = [];

  async function draw() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const quiet = colour("--quiet"), line = colour("--line");
    const config = {
      background: null,
      font: getComputedStyle(document.body).fontFamily,
      autosize: { type: "fit-x", contains: "padding" },
      axis: { labelColor: quiet, titleColor: quiet, gridColor: line, domainColor: line,
        tickColor: line, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" },
      view: { stroke: null },
      range: { category: Array.from({ length: 8 }, (_, index) => colour("--stack-" + index)) },
    };
    for (const old of views) old.finalize();
    views = await Promise.all(Object.entries(specifications).map(([id, specification]) =>
      drawChart(document.getElementById(id), specification, config, dark.matches)));
  }

  dark.addEventListener("change", draw);
  draw();
})();
