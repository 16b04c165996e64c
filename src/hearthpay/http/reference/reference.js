// The reference at /docs: Swagger UI from our own address, over the document of this very service.
// Without scripts, with ?plain, or where anything here fails, the plain page stays as it was sent.
(() => {
  "use strict";

  const here = document.currentScript.dataset;
  const root = document.documentElement;
  if (new URLSearchParams(location.search).has("plain")) return;
  root.classList.add("scripted");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const shade = () => root.classList.toggle("dark-mode", dark.matches);
  dark.addEventListener("change", shade);
  shade();

  const loaded = (tag, attributes) =>
    new Promise((resolve, reject) => {
      const element = Object.assign(document.createElement(tag), attributes);
      element.onload = resolve;
      element.onerror = () => reject(new Error(`${attributes.src ?? attributes.href} could not be loaded`));
      document.head.append(element);
    });

  const read = async (address) => {
    const response = await fetch(address);
    if (!response.ok) throw new Error(`${address} answered ${response.status}`);
    return response.json();
  };

  const operationsOf = (specification) =>
    Object.values(specification.paths).flatMap((item) => Object.values(item));

  // A refusal links to /docs#operationId; Swagger UI calls that place #/chapter/operationId.
  const placeOf = (specification) => {
    const id = decodeURIComponent(location.hash.slice(1));
    const operation = operationsOf(specification).find((each) => each.operationId === id);
    return operation && `#/${operation.tags[0]}/${id}`;
  };

  const matches = (words, chapter, entry) => {
    const operation = entry.get("operation");
    const text = [chapter, entry.get("method"), entry.get("path")]
      .concat(["operationId", "summary", "description"].map((name) => operation.get(name) ?? ""))
      .join(" ")
      .toLowerCase();
    return words.every((word) => text.includes(word));
  };

  // Searches what operations say of themselves; Swagger UI looks at chapters and paths only.
  const search = (system) => ({
    fn: {
      opsFilter: (chapters, phrase) => {
        const words = phrase.toLowerCase().split(/\s+/).filter(Boolean);
        return chapters
          .map((chapter, name) =>
            chapter.update("operations", (all) => all.filter((entry) => matches(words, name, entry))),
          )
          .filter((chapter) => chapter.get("operations").size > 0);
      },
    },
    components: {
      // A link inside a button cannot be reached by all readers; the button itself opens the operation.
      DeepLink: ({ text }) => system.React.createElement("span", null, text),
      ServersContainer: () => null, // there is one server: this one
      FilterContainer: ({ layoutSelectors, layoutActions }) => {
        const phrase = layoutSelectors.currentFilter();
        return system.React.createElement(
          "div",
          { className: "wrapper", role: "search" },
          system.React.createElement("h2", { className: "operations-heading" }, "Operations"),
          system.React.createElement(
            "label",
            { className: "operation-search" },
            "Search operations",
            system.React.createElement("input", {
              type: "search",
              value: typeof phrase === "string" ? phrase : "",
              onChange: (event) => layoutActions.updateFilter(event.target.value || true),
            }),
          ),
        );
      },
    },
  });

  const head = () => {
    const element = document.createElement("header");
    element.className = "reference-head";
    const link = (address, text) => Object.assign(document.createElement("a"), { href: address, textContent: text });
    element.append(
      "Try it out with a test key (hp_test_…): a live key pays people. Keys stay in this page. ",
      link(here.document, "openapi.json"),
      " · ",
      link("?plain", "Plain page"),
    );
    return element;
  };

  const start = async () => {
    const [specification] = await Promise.all([
      read(here.document),
      loaded("script", { src: here.bundle }),
      loaded("link", { rel: "stylesheet", href: here.style }),
    ]);
    specification.servers = [{ url: location.origin }]; // the page may speak to its own address only
    const place = placeOf(specification);
    if (place) history.replaceState(null, "", place);
    const main = document.createElement("main");
    main.id = "reference";
    document.querySelector(".plain").before(head(), main);
    // Swagger UI puts a second main part inside ours, each time it draws the list.
    new MutationObserver(() => {
      const operations = main.querySelector("main:not([role])");
      operations?.setAttribute("role", "group");
      operations?.setAttribute("aria-label", "Operations");
    }).observe(main, { childList: true, subtree: true });
    const ui = SwaggerUIBundle({
      spec: specification,
      domNode: main,
      layout: "BaseLayout",
      plugins: [search],
      deepLinking: true,
      docExpansion: "list",
      defaultModelsExpandDepth: 0,
      filter: true,
      showExtensions: true,
      validatorUrl: null, // the document is sent to nobody
    });
    document.querySelector(".plain").remove();
    addEventListener("hashchange", () => {
      const next = placeOf(specification);
      if (!next) return;
      history.replaceState(null, "", next);
      ui.layoutActions.parseDeepLinkHash(next);
    });
  };

  document.addEventListener("DOMContentLoaded", () => {
    start().catch((error) => {
      console.error(error);
      root.classList.remove("scripted", "dark-mode");
      document.getElementById("reference")?.remove();
      document.querySelector(".reference-head")?.remove();
    });
  });
})();
