// Makes the console quicker to work with. Every page works without it.
(() => {
  "use strict";

  const say = (text) => {
    const place = document.getElementById("said");
    if (place) place.textContent = text;
  };

  // The server tells times in the browser's zone.
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const known = document.cookie.split("; ").find((cookie) => cookie.startsWith("console-zone="));
  if (zone && known !== `console-zone=${encodeURIComponent(zone)}`) {
    document.cookie = `console-zone=${encodeURIComponent(zone)}; path=/; max-age=31536000; samesite=lax`;
    if (!known && document.querySelector("time")) location.reload();
  }

  // Copying.
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      say("Copied");
    } catch {
      say("Copying failed");
    }
  });

  // A form that must be sent once: the second click does nothing.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post" || form.dataset.sent) {
      if (form.dataset.sent) event.preventDefault();
      return;
    }
    form.dataset.sent = "yes";
    setTimeout(() => delete form.dataset.sent, 5000);
  });
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });

  // Parts that renew themselves: fetched with the page again, and replaced unless somebody is working in them.
  let stopped = false;
  const stop = document.querySelector("[data-stop]");
  stop?.removeAttribute("hidden");
  stop?.addEventListener("click", () => {
    stopped = !stopped;
    stop.textContent = stopped ? "Renew again" : "Stop renewing";
    stop.setAttribute("aria-pressed", String(stopped));
  });
  const renew = async () => {
    const parts = document.querySelectorAll("[data-renew]");
    if (parts.length === 0) return;
    const seconds = Math.min(...[...parts].map((part) => Number(part.dataset.renew) || 10));
    if (!stopped && document.visibilityState === "visible") {
      try {
        const answer = await fetch(location.href, { headers: { accept: "text/html" }, redirect: "error" });
        if (answer.ok) {
          const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
          for (const part of parts) {
            const next = fresh.getElementById(part.id);
            const busy = part.contains(document.activeElement) || part.querySelector(":checked");
            if (!next || !next.dataset.renew) {
              // It has come to its end: show the page as it is now.
              if (!next || !busy) return location.reload();
            } else if (!busy) {
              part.replaceWith(next);
            }
          }
        }
      } catch {
        // The next time may succeed.
      }
    }
    setTimeout(renew, seconds * 1000);
  };
  if (document.querySelector("[data-renew]")) setTimeout(renew, 2000);

  // Selecting rows.
  const count = () => {
    const bulk = document.querySelector(".bulk");
    if (!bulk) return;
    const chosen = document.querySelectorAll("[data-row] input[type=checkbox]:checked").length;
    bulk.hidden = chosen === 0;
    for (const place of bulk.querySelectorAll("[data-count]")) place.textContent = String(chosen);
  };
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-all]")) {
      for (const box of document.querySelectorAll("[data-row] input[type=checkbox]")) box.checked = event.target.checked;
    }
    count();
  });
  count();

  // A preview beside its form follows what is typed.
  document.addEventListener("change", (event) => {
    const form = event.target.form;
    const frame = document.getElementById("preview");
    if (!form?.dataset.preview || !frame || !form.checkValidity()) return;
    frame.src = `${form.dataset.preview}?${new URLSearchParams(new FormData(form))}`;
  });

  // Keys. No key sends anything, and none works while somebody types.
  const rows = () => [...document.querySelectorAll("[data-row]")].filter((row) => row.offsetParent !== null);
  const move = (by) => {
    const all = rows();
    if (all.length === 0) return;
    const at = all.findIndex((row) => row.classList.contains("cur"));
    const next = all[Math.max(0, Math.min(all.length - 1, at < 0 ? 0 : at + by))];
    for (const row of all) row.classList.toggle("cur", row === next);
    (next.querySelector("a") ?? next).focus();
  };
  const follow = (element) => {
    if (element instanceof HTMLInputElement) {
      element.focus();
      element.select();
    } else {
      element.click();
    }
  };
  const places = { t: "/", f: "/failures", m: "/messages", c: "/merchants" };
  let going = false;
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || localStorage.getItem("console-keys") === "off") return;
    const typing = event.target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");
    if (event.key === "Escape") {
      for (const box of document.querySelectorAll("[data-row] input:checked")) box.checked = false;
      count();
      if (typing) event.target.blur();
      return;
    }
    if (typing) return;
    if (going) {
      going = false;
      if (places[event.key]) location.href = places[event.key];
      return;
    }
    if (event.key === "g") {
      going = true;
      setTimeout(() => (going = false), 1500);
      return;
    }
    if (event.key === "j" || event.key === "k") return move(event.key === "j" ? 1 : -1);
    if (event.key === "x") {
      const box = document.querySelector("[data-row].cur input[type=checkbox]");
      if (box) {
        box.checked = !box.checked;
        count();
      }
      return;
    }
    if (event.key === "c") {
      document.querySelector("[data-row].cur [data-copy]")?.click();
      return;
    }
    const target = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (target) {
      event.preventDefault();
      follow(target);
    }
  });

  // Whether keys are on is kept in this browser.
  const keys = document.querySelector("[data-keys]");
  if (keys) {
    const show = () => (keys.checked = localStorage.getItem("console-keys") !== "off");
    keys.addEventListener("change", () => localStorage.setItem("console-keys", keys.checked ? "on" : "off"));
    show();
  }
})();
