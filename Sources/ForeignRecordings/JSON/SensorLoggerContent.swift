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
        var data: [UInt8] = []
    }

    mutating func decode(_ record: [UInt8], into output: inout ForeignOutput) throws(ForeignProblem) {
        var reader = JSONReader(record, limits: .gateway)
        var fields = Fields()
        try reader.object(nil) { (reader, key) throws(ForeignProblem) in
            switch key {
            case "sensor": fields.sensor = try reader.text(key)
            case "time": fields.time = try reader.numberText(key, in: record)
            case "rssi": fields.rssi = try reader.numberText(key, in: record)
            case "id": fields.id = try reader.text(key)
            case "manufacturerData": fields.data = try reader.byteList(key) ?? []
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
        guard let time = ForeignTime.text(text) else {
            throw .invalid("time", text, expected: "nanoseconds since 1970")
        }
        guard let strength = fields.rssi, !strength.isEmpty else {
            return output.ignore("records without a signal strength")
        }
        guard let rssi = FieldText.number(strength) else {
            throw .invalid("rssi", strength, expected: "a number of dBm")
        }
        var data = AdvertisingData()
        if !fields.data.isEmpty {
            try data.append(AdvertisingStructure.KnownType.manufacturerData, fields.data, "manufacturerData")
        }
        output.add(advertising: data.bytes, fields.id.flatMap { FieldText.address($0) }, rssi: rssi, at: time)
    }
}
