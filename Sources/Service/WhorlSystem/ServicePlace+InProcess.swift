// SPDX-License-Identifier: Apache-2.0

package import WhorlRemote
package import WhorlService

extension ServicePlace {
    /// The services selected by this process's environment, for programs that do not select them.
    ///
    /// An invalid selection makes each call fail, without a fallback to another place.
    package static let ofProcess: Services = {
        let choices = ServiceChoices(SystemConfiguration.processEnvironment)
        do throws(Fault) {
            let place = try choices.place()
            if place == .inProcess { return InProcessRoot.shared.services }
            return choices.services(over: try place.transport(choices))
        } catch {
            return choices.services(over: RefusedTransport(error))
        }
    }()
}
