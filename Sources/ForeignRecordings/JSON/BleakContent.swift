import BeaconScanning
import IndoorVocabulary
import TagTracking
import TextFormats

/// JSON objects with the fields of Bleak's `BLEDevice` and `AdvertisementData`.
///
/// The fields may be members of the object, or of objects in it such as `device` and `advertisement`.
/// Source: Bleak, github.com/hbldh/bleak, `bleak/backends/scanner.py`.
struct BleakContent: RecordContent {
    private struct Fields {
        var time: ForeignTime?
        var address: String?
        var rssi: Double?
        var names: [UInt8] = []
        var uuids: [BeaconUUID] = []
        var power: Double?
        var serviceData: [(uuid: BeaconUUID, bytes: [UInt8])] = []
        var manufacturerData: [(company: UInt16, bytes: [UInt8])] = []
    }

    private let settings: ForeignRecordingSettings

    init(_ settings: ForeignRecordingSettings) { self.settings = settings }

    mutating func decode(_ record: [UInt8], into output: inout ForeignOutput) throws(ForeignProblem) {
        var reader = JSONReader(record, limits: .gateway)
        var fields = Fields()
        try read(&reader, record, nil, depth: 0, &fields)
        guard let time = fields.time else {
            throw ForeignProblem("time", .missing(expected: "seconds since 1970, or a time in ISO 8601"))
        }
        guard let rssi = fields.rssi else { throw ForeignProblem("rssi", .missing(expected: "a number of dBm")) }
        let data = try Self.data(of: fields)
        // macOS replaces each address by a UUID of its own.
        output.add(advertising: data, fields.address.flatMap { FieldText.address($0) }, rssi: rssi, at: time)
    }

    /// Returns the structures of an advertisement.
    private static func data(of fields: Fields) throws(ForeignProblem) -> [UInt8] {
        var data = AdvertisingData()
        if !fields.names.isEmpty {
            try data.append(AdvertisingStructure.KnownType.completeName, fields.names, "local_name")
        }
        let uuids = fields.uuids.map(AdvertisingData.bytes)
        for (type, size) in [(AdvertisingStructure.KnownType.serviceUUIDs, 2), (0x07, 16)] {
            let payload = uuids.filter { $0.count == size }.flatMap(\.self)
            if !payload.isEmpty { try data.append(type, payload, "service_uuids") }
        }
        if let power = fields.power.flatMap({ Int8(exactly: $0) }) {
            try data.append(0x0A, [UInt8(bitPattern: power)], "tx_power")
        }
        for (uuid, bytes) in fields.serviceData {
            let uuid = AdvertisingData.bytes(of: uuid)
            let type = uuid.count == 2 ? AdvertisingStructure.KnownType.serviceData : 0x21
            try data.append(type, uuid + bytes, "service_data")
        }
        for (company, bytes) in fields.manufacturerData {
            let number = [UInt8(truncatingIfNeeded: company), UInt8(truncatingIfNeeded: company >> 8)]
            try data.append(AdvertisingStructure.KnownType.manufacturerData, number + bytes, "manufacturer_data")
        }
        return data.bytes
    }

    private func read(
        _ reader: inout JSONReader, _ record: [UInt8], _ field: String?, depth: Int, _ fields: inout Fields
    ) throws(ForeignProblem) {
        try reader.object(field) { (reader, key) throws(ForeignProblem) in
            switch key {
            case "time", "timestamp", "t", "ts", "datetime": fields.time = try time(&reader, record, key)
            case "address", "mac": fields.address = try reader.text(key)
            case "rssi": fields.rssi = try reader.optionalNumber(key) ?? fields.rssi
            case "local_name", "name":
                if let name = try reader.text(key), fields.names.isEmpty { fields.names = Array(name.utf8.prefix(200)) }
            case "tx_power": fields.power = try reader.optionalNumber(key)
            case "service_uuids": try Self.uuids(&reader, key, &fields)
            case "service_data", "manufacturer_data":
                if try Self.isNull(&reader, key) { return false }
                try reader.object(key) { (reader, name) throws(ForeignProblem) in
                    try Self.entry(name, of: key, try reader.byteList("\(key).\(name)") ?? [], &fields)
                    return true
                }
            case "device", "advertisement", "advertisement_data", "adv":
                guard depth == 0, try !Self.isNull(&reader, key) else { return false }
                try read(&reader, record, key, depth: 1, &fields)
            default: return false
            }
            return true
        }
    }

    private static func isNull(_ reader: inout JSONReader, _ field: String) throws(ForeignProblem) -> Bool {
        try reader.value(field) { reader throws(JSONReader.Failure) in try reader.kind() == .null }
    }

    /// Adds an entry of a dictionary of data.
    private static func entry(
        _ name: String, of field: String, _ bytes: [UInt8], _ fields: inout Fields
    ) throws(ForeignProblem) {
        if field == "manufacturer_data" {
            let company = name.hasPrefix("0x") ? UInt16(name.dropFirst(2), radix: 16) : UInt16(name)
            guard let company else { throw .invalid(field, name, expected: "a company from 0 to 65535 as the key") }
            fields.manufacturerData.append((company, bytes))
        } else {
            fields.serviceData.append((try uuid(name, field), bytes))
        }
    }

    private static func uuids(
        _ reader: inout JSONReader, _ field: String, _ fields: inout Fields
    ) throws(ForeignProblem) {
        guard try !Self.isNull(&reader, field) else {
            return try reader.value(field) { reader throws(JSONReader.Failure) in try reader.null() }
        }
        try reader.value(field) { reader throws(JSONReader.Failure) in try reader.enterArray() }
        while try reader.value(field, { reader throws(JSONReader.Failure) in try reader.nextElement() }) {
            if let text = try reader.text(field) { fields.uuids.append(try uuid(text, field)) }
        }
    }

    /// Returns the UUID of 4, 8 or 32 digits.
    private static func uuid(_ text: String, _ field: String) throws(ForeignProblem) -> BeaconUUID {
        if text.utf8.count == 4 || text.utf8.count == 8, let number = UInt64(text, radix: 16) {
            return BeaconUUID(high: number << 32 | 0x1000, low: 0x8000_0080_5F9B_34FB)
        }
        guard let uuid = BeaconUUID(text) else { throw .invalid(field, text, expected: "a UUID") }
        return uuid
    }

    /// Reads a time as a number or a text.
    private func time(
        _ reader: inout JSONReader, _ record: [UInt8], _ field: String
    ) throws(ForeignProblem) -> ForeignTime {
        let text = try reader.numberText(field, in: record) ?? ""
        guard let time = ForeignTime.text(text, zoneOffset: settings.zoneOffset) else {
            throw .invalid(field, text, expected: "seconds since 1970, or a time in ISO 8601")
        }
        return time
    }
}
