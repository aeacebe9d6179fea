# SPDX-License-Identifier: Apache-2.0
"""Chromium without a window, steered over its pipe (Chrome DevTools Protocol): no driver, no library."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

from loginserver import Failure


class Browser:
    def __init__(self, program, width=1000, height=760):
        self.program, self.size = program, f"{width},{height}"

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="chromium")
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()
        options = [
            "--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--hide-scrollbars", "--lang=en-US",
            f"--user-data-dir={self.folder}", f"--window-size={self.size}",
        ]
        if os.geteuid() == 0:
            options.append("--no-sandbox")  # its sandbox does not start as root; it loads the test's own page only

        # It reads commands from 3 and writes answers to 4; kept clear of both until then.
        def place():
            high = [os.dup(commands), os.dup(answers)]
            while min(high) <= 4:
                high = [os.dup(number) for number in high]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [self.program, *options, "about:blank"], preexec_fn=place, close_fds=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": self.folder, "TZ": "UTC"},
        )
        os.close(commands)
        os.close(answers)
        self.rest, self.number, self.events, self.session = b"", 0, [], None
        pages = [each for each in self.call("Target.getTargets")["targetInfos"] if each["type"] == "page"]
        self.session = self.call("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _message(self, deadline):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.answers], [], [], max(0, deadline - time.monotonic()))
            part = os.read(self.answers, 1 << 20) if ready else b""
            if not part:
                raise Failure("the browser does not answer")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + 60
        while True:
            answer = self._message(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failure(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def js(self, code):
        answer = self.call("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise Failure(f"{code}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, code, what=None):
        deadline = time.monotonic() + 60
        while not self.js(code):
            if time.monotonic() > deadline:
                raise Failure(f"{what or code} did not come; the page says: {self.js('document.body.innerText')}")
            time.sleep(0.02)

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait(f"document.readyState === 'complete' && location.href === {json.dumps(url)}")

    def key(self, name, code=0, text=None):
        for kind in ["keyDown", "keyUp"]:
            extra = {"text": text} if text and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code, **extra)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def click(self, selector):
        self.js(f"document.querySelector({json.dumps(selector)}).scrollIntoView()")
        box = self.js(f"(() => {{ const b = document.querySelector({json.dumps(selector)}).getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; }})()")
        for kind in ["mousePressed", "mouseReleased"]:
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def emulate(self, scheme=None, width=None, height=None):
        if scheme:
            self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        if width:
            self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def screenshot(self, path):
        picture = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        with open(path, "wb") as file:
            file.write(picture)
        return picture

    def complaints(self):
        """What the console and the network say is wrong."""
        self.js("0")
        found = []
        for event in self.events:
            parameters = event.get("params", {})
            if event["method"] == "Runtime.exceptionThrown":
                found.append(str(parameters["exceptionDetails"]))
            if event["method"] == "Log.entryAdded" and parameters["entry"]["level"] == "error":
                found.append(parameters["entry"]["text"] + " " + parameters["entry"].get("url", ""))
        return found

    def requested(self):
        return [event["params"]["request"]["url"] for event in self.events if event["method"] == "Network.requestWillBeSent"]
