// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication
import X509

let name = try DistinguishedName { CommonName("ada") }
print(name, SecCertificateCreateWithData(nil, Data() as CFData) == nil)
