import IndoorVocabulary
import ScanRecording
import TextFormats

/// The lines of a log of GetSensorData 3.1, an app for Android, and of the versions before it.
///
/// Each line begins with a word of four letters, and has semicolons between its fields. Lines with % are comments.
/// Source: A. R. Jiménez, F. Seco and J. Torres-Sospedra, *Tools for smartphone multi-sensor data registration and GT
/// mapping for positioning applications*, IPIN 2019; the description of each line that the app writes into a log.
struct GetSensorDataContent: RecordContent {
    private let settings: ForeignRecordingSettings
    private var motion = MotionCollector()
    private var maker: Substring = ""

    init(_ settings: ForeignRecordingSettings) { self.settings = settings }

    mutating func finish(into output: inout ForeignOutput) { motion.finish(into: &output) }

    mutating func decode(_ record: [UInt8], into output: inout ForeignOutput) throws(ForeignProblem) {
        guard record.first != UInt8(ascii: "%") else { return comment(record, &output) }
        let fields = SeparatedFields(record, separator: ";")
        switch fields[0] {
        case "ACCE", "GYRO", "MAGN":
            let time = try time(fields)
            let value = try fields.vector(3, String(fields[0]))
            let sensor: MotionCollector.Sensor =
                fields[0] == "ACCE" ? .acceleration : fields[0] == "GYRO" ? .rotationRate : .magneticField
            return motion.add(sensor, value, at: time, into: &output)
        case "PRES", "GNSS", "BLE4", "POSI": break
        default: return try ignore(fields, &output)
        }
        motion.finish(into: &output)
        let time = try time(fields)
        switch fields[0] {
        case "PRES":
            let pressure = try fields.number(3, "Pres(mbar)", in: 100...2000)
            output.add(.pressure(PressureSample(instant: .zero, hectopascals: pressure)), at: time)
        case "GNSS": output.add(.gnss(try gnss(fields)), at: time)
        case "BLE4": try beacon(fields, at: time, &output)
        default: try truth(fields, at: time, &output)
        }
    }

    private func time(_ fields: SeparatedFields) throws(ForeignProblem) -> ForeignTime {
        try fields.time(1, "AppTimestamp(s)", unit: 9, isUnix: false)
    }

    /// Counts a line of another sensor.
    private func ignore(_ fields: SeparatedFields, _ output: inout ForeignOutput) throws(ForeignProblem) {
        let word = fields[0]
        guard word.count == 4, word.allSatisfy({ $0.isASCII && ($0.isUppercase || $0.isNumber) }) else {
            throw ForeignProblem(nil, .malformed("expected a word such as ACCE and a semicolon"))
        }
        output.ignore("\(word) lines")
    }

    /// Reads the model of the phone from the comments at the beginning.
    private mutating func comment(_ record: [UInt8], _ output: inout ForeignOutput) {
        let text = String(decoding: record.dropFirst().prefix(200), as: UTF8.self)
        let parts = text.split(separator: ":", maxSplits: 1).map(CSVText.trimmed)
        guard parts.count == 2, !parts[1].isEmpty else { return }
        if parts[0] == "Manufacturer" { maker = parts[1] + " " }
        if parts[0] == "Model" { output.device = String((maker + parts[1]).prefix(100)) }
    }

    /// Reads a beacon: an iBeacon with its complete identity, or any other beacon as an advertisement of its address.
    private func beacon(
        _ fields: SeparatedFields, at time: ForeignTime, _ output: inout ForeignOutput
    ) throws(ForeignProblem) {
        guard fields[2] == "iBeacon" || fields[2] == "Eddystone" else {
            // The earliest versions wrote only major, minor and RSSI.
            if FieldText.number(fields[2]) != nil { return output.ignore("BLE4 lines without a UUID and an address") }
            throw .invalid("type", fields[2], expected: "iBeacon or Eddystone")
        }
        let address = try fields.address(3, "MAC")
        let rssi = try fields.number(4, "RSSI(dBm)")
        guard fields[2] == "iBeacon", fields.count >= 9 else {
            return output.add(nil, address, rssi: rssi, at: time)
        }
        let beacon = BeaconIdentity(
            uuid: try fields.uuid(8, "UUID"), major: try fields.number16(6, "MajorID"),
            minor: try fields.number16(7, "MinorID"))
        output.add(beacon, address, rssi: rssi, power: try fields.number(5, "Power", in: -128...127), at: time)
    }

    private func gnss(_ fields: SeparatedFields) throws(ForeignProblem) -> GNSSFix {
        let course = FieldText.number(fields[6]).flatMap { (0..<360).contains($0) ? $0 : nil }
        return GNSSFix(
            instant: .zero,
            coordinate: Coordinate(
                latitude: try fields.number(3, "Latit(deg)", in: -90...90),
                longitude: try fields.number(4, "Long(deg)", in: -180...180)),
            accuracy: try fields.number(7, "Accuracy(m)", in: 0...1e8), altitude: FieldText.number(fields[5]),
            speed: FieldText.number(fields[8]).flatMap { (0...1e6).contains($0) ? $0 : nil }, course: course)
    }

    /// Reads a mark of the ground truth. A mark that has no position yet has zeros.
    private func truth(
        _ fields: SeparatedFields, at time: ForeignTime, _ output: inout ForeignOutput
    ) throws(ForeignProblem) {
        let coordinate = Coordinate(
            latitude: try fields.number(3, "Latitude(deg)", in: -90...90),
            longitude: try fields.number(4, "Longitude(deg)", in: -180...180))
        let floor = Int(try fields.number(5, "floorID", in: -1000...1000))
        guard coordinate.latitude != 0 || coordinate.longitude != 0 else {
            return output.ignore("POSI lines without a position")
        }
        guard let (map, point) = settings.place?(coordinate, floor) else {
            return output.ignore("POSI lines, which need --venue with a georeferenced map of their floor")
        }
        guard Truth.coordinates.contains(point.x), Truth.coordinates.contains(point.y) else {
            throw ForeignProblem("Latitude(deg)", .malformed("the position is more than 1000 km from the map"))
        }
        output.add(Truth(instant: .zero, mapID: map, point: point), at: time)
    }
}
