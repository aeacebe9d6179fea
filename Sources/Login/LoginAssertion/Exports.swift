// SPDX-License-Identifier: Apache-2.0

// A server's name is a part of every assertion.
@_exported public import WhorlLoginOrigin
