// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The metrics of the server, in Prometheus' text format (exposition format 0.0.4).
///
/// Labels are names from the code, never text from a client, so that no client can make the list grow.
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

    private struct State {
        var requests: [Request: Int] = [:]
        var bucketCounts = [Int](repeating: 0, count: Metrics.buckets.count + 1)
        var seconds = 0.0
        var sessions: [String: Int] = ["ok": 0]
    }

    private let state = Mutex(State())
    private let startedAt: Int

    /// - Parameter startedAt: The time of the start, in seconds since 1970.
    init(startedAt: Int) { self.startedAt = startedAt }

    /// Counts an answered request.
    ///
    /// - Parameters:
    ///   - method: The method: GET, POST and so on, `other` for an unknown one.
    ///   - route: The route's pattern, such as `/v1/devices/{device}`.
    ///   - status: The status of the response.
    ///   - seconds: The time from the head of the request to the response.
    func count(method: String, route: String, status: Int, seconds: Double) {
        state.withLock { state in
            state.requests[Request(method: method, route: route, status: status), default: 0] += 1
            state.bucketCounts[Self.buckets.firstIndex { seconds <= $0 } ?? Self.buckets.count] += 1
            state.seconds += seconds
        }
    }

    /// Counts a sign-in.
    ///
    /// - Parameter result: The result: `ok`, or the code of the problem.
    func countSession(_ result: String) {
        state.withLock { $0.sessions[result, default: 0] += 1 }
    }

    /// All metrics as text.
    var text: String {
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
            var sum = 0
            for (bound, count) in zip(Self.buckets.map { "\($0)" } + ["+Inf"], state.bucketCounts) {
                sum += count
                lines.append(#"whorl_login_request_duration_seconds_bucket{le="\#(bound)"} \#(sum)"#)
            }
            lines += [
                "whorl_login_request_duration_seconds_sum \(state.seconds)",
                "whorl_login_request_duration_seconds_count \(sum)",
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
            ]
            return lines.joined(separator: "\n") + "\n"
        }
    }
}
