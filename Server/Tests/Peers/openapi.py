# SPDX-License-Identifier: Apache-2.0
"""Holds every answer against Server/openapi.yaml: path, method, status, media type and shape."""

import pathlib
import re

import jsonschema
import yaml

FILE = pathlib.Path(__file__).resolve().parents[2] / "openapi.yaml"


class OpenAPI:
    def __init__(self):
        self.document = yaml.safe_load(FILE.read_text())
        # In YAML a path is a key; in an expression its parameters are one part each.
        self.paths = [(re.compile(re.sub(r"\{\w+\}", "[^/]+", path) + "$"), methods) for path, methods in self.document["paths"].items()]

    def _resolved(self, value):
        if "$ref" in value:
            _, *parts = value["$ref"].split("/")
            value = self.document
            for part in parts:
                value = value[part]
        return value

    def complaint(self, method, path, answer):
        """What is wrong with an answer; None for nothing."""
        path = path.split("?")[0]
        operation = next((methods.get(method.lower()) for pattern, methods in self.paths if pattern.match(path)), None)
        if operation is None:
            return None if answer.status in (404, 405) else f"{method} {path} is not described"
        response = operation["responses"].get(str(answer.status))
        if response is None:
            return f"{method} {path} answers {answer.status}, which is not described"
        content = self._resolved(response).get("content")
        if content is None:
            return f"{method} {path} answers {answer.status} with a body" if answer.body else None
        kind = answer.headers["Content-Type"].split(";")[0]
        if kind not in content:
            return f"{method} {path} answers {answer.status} as {kind}"
        if not kind.endswith("json"):
            return None
        schema = {**content[kind]["schema"], "components": self.document["components"]}
        try:
            jsonschema.validate(answer.json, schema, cls=jsonschema.Draft202012Validator)
        except jsonschema.ValidationError as error:
            return f"{method} {path} answers {answer.status}: {error.message} at {list(error.path)}"
        return None
