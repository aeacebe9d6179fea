# SPDX-License-Identifier: Apache-2.0
"""A service protected by Authlib, which knows the issuer alone and reads the rest from its metadata (RFC 8414, RFC 9068).

usage: authlib_resource_server.py ISSUER SERVICE CA-FILE

For each line, a token, it prints {"user": whom the token signs in, or null}.
"""

import functools
import json
import ssl
import sys
import urllib.request

from authlib.oauth2 import OAuth2Error, ResourceProtector
from authlib.oauth2.rfc6749.requests import OAuth2Request
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata, get_well_known_url
from authlib.oauth2.rfc9068 import JWTBearerTokenValidator
from joserfc.jwk import KeySet

ISSUER, SERVICE, AUTHORITY = sys.argv[1:]
TRUST = ssl.create_default_context(cafile=AUTHORITY)


def read(address):
    with urllib.request.urlopen(address, timeout=60, context=TRUST) as answer:
        return json.load(answer)


class Validator(JWTBearerTokenValidator):
    @functools.cache
    def get_jwks(self):
        metadata = AuthorizationServerMetadata(read(get_well_known_url(self.issuer, external=True)))
        metadata.validate_issuer()
        metadata.validate_jwks_uri()
        if metadata.issuer != self.issuer:
            raise ValueError("metadata of another issuer")
        return KeySet.import_key_set(read(metadata.jwks_uri))


protector = ResourceProtector()
protector.register_token_validator(Validator(issuer=ISSUER, resource_server=SERVICE))
for line in sys.stdin:
    token = line.strip()
    request = OAuth2Request("GET", SERVICE + "/orders", headers={"Authorization": "Bearer " + token} if token else {})
    try:
        user = protector.validate_request(None, request)["sub"]
    except OAuth2Error:
        user = None
    print(json.dumps({"user": user}), flush=True)
