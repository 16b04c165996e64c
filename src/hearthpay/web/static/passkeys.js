// Asks the browser for a passkey, for the one form on the page that carries what it needs; and shares or copies a link.
// Nothing else is scripted.
"use strict";
(() => {
  const form = document.querySelector("form[data-passkey]");
  if (!form) return;
  if (!window.PublicKeyCredential || !PublicKeyCredential.parseCreationOptionsFromJSON) {
    document.querySelector("[data-passkey-missing]")?.removeAttribute("hidden");
    return;
  }
  form.hidden = false;
  const trouble = form.querySelector("[data-passkey-trouble]");
  form.addEventListener("submit", async (event) => {
    if (form.elements.answer.value) return;
    event.preventDefault();
    trouble.hidden = true;
    try {
      const asked = await fetch(form.dataset.options, {
        method: "POST",
        body: new URLSearchParams({ form_token: form.elements.form_token.value }),
      });
      if (!asked.ok) throw new Error(String(asked.status));
      const options = await asked.json();
      const credential = form.dataset.passkey === "make"
        ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
        : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
      form.elements.answer.value = JSON.stringify(credential.toJSON());
      form.submit();
    } catch {
      trouble.hidden = false;
    }
  });
})();

(() => {
  const link = document.querySelector("[data-share]");
  if (!link) return;
  const url = link.dataset.share;
  const share = document.querySelector("[data-share-button]");
  const copy = document.querySelector("[data-copy-button]");
  const copied = document.querySelector("[data-copied]");
  if (navigator.share) {
    share.hidden = false;
    share.addEventListener("click", () => navigator.share({ text: link.dataset.shareText, url }).catch(() => {}));
  }
  if (navigator.clipboard) {
    copy.hidden = false;
    copy.addEventListener("click", async () => {
      await navigator.clipboard.writeText(url);
      copied.hidden = false;
    });
  }
})();
