// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty
internal import Synchronization

/// The metrics of the server, in Prometheus' text format (exposition format 0.0.4).
///
/// Labels come from the code, never from a client, so that no client can make the list grow.
final class Metrics: Sendable {
    /// The upper bounds of the histogram's buckets, in seconds.
    static let buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

    private struct Request: Hashable, Comparable {
        let method: String
        let route: String
        let status: Int

        static func < (left: Request, right: Request) -> Bool {
            (left.route, left.method, left.status) < (right.route, right.method, right.status)
        }
    }

    /// The response times of one route; otherwise slow password checks would not be visible among the many other
    /// requests.
    private struct Durations {
        var bucketCounts = [Int](repeating: 0, count: Metrics.buckets.count + 1)
        var seconds = 0.0
    }

    /// Current values.
    struct Gauges {
        var connections = 0
        var refusedConnections = 0
        var connectedAddresses = 0
        var passwordsWaiting = 0
        var databaseWait = StoreWait()
        var signingKeyAge = 0
    }

    private struct State {
        var requests: [Request: Int] = [:]
        var durations: [String: Durations] = [:]
        var upkeepFailures = 0
        var sessions: [String: Int] = ["ok": 0]
    }

    private let state = Mutex(State())
    private let startedAt: Int

    /// Creates the metrics.
    ///
    /// - Parameter startedAt: The start time, in seconds since 1970.
    init(startedAt: Int) { self.startedAt = startedAt }

    /// Counts a completed request.
    ///
    /// - Parameters:
    ///   - method: The method: GET, POST and so on, `other` for an unknown one.
    ///   - route: The route's pattern, such as `/v1/devices/{device}`.
    ///   - status: The status of the response.
    ///   - seconds: The time from the head of the request to the response.
    func count(method: String, route: String, status: Int, seconds: Double) {
        state.withLock { state in
            state.requests[Request(method: method, route: route, status: status), default: 0] += 1
            let bucket = Self.buckets.firstIndex { seconds <= $0 } ?? Self.buckets.count
            state.durations[route, default: Durations()].bucketCounts[bucket] += 1
            state.durations[route, default: Durations()].seconds += seconds
        }
    }

    /// Counts a sign-in.
    ///
    /// - Parameter result: The result: `ok`, or the code of the problem.
    func countSession(_ result: String) {
        state.withLock { $0.sessions[result, default: 0] += 1 }
    }

    /// Counts a failed upkeep.
    func countUpkeepFailure() { state.withLock { $0.upkeepFailures += 1 } }

    /// Returns all metrics as text.
    func text(_ gauges: Gauges) -> String {
        state.withLock { state in
            var lines = [
                "# HELP whorl_login_requests_total Answered requests.",
                "# TYPE whorl_login_requests_total counter",
            ]
            for (request, count) in state.requests.sorted(by: { $0.key < $1.key }) {
                let labels =
                    #"method="\#(request.method)",route="\#(request.route)",status="\#(request.status)""#
                lines.append("whorl_login_requests_total{\(labels)} \(count)")
            }
            lines += [
                "# HELP whorl_login_request_duration_seconds Time from a request's head to its answer.",
                "# TYPE whorl_login_request_duration_seconds histogram",
            ]
            for (route, durations) in state.durations.sorted(by: { $0.key < $1.key }) {
                let name = "whorl_login_request_duration_seconds"
                var sum = 0
                for (bound, count) in zip(Self.buckets.map { "\($0)" } + ["+Inf"], durations.bucketCounts) {
                    sum += count
                    lines.append(#"\#(name)_bucket{route="\#(route)",le="\#(bound)"} \#(sum)"#)
                }
                lines.append(#"\#(name)_sum{route="\#(route)"} \#(durations.seconds)"#)
                lines.append(#"\#(name)_count{route="\#(route)"} \#(sum)"#)
            }
            lines += [
                "# HELP whorl_login_sessions_total Sign-ins by result: ok, or why not.",
                "# TYPE whorl_login_sessions_total counter",
            ]
            for (result, count) in state.sessions.sorted(by: { $0.key < $1.key }) {
                lines.append(#"whorl_login_sessions_total{result="\#(result)"} \#(count)"#)
            }
            lines += [
                "# HELP whorl_login_start_time_seconds When the server started, in seconds since 1970.",
                "# TYPE whorl_login_start_time_seconds gauge",
                "whorl_login_start_time_seconds \(startedAt)",
                "# HELP whorl_login_connections Open connections.",
                "# TYPE whorl_login_connections gauge",
                "whorl_login_connections \(gauges.connections)",
                "# HELP whorl_login_connections_refused_total Connections of addresses that had as many as they may have.",
                "# TYPE whorl_login_connections_refused_total counter",
                "whorl_login_connections_refused_total \(gauges.refusedConnections)",
                "# HELP whorl_login_connected_addresses Addresses that have a connection, but for this machine and proxies.",
                "# TYPE whorl_login_connected_addresses gauge",
                "whorl_login_connected_addresses \(gauges.connectedAddresses)",
                "# HELP whorl_login_passwords_under_way Passwords that are checked or wait for that.",
                "# TYPE whorl_login_passwords_under_way gauge",
                "whorl_login_passwords_under_way \(gauges.passwordsWaiting)",
                "# HELP whorl_login_database_waiting Operations that wait for a connection to the database, or another's write.",
                "# TYPE whorl_login_database_waiting gauge",
                "whorl_login_database_waiting \(gauges.databaseWait.operations)",
                "# HELP whorl_login_database_wait_seconds How long the first of them has waited.",
                "# TYPE whorl_login_database_wait_seconds gauge",
                "whorl_login_database_wait_seconds \(gauges.databaseWait.longest / .seconds(1))",
                "# HELP whorl_login_signing_key_age_seconds How long the key has signed that signs now.",
                "# TYPE whorl_login_signing_key_age_seconds gauge",
                "whorl_login_signing_key_age_seconds \(gauges.signingKeyAge)",
                "# HELP whorl_login_upkeep_failures_total Upkeeps that failed; there is one in a minute.",
                "# TYPE whorl_login_upkeep_failures_total counter",
                "whorl_login_upkeep_failures_total \(state.upkeepFailures)",
                "# HELP whorl_login_log_lines_dropped_total Lines of the log that were not taken in time.",
                "# TYPE whorl_login_log_lines_dropped_total counter",
                "whorl_login_log_lines_dropped_total \(LogWriter.standardError.droppedLines)",
            ]
            return lines.joined(separator: "\n") + "\n"
        }
    }
}
