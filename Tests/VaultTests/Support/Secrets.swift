// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlSecretMemory

/// A secret that a test may know.
func secret(_ text: String) -> SecretBox {
    Array(text.utf8).withUnsafeBytes { SecretBox(SecretBytes(copying: $0.bytes)) }
}

func data(_ secret: SecretBox) -> Data { secret.bytes.withUnsafeBytes { Data($0) } }
