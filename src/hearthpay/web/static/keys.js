// The / key goes to the search, as on other sites; without a script the link does. Nothing else is scripted here.
"use strict";
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest?.("input, select, textarea, [contenteditable]")) return;
  const field = document.querySelector("input[type=search]");
  const link = document.querySelector("a[data-search]");
  if (!field && !link) return;
  event.preventDefault();
  if (field) field.focus();
  else link.click();
});
