/// A way from the Bluetooth controller to this process.
public enum ScanRoute: String, Hashable, Sendable, CaseIterable {
    /// The kernel's raw HCI socket: every report, as it came; needs the capabilities CAP_NET_RAW and CAP_NET_ADMIN.
    case hci
    /// The Bluetooth service's D-Bus API: needs no capability, but the service merges reports.
    case dbus
}
