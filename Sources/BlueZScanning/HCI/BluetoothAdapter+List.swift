extension BluetoothAdapter {
    /// The adapters of this machine that can scan, by number. Needs no capability.
    ///
    /// An adapter that was plugged in a moment ago may have the address 00:00:00:00:00:00 until it told its own.
    /// - Throws: `.noBluetooth`, or what the system says.
    public static func all() throws(BluetoothError) -> [BluetoothAdapter] {
        try HCISocket().devices().map(\.adapter)
    }
}
