/// A route from the Bluetooth controller to this process.
public enum ScanRoute: String, Hashable, Sendable, CaseIterable {
    /// The kernel's raw HCI socket. It delivers every report unchanged, and needs the capabilities CAP_NET_RAW and
    /// CAP_NET_ADMIN.
    case hci
    /// The Bluetooth service's D-Bus API. It needs no capability, but the service merges reports.
    case dbus
}
