import Glibc

/// System error numbers that the scan must distinguish.
package enum HCIErrorNumber {
    /// The adapter is already powered on.
    package static let already = EALREADY
    /// A radio switch (rfkill) blocks the adapter.
    package static let blockedBySwitch = ERFKILL
    /// No packet is waiting.
    package static let nothingWaits = EAGAIN
    /// A capability is missing.
    package static let notPermitted = EPERM
}
