// SPDX-License-Identifier: Apache-2.0

// A program calls the services of this module with the types of that one.
@_exported public import WhorlService
