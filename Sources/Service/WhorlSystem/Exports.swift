// SPDX-License-Identifier: Apache-2.0

// A program asks the services of this module with the values of that one.
@_exported public import WhorlService
