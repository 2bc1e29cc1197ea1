/// What became of an adapter, with the kernel's numbers.
package enum HCIDeviceChange: UInt16, Hashable, Sendable, CaseIterable {
    case registered = 1
    case unregistered = 2
    case up = 3
    case down = 4
}
