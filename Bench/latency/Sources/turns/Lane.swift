// SPDX-License-Identifier: Apache-2.0

/// One thing that is measured again and again, in turns with others.
final class Lane {
    private let client: Client
    private let command: String
    private let preparation: String?
    private let presses: [[UInt8]]
    /// Until the result was known.
    private(set) var results: Figures
    /// Until the operation had ended.
    private(set) var ends: Figures

    /// - Parameters:
    ///   - client: Who does it.
    ///   - command: What it does with one press.
    ///   - preparation: A command that precedes each press, and is not measured.
    ///   - presses: Of finger 0, which must be recognized.
    init(_ client: Client, _ command: String, after preparation: String? = nil, presses: [[UInt8]]) {
        self.client = client
        self.command = command
        self.preparation = preparation
        self.presses = presses
        results = Figures(presses: presses.count)
        ends = Figures(presses: presses.count)
    }

    /// Runs all lanes in turns; a first run does not count.
    ///
    /// Each lane takes all of its presses once, then it is the next one's turn; who is first, changes.
    static func run(_ lanes: [Lane], rounds: Int) throws {
        var order = lanes
        for round in -1..<rounds {
            for lane in order { try lane.takePresses(counts: round >= 0) }
            order.append(order.removeFirst())
        }
    }

    private func takePresses(counts: Bool) throws {
        for (number, picture) in presses.enumerated() {
            if let preparation { try client.ask(preparation) }
            let outcome = try client.measure(command, putting: picture)
            guard outcome.who == "0" else {
                throw Failure(text: "\(client.name): the finger was \(outcome.who)")
            }
            guard counts else { continue }
            results.append(nanoseconds: outcome.result, press: number)
            ends.append(nanoseconds: outcome.end, press: number)
        }
    }
}
