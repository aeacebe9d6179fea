// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import WhorlSupport

extension ByteWriter {
    /// The bytes so far, as the database takes them.
    package var data: Data { Data(bytes) }
}
