"use strict";
// Draws a Vega-Lite specification in an element; a promise of what vegaEmbed gives. Expressions are
// interpreted (ast) and no style element is made, since the page's policy allows neither code from
// text nor styles but our own: those that Vega-Embed and its tooltip would add are in charts.css.
const drawChart = (function () {
  const FIELD = /(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n|$)/y;

  function csvRows(text) {
    const rows = [];
    let row = [];
    FIELD.lastIndex = 0;
    while (FIELD.lastIndex < text.length) {
      const [, quoted, plain, end] = FIELD.exec(text);
      row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
      if (end === ",") continue;
      rows.push(row);
      row = [];
    }
    return rows;
  }

  function jsonOf(text) {
    const [columns, ...rows] = csvRows(text);
    return JSON.stringify(rows.map((row) =>
      Object.fromEntries(columns.map((column, index) => [column, row[index] ?? ""]))));
  }

  // CSV, which keeps pages small, becomes JSON before Vega sees it: Vega's own reader of CSV would
  // make a function of the header's text. Once for each chart; `datasets` may be shared in one.
  function readTables(part, datasets) {
    if (part === null || typeof part !== "object") return;
    if (part.format?.type === "csv") {
      part.format.type = "json";
      if (part.values !== undefined) part.values = jsonOf(part.values);
      else datasets.add(part.name);
    }
    for (const each of Object.values(part)) readTables(each, datasets);
  }

  return function (element, specification, config, dark) {
    const shared = new Set();
    readTables(specification, shared);
    for (const name of shared) {
      specification.datasets[name] = jsonOf(specification.datasets[name]);
    }
    return vegaEmbed(element, specification, {
      config, actions: false, ast: true, defaultStyle: false, renderer: "svg",
      tooltip: { theme: dark ? "dark" : "light", disableDefaultStyle: true },
    });
  };
})();
