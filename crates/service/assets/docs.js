// Puts a button to copy on every block of code. Every page works without it.
(() => {
  "use strict";

  const say = (text) => {
    const place = document.getElementById("said");
    if (place) place.textContent = text;
  };

  if (!navigator.clipboard) return;
  for (const block of document.querySelectorAll(".code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(block.querySelector("code").textContent);
        button.textContent = "Copied";
        say("Copied");
      } catch {
        say("Copying failed");
      }
      setTimeout(() => {
        button.textContent = "Copy";
      }, 2000);
    });
    block.append(button);
  }
})();
