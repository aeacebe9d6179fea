-- SPDX-License-Identifier: Apache-2.0
--
-- Logins for wrk: each connection asks for a challenge, signs it as a device does (Docs/LoginProtocol.md), and takes a session.
-- A thread has one connection, so its answers come in the order of its requests.
--
-- usage: wrk -t N -c N … -s login.lua URL -- ORIGIN DEVICES PAUSE NAMES N
--        ORIGIN is the server's, DEVICES how many of fill.py's there are, PAUSE what a thread waits before each request in
--        ms, NAMES the file with the keys' names

local ffi = require("ffi")
ffi.cdef [[
    typedef struct BIGNUM BIGNUM;
    typedef struct EC_KEY EC_KEY;
    typedef struct ECDSA_SIG ECDSA_SIG;
    BIGNUM *BN_bin2bn(const unsigned char *bytes, int count, BIGNUM *number);
    int BN_bn2binpad(const BIGNUM *number, unsigned char *bytes, int count);
    void BN_free(BIGNUM *number);
    EC_KEY *EC_KEY_new_by_curve_name(int name);
    int EC_KEY_set_private_key(EC_KEY *key, const BIGNUM *number);
    void EC_KEY_free(EC_KEY *key);
    ECDSA_SIG *ECDSA_do_sign(const unsigned char *digest, int count, EC_KEY *key);
    void ECDSA_SIG_get0(const ECDSA_SIG *signature, const BIGNUM **r, const BIGNUM **s);
    void ECDSA_SIG_free(ECDSA_SIG *signature);
    unsigned char *SHA256(const char *bytes, size_t count, unsigned char *digest);
    int RAND_bytes(unsigned char *bytes, int count);
]]
local crypto = ffi.load("libcrypto.so.3")
local P256 = 415

local alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
local function base64url(bytes)
    local text = {}
    for i = 1, #bytes, 3 do
        local a, b, c = bytes:byte(i, i + 2)
        local bits = a * 65536 + (b or 0) * 256 + (c or 0)
        for place = 0, (c and 3) or (b and 2) or 1 do
            local index = math.floor(bits / 64 ^ (3 - place)) % 64
            text[#text + 1] = alphabet:sub(index + 1, index + 1)
        end
    end
    return table.concat(text)
end

local function sha256(text)
    local digest = ffi.new("unsigned char[32]")
    crypto.SHA256(text, #text, digest)
    return ffi.string(digest, 32)
end

local function random(count)
    local bytes = ffi.new("unsigned char[?]", count)
    crypto.RAND_bytes(bytes, count)
    return ffi.string(bytes, count)
end

-- r and s behind each other.
local function sign(text, secret)
    local number = crypto.BN_bin2bn(secret, 32, nil)
    local key = crypto.EC_KEY_new_by_curve_name(P256)
    crypto.EC_KEY_set_private_key(key, number)
    local signature = crypto.ECDSA_do_sign(sha256(text), 32, key)
    local r, s = ffi.new("const BIGNUM *[1]"), ffi.new("const BIGNUM *[1]")
    crypto.ECDSA_SIG_get0(signature, r, s)
    local bytes = ffi.new("unsigned char[64]")
    crypto.BN_bn2binpad(r[0], bytes, 32)
    crypto.BN_bn2binpad(s[0], bytes + 32, 32)
    crypto.ECDSA_SIG_free(signature)
    crypto.EC_KEY_free(key)
    crypto.BN_free(number)
    return ffi.string(bytes, 64)
end

local threads = {}
function setup(thread)
    thread:set("number", #threads)
    threads[#threads + 1] = thread
end

local origin, devices, pause, device, challenge
local keys = {}

function init(words)
    origin, devices, pause = words[1], tonumber(words[2]), tonumber(words[3])
    math.randomseed(number * 7919 + os.time())
    -- The keys' names, which fill.py writes: a line each, 43 characters.
    keys = io.open(words[4], "rb")
    threads_in_all = tonumber(words[5])
    sessions, refused = 0, 0
end

local function key_name(index)
    keys:seek("set", index * 44)
    return keys:read(43)
end

function delay() return pause end

local headers = { ["Content-Type"] = "application/json" }

function request()
    if not challenge then
        -- Devices of its own: a newer challenge would take the place of another thread's.
        device = number + threads_in_all * math.random(0, math.floor((devices - 1 - number) / threads_in_all))
        local body = string.format('{"user":"user-%d","device":"device-%d","purpose":"login"}', device, device)
        return wrk.format("POST", "/v1/challenges", headers, body)
    end
    local kid = key_name(device)
    local now = os.time()
    local header = string.format('{"alg":"ES256","kid":"%s","typ":"whorl-login+jwt"}', kid)
    local claims = string.format(
        '{"aud":"%s","device":"device-%d","domain":"%s","exp":%d,"iat":%d,"iss":"urn:ietf:params:oauth:jwk-thumbprint:sha-256:%s",'
            .. '"jti":"%s","method":"finger","nonce":"%s","purpose":"login","sub":"user-%d"}',
        origin, device, string.rep("A", 43), now + 60, now, kid, base64url(random(16)), challenge, device)
    local input = base64url(header) .. "." .. base64url(claims)
    challenge = nil
    local signature = base64url(sign(input, sha256("device " .. device)))
    return wrk.format("POST", "/v1/sessions", headers, '{"assertion":"' .. input .. "." .. signature .. '"}')
end

function response(status, _, body)
    if status == 201 then
        challenge = body:match('"challenge":"([%w_-]+)"')
        if body:find('"token"', 1, true) then sessions = sessions + 1 end
    else
        challenge = nil
        refused = refused + 1
    end
end

-- One line: logins, refused requests, seconds, p50 and p99 of a request in ms.
function done(summary, latency)
    local logins, failures = 0, 0
    for _, thread in ipairs(threads) do
        logins = logins + (thread:get("sessions") or 0)
        failures = failures + (thread:get("refused") or 0)
    end
    for _, kind in ipairs({ "connect", "read", "write", "timeout" }) do failures = failures + summary.errors[kind] end
    print(string.format("RESULT %d %d %.3f %.3f %.3f", logins, failures, summary.duration / 1e6, latency:percentile(50) / 1000,
        latency:percentile(99) / 1000))
end
