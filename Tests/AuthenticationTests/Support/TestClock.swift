// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlStateStore
import Synchronization

/// Clocks that stand still until a test moves them.
final class TestClock: Sendable {
    private let moment = Mutex(Moment(bootID: "boot-1", sinceBoot: 3_600_000, wall: 1_700_000_000_000))

    var time: MachineTime { MachineTime { self.moment.withLock { $0 } } }

    /// Lets both clocks run.
    func advance(_ duration: Duration) {
        move {
            Moment(
                bootID: $0.bootID,
                sinceBoot: $0.sinceBoot + duration.ms,
                wall: $0.wall + duration.ms,
                asleep: $0.asleep
            )
        }
    }

    /// Lets the machine sleep.
    func sleep(_ duration: Duration) {
        move {
            Moment(
                bootID: $0.bootID,
                sinceBoot: $0.sinceBoot + duration.ms,
                wall: $0.wall + duration.ms,
                asleep: $0.asleep + duration.ms
            )
        }
    }

    /// Sets the wall clock alone.
    func setWall(by duration: Duration) {
        move {
            Moment(
                bootID: $0.bootID,
                sinceBoot: $0.sinceBoot,
                wall: $0.wall + duration.ms,
                asleep: $0.asleep
            )
        }
    }

    /// Starts the machine anew; the wall clock goes on.
    func reboot(after pause: Duration = .zero) {
        move { Moment(bootID: $0.bootID + "+", sinceBoot: 1000, wall: $0.wall + pause.ms) }
    }

    private func move(_ change: (Moment) -> Moment) { moment.withLock { $0 = change($0) } }
}

extension Duration {
    fileprivate var ms: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
