import Glibc

/// Error numbers of the system that the scan must tell apart.
package enum HCIErrorNumber {
    /// The adapter has power already.
    package static let already = EALREADY
    /// A radio switch (rfkill) blocks the adapter.
    package static let blockedBySwitch = ERFKILL
    /// No packet waits.
    package static let nothingWaits = EAGAIN
    /// A capability is missing.
    package static let notPermitted = EPERM
}
