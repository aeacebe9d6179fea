-- SPDX-License-Identifier: Apache-2.0
--
-- Challenges for wrk that nobody answers: anyone may ask for one, for any name.
--
-- usage: wrk -t N -c N … -s stranger.lua URL

local headers = { ["Content-Type"] = "application/json" }
local threads = {}

function setup(thread) threads[#threads + 1] = thread end

function init() given, refused = 0, 0 end

function request()
    local body = string.format('{"user":"stranger-%d","device":"none","purpose":"login"}', math.random(1, 1000000))
    return wrk.format("POST", "/v1/challenges", headers, body)
end

function response(status) if status == 201 then given = given + 1 else refused = refused + 1 end end

-- One line, as that of login.lua.
function done(summary, latency)
    local all, failures = 0, 0
    for _, thread in ipairs(threads) do
        all = all + (thread:get("given") or 0)
        failures = failures + (thread:get("refused") or 0)
    end
    print(string.format("RESULT %d %d %.3f %.3f %.3f", all, failures, summary.duration / 1e6, latency:percentile(50) / 1000,
        latency:percentile(99) / 1000))
end
