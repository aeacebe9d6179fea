// SPDX-License-Identifier: Apache-2.0
//
// The account page: signs in by password, lists devices, revokes them. The token stays in this script: no cookie, no
// storage, gone with the page. Names come from people, so they are only ever set as text.
"use strict";

(() => {
  const element = (id) => document.getElementById(id);
  let token = null;

  // --- the server ---------------------------------------------------------------------------------------------------

  class Refusal extends Error {
    constructor(status, code, text) {
      super(text);
      this.status = status;
      this.code = code;
    }
  }

  async function ask(method, path, authorization, options = {}) {
    let response;
    try {
      // No credentials of the browser's own: it must not ask for a password in a window of its own.
      response = await fetch(path, { method, headers: { Authorization: authorization }, credentials: "omit", cache: "no-store", ...options });
    } catch {
      throw new Refusal(0, "offline", "The server is not responding. Check your connection, then try again.");
    }
    if (response.status === 204) return null;
    const answer = await response.json().catch(() => ({}));
    if (!response.ok) throw new Refusal(response.status, answer.code, answer.detail || "The server refused the request.");
    return answer;
  }

  /** An answer that comes after the sign-out is not for whoever sits there now: it is thrown away. */
  async function asSignedIn(method, path) {
    const session = token;
    const answer = await ask(method, path, `Bearer ${session}`);
    if (token !== session) throw new Refusal(0, "signed_out", "Your session has ended.");
    return answer;
  }

  function basic(name, password) {
    const bytes = new TextEncoder().encode(`${name}:${password}`);
    return `Basic ${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}`;
  }

  // --- what is shown ------------------------------------------------------------------------------------------------

  function tell(text, isBad = false) {
    const status = element("status");
    status.textContent = text;
    status.hidden = text === "";
    status.classList.toggle("bad", isBad);
    status.classList.toggle("narrow-status", token === null);
  }

  const date = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  const shown = (seconds) => (seconds === undefined ? "never" : date.format(new Date(seconds * 1000)));

  function showSignIn(text = "", isBad = false) {
    token = null;
    element("devices").hidden = true;
    element("who").hidden = true;
    element("sign-in").hidden = false;
    element("list").replaceChildren();
    element("password").value = "";
    tell(text, isBad);
    element(element("name").value === "" ? "name" : "password").focus();
  }

  function row(device) {
    const item = element("device").content.firstElementChild.cloneNode(true);
    item.querySelector("h2").textContent = device.name;
    item.querySelector(".enabled").textContent = shown(device.enabledAt);
    item.querySelector(".used").textContent = shown(device.lastUsedAt);
    item.querySelector(".approved").textContent = device.approved ? "Yes" : "No";
    item.querySelector(".attested").textContent = device.attested === undefined ? "Not proven" : "Proven by its TPM";
    item.querySelector(".key").textContent = device.keyID;
    const button = item.querySelector("button");
    button.setAttribute("aria-label", `Revoke ${device.name}`);
    button.addEventListener("click", () => revoke(device));
    return item;
  }

  /** Shows the devices that are there now, and `text`, which may depend on them: words, and whether they are bad news. */
  async function showDevices(text = () => [""]) {
    const { devices } = await asSignedIn("GET", "/v1/devices");
    element("sign-in").hidden = true;
    element("devices").hidden = false;
    element("who").hidden = false;
    element("list").replaceChildren(...devices.map(row));
    element("empty").hidden = devices.length > 0;
    element("revoke-all").hidden = devices.length === 0;
    element("count").textContent =
      devices.length === 0 ? "" : devices.length === 1 ? "One device can sign in with a touch." : `${devices.length} devices can sign in with a touch.`;
    tell(...text(devices));
    element("devices-title").focus();
  }

  // --- what is done -------------------------------------------------------------------------------------------------

  function confirm(title, text) {
    const dialog = element("dialog");
    element("dialog-title").textContent = title;
    element("dialog-text").textContent = text;
    return new Promise((resolve) => {
      // The answer is taken where it is given: the event of closing comes later, perhaps to the next question.
      const answer = (value) => () => {
        dialog.close();
        resolve(value);
      };
      element("dialog-yes").onclick = answer(true);
      element("dialog-no").onclick = answer(false);
      dialog.oncancel = answer(false);
      dialog.showModal();
      element("dialog-no").focus();
    });
  }

  async function attempt(work) {
    const session = token;
    try {
      await work();
    } catch (error) {
      // Nobody waits for it any more.
      if (token !== session) return;
      if (error.status === 401) showSignIn("Your session has ended. Sign in again.");
      else tell(error.message, true);
    }
  }

  /** Ends the session at the server, too. The page forgets it first, whatever the server answers. */
  async function signOut() {
    const session = token;
    showSignIn("You are signed out.");
    try {
      await ask("DELETE", "/v1/sessions/current", `Bearer ${session}`, { keepalive: true });
    } catch (error) {
      // 401: it was over. With another token the page is signed in again, and tells something else.
      if (error.status === 401 || token !== null) return;
      tell("You are signed out on this page, but the server did not end the session. It expires within ten minutes.", true);
    }
  }

  async function revoke(device) {
    const isSure = await confirm(
      `Revoke ${device.name}?`,
      "It can no longer sign in. To use it again, turn on sign-in by touch on that device again.",
    );
    if (!isSure) return;
    await attempt(async () => {
      await asSignedIn("DELETE", `/v1/devices/${encodeURIComponent(device.device)}`).catch((error) => {
        // Somebody else was faster; unless the device is still there.
        if (error.status !== 404) throw error;
      });
      await showDevices((devices) =>
        devices.some((each) => each.device === device.device && each.keyID === device.keyID)
          ? [`${device.name} is not revoked: the server does not find it by its name.`, true]
          : [`${device.name} is revoked.`],
      );
    });
  }

  async function revokeAll() {
    const isSure = await confirm("Revoke all devices?", "None of them will be able to sign in with a touch.");
    if (!isSure) return;
    await attempt(async () => {
      await asSignedIn("DELETE", "/v1/devices");
      await showDevices(() => ["All devices are revoked."]);
    });
  }

  async function signIn(event) {
    event.preventDefault();
    const name = element("name").value;
    const password = element("password").value;
    if (name === "" || password === "") {
      tell("Type your name and your password.", true);
      element(name === "" ? "name" : "password").focus();
      return;
    }
    const button = element("submit");
    button.disabled = true;
    button.textContent = "Signing in…";
    try {
      ({ token } = await ask("POST", "/v1/account/sessions", basic(name, password)));
      element("password").value = "";
      element("user").textContent = name;
      await showDevices();
    } catch (error) {
      showSignIn(error.message, true);
    } finally {
      button.disabled = false;
      button.textContent = "Sign in";
    }
  }

  element("origin").textContent = location.host;
  element("form").addEventListener("submit", signIn);
  element("sign-out").addEventListener("click", signOut);
  element("revoke-all").addEventListener("click", revokeAll);
  showSignIn();
})();
