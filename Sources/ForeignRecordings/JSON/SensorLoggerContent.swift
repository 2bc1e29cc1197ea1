import BeaconScanning
import IndoorVocabulary
import TagTracking
import TextFormats

/// The records of the app Sensor Logger as JSON: an array of objects, one for each reading of any sensor.
///
/// The app writes most numbers as text, and times in nanoseconds since 1970.
/// Source: K. T. H. Choi, github.com/tszheichoi/awesome-sensor-logger, `README.md`.
struct SensorLoggerContent: RecordContent {
    private struct Fields {
        var sensor: String?
        var time: String?
        var rssi: String?
        var id: String?
        var manufacturerData: [UInt8] = []
        var advertisement: [UInt8] = []
    }

    private let settings: ForeignRecordingSettings

    init(_ settings: ForeignRecordingSettings) { self.settings = settings }

    mutating func decode(_ record: [UInt8], into output: inout ForeignOutput) throws(ForeignProblem) {
        var reader = JSONReader(record, limits: .gateway)
        var fields = Fields()
        try reader.object(nil) { (reader, key) throws(ForeignProblem) in
            switch key {
            case "sensor": fields.sensor = try reader.text(key)
            case "time": fields.time = try reader.numberText(key, in: record)
            case "rssi": fields.rssi = try reader.numberText(key, in: record)
            case "id": fields.id = try reader.text(key)
            case "manufacturerData": fields.manufacturerData = try reader.byteList(key) ?? []
            case "advertisement": fields.advertisement = try reader.byteList(key) ?? []
            default: return false
            }
            return true
        }
        guard let sensor = fields.sensor else {
            throw ForeignProblem("sensor", .missing(expected: "the name of a sensor"))
        }
        guard sensor.lowercased().hasPrefix("bluetooth") else {
            return output.ignore("records of \(sensor.prefix(40))")
        }
        guard let text = fields.time, !text.isEmpty else {
            throw ForeignProblem("time", .missing(expected: "nanoseconds since 1970"))
        }
        guard let time = ForeignTime.text(text, zoneOffset: settings.zoneOffset) else {
            throw .invalid("time", text, expected: "nanoseconds since 1970")
        }
        guard let strength = fields.rssi, !strength.isEmpty else {
            return output.ignore("records without a signal strength")
        }
        guard let rssi = FieldText.number(strength) else {
            throw .invalid("rssi", strength, expected: "a number of dBm")
        }
        guard fields.advertisement.count <= AdvertisingReassembler.maximumLength else {
            throw ForeignProblem("advertisement", .tooLong(limit: AdvertisingReassembler.maximumLength))
        }
        var data = AdvertisingData()
        if !fields.manufacturerData.isEmpty {
            try data.append(
                AdvertisingStructure.KnownType.manufacturerData, fields.manufacturerData, "manufacturerData")
        }
        // Newer versions write the whole advertisement, which contains the manufacturer data.
        let bytes = fields.advertisement.isEmpty ? data.bytes : fields.advertisement
        output.add(advertising: bytes, fields.id.flatMap { FieldText.address($0) }, rssi: rssi, at: time)
    }
}
