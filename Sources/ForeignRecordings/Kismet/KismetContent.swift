import BeaconScanning
import IndoorVocabulary
import TagTracking
import TextFormats

/// The devices of Kismet: its REST interface, `kismetdb_dump_devices`, or lines of its event stream.
///
/// A device is the latest reading of an address, so only repeated exports make a walk. Fields may be nested or, as in a
/// simplified export, named by the end of their path.
/// Source: Kismet, github.com/kismetwireless/kismet, `devicetracker_component.h`, `packet.h` and `phy_bluetooth.h`.
struct KismetContent: RecordContent {
    /// The fields of one device.
    private struct Device {
        var address: String?
        var phy: String?
        /// The kind of device in words, such as `Wi-Fi AP` or `BTLE`.
        var type: String?
        var time: Double?
        var signal: Double?
        var data: [UInt8] = []
    }

    mutating func decode(_ record: [UInt8], into output: inout ForeignOutput) throws(ForeignProblem) {
        var reader = JSONReader(record, limits: .gateway)
        var device = Device()
        try Self.read(&reader, nil, &device)
        // A simplified export may lack the name of the radio.
        if let radio = device.phy ?? device.type, !Self.isBluetooth(radio) {
            return output.ignore("devices of \(radio.prefix(40))")
        }
        guard let text = device.address else {
            throw ForeignProblem("kismet.device.base.macaddr", .missing(expected: "the address of the device"))
        }
        guard let address = FieldText.address(text) else {
            throw .invalid("kismet.device.base.macaddr", text, expected: "six hexadecimal pairs with colons")
        }
        guard let seconds = device.time else {
            throw ForeignProblem("kismet.device.base.last_time", .missing(expected: "seconds since 1970"))
        }
        guard (1e8..<7e9).contains(seconds) else {
            throw .invalid("kismet.device.base.last_time", "\(seconds)", expected: "seconds since 1970")
        }
        let time = ForeignTime(nanoseconds: Int64((seconds * 1e6).rounded()) * 1000, isUnix: true)
        guard let signal = device.signal else { return output.ignore("devices without a signal strength") }
        guard device.data.count <= AdvertisingReassembler.maximumLength else {
            throw ForeignProblem(
                "bluetooth.device.scan_data_bytes", .tooLong(limit: AdvertisingReassembler.maximumLength))
        }
        output.add(nil, address, rssi: signal, data: device.data, at: time)
    }

    private static func isBluetooth(_ radio: String) -> Bool {
        let radio = radio.lowercased()
        return radio.contains("bt") || radio.contains("bluetooth") || radio.contains("ble") || radio.contains("br/edr")
    }

    /// Reads an object of a device, and the objects in it that hold fields of a device.
    private static func read(
        _ reader: inout JSONReader, _ field: String?, _ device: inout Device
    ) throws(ForeignProblem) {
        try reader.object(field) { (reader, key) throws(ForeignProblem) in
            switch key {
            case "kismet.device.base.macaddr": device.address = try reader.text(key)
            case "kismet.device.base.phyname": device.phy = try reader.text(key)
            case "kismet.device.base.type": device.type = try reader.text(key)
            case "kismet.device.base.last_time": device.time = try reader.optionalNumber(key)
            case "kismet.common.signal.last_signal": device.signal = try reader.optionalNumber(key)
            case "bluetooth.device.scan_data_bytes": device.data = try reader.byteList(key) ?? []
            case "kismet.device.base.signal", "bluetooth.device":
                let kind = try reader.value(key) { reader throws(JSONReader.Failure) in try reader.kind() }
                // Kismet writes 0 in place of an object that is missing.
                guard kind == .object else { return false }
                try read(&reader, key, &device)
            default: return false
            }
            return true
        }
    }
}
