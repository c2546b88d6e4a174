// What scrolls sideways can be reached by the keyboard; landmarks of one kind have names; short
// words of code are known as such, so that no line ends behind the hyphens of an option.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  for (const word of document.querySelectorAll("code.literal > .pre")) {
    const most = word.closest("table") ? 20 : 32; // letters that fit on a telephone
    if (word.textContent.length <= most) word.classList.add("short");
  }
  const mark = () => {
    for (const each of document.querySelectorAll("pre, .table-wrapper")) {
      if (each.scrollWidth > each.clientWidth) each.tabIndex = 0;
      else each.removeAttribute("tabindex");
    }
  };
  mark();
  addEventListener("resize", mark);
  document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "Pages");
  document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");
});
