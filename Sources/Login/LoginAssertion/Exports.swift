// SPDX-License-Identifier: Apache-2.0

// A server's name is part of every assertion.
@_exported public import WhorlLoginOrigin
