import IndoorVocabulary
import ScanRecording
import TextFormats

/// The lines of a trace of the competition Indoor Location & Navigation.
///
/// A line has tabs between its fields: milliseconds since 1970, the type, and the values. Lines with # are comments.
/// Source: Microsoft Research and XYZ10, github.com/location-competition/indoor-location-competition-20, `README.md`.
struct IndoorLocationContent: RecordContent {
    private let settings: ForeignRecordingSettings
    private var motion = MotionCollector()

    init(_ settings: ForeignRecordingSettings) { self.settings = settings }

    mutating func finish(into output: inout ForeignOutput) { motion.finish(into: &output) }

    mutating func decode(_ record: [UInt8], into output: inout ForeignOutput) throws(ForeignProblem) {
        guard record.first != UInt8(ascii: "#") else { return comment(record, &output) }
        let fields = SeparatedFields(record, separator: "\t")
        let time = try fields.time(0, "time", unit: 6, isUnix: true)
        switch fields[1] {
        case "TYPE_ACCELEROMETER":
            motion.add(.acceleration, try fields.vector(2, "TYPE_ACCELEROMETER"), at: time, into: &output)
        case "TYPE_GYROSCOPE":
            motion.add(.rotationRate, try fields.vector(2, "TYPE_GYROSCOPE"), at: time, into: &output)
        case "TYPE_MAGNETIC_FIELD":
            motion.add(.magneticField, try fields.vector(2, "TYPE_MAGNETIC_FIELD"), at: time, into: &output)
        case "TYPE_BEACON":
            motion.finish(into: &output)
            let beacon = BeaconIdentity(
                uuid: try fields.uuid(2, "UUID"), major: try fields.number16(3, "MajorID"),
                minor: try fields.number16(4, "MinorID"))
            output.add(
                beacon, try fields.address(8, "MAC"), rssi: try fields.number(6, "RSSI"),
                power: try fields.number(5, "TxPower", in: -128...127), at: time)
        case "TYPE_WAYPOINT":
            let point = MapPoint(
                x: try fields.number(2, "x", in: Truth.coordinates), y: try fields.number(3, "y", in: Truth.coordinates)
            )
            guard let map = settings.map, let height = settings.mapHeight else {
                return output.ignore("TYPE_WAYPOINT lines, which need --map with the height of the map")
            }
            motion.finish(into: &output)
            output.add(
                Truth(instant: .zero, mapID: map, point: MapPoint(x: point.x, y: height - point.y)), at: time)
        case let type where type.hasPrefix("TYPE_") && type.utf8.count <= 60: output.ignore("\(type) lines")
        default: throw .invalid("type", fields[1], expected: "a type such as TYPE_BEACON")
        }
    }

    /// Reads the model of the phone from a comment such as `Brand:OPPO` and `Model:PBCM10`.
    private func comment(_ record: [UInt8], _ output: inout ForeignOutput) {
        let text = String(decoding: record.prefix(1000), as: UTF8.self)
        var (brand, model) = (Substring(), Substring())
        for part in text.split(separator: "\t") {
            let words = part.split(separator: ":", maxSplits: 1).map(CSVText.trimmed)
            guard words.count == 2 else { continue }
            if words[0] == "Brand" { brand = words[1] + " " }
            if words[0] == "Model" { model = words[1] }
        }
        if !model.isEmpty { output.device = String((brand + model).prefix(100)) }
    }
}
