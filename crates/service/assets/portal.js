// Makes the portal's pages smoother. Every page works without it.
(() => {
  "use strict";

  // The summary of what is wrong with a form comes first.
  document.querySelector(".sum-err")?.focus();

  // A form that must be sent once: the second click does nothing.
  for (const form of document.querySelectorAll("form[data-once]")) {
    form.addEventListener("submit", (event) => {
      if (form.dataset.sent) {
        event.preventDefault();
        return;
      }
      form.dataset.sent = "yes";
      const button = form.querySelector("button");
      button.setAttribute("aria-disabled", "true");
      button.textContent = form.dataset.once;
    });
  }
  // A page that comes back from the browser's memory can be sent again.
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });

  // Menus close on Escape and on a click outside.
  const menu = document.querySelector("details.lang");
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && menu?.open) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
  addEventListener("click", (event) => {
    if (menu?.open && !menu.contains(event.target)) menu.open = false;
  });

  // A label that is still being made appears by itself: every 2 seconds, then more slowly, for about ten minutes.
  let wait = 2000;
  const poll = async () => {
    const ticket = document.querySelector("#ticket[data-poll]");
    if (!ticket || wait > 60000) return;
    try {
      const answer = await fetch(ticket.dataset.poll, { headers: { Accept: "text/html" } });
      if (answer.ok && !answer.redirected) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const made = page.querySelector("#ticket:not([data-poll])");
        if (made) {
          for (const id of ["ticket", "ticket-acts"]) {
            const part = page.getElementById(id);
            if (part) document.getElementById(id).replaceWith(part);
          }
          const said = document.createElement("p");
          said.className = "vh";
          said.setAttribute("role", "status");
          document.getElementById("ticket").append(said);
          said.textContent = page.querySelector("h1").textContent;
          return;
        }
      } else if (answer.redirected) {
        location.assign(answer.url);
        return;
      } else if (answer.status < 500) {
        // The session is over.
        return;
      }
    } catch {
      // Without a connection the next attempt may succeed.
    }
    wait *= 1.2;
    setTimeout(poll, wait);
  };
  setTimeout(poll, wait);
})();
