import IndoorVocabulary
import TextFormats

/// An encoder that turns an entry into its line.
///
/// The members are in the order of the file format, and each number is as short as an exact round trip allows.
package struct RecordEncoder {
    private var bytes: [UInt8] = []

    /// Returns the line with its newline.
    ///
    /// - Throws: the field whose number is not finite; JSON cannot represent such a number.
    package static func line(for entry: RecordingEntry) throws(RecordProblem) -> [UInt8] {
        var encoder = RecordEncoder()
        encoder.bytes.reserveCapacity(160)
        switch entry {
        case .header(let header): encoder.encode(header)
        case .measurement(let measurement): try encoder.encode(measurement)
        case .truth(let truth): try encoder.encode(truth)
        }
        encoder.bytes.append(contentsOf: "}\n".utf8)
        return encoder.bytes
    }

    private mutating func encode(_ header: RecordingHeader) {
        bytes.append(contentsOf: "{\"type\":\"header\",\"format\":\"\(RecordingHeader.format)\"".utf8)
        append(.version, text: String(header.version))
        append(.startedAt, string: header.startedAt)
        append(.device, string: header.device)
        append(.venueId, text: header.venueID?.description)
        append(.name, string: header.name)
        append(.traceId, string: header.traceID?.description)
    }

    private mutating func encode(_ reading: SensorReading) throws(RecordProblem) {
        switch reading {
        case .sighting(let sighting): try encode(sighting)
        case .advertisement(let advertisement): try encode(advertisement)
        case .motion(let sample):
            begin(.motion, at: sample.instant)
            try append(.acceleration, sample.acceleration)
            try append(.rotationRate, sample.rotationRate)
            try append(.magneticField, sample.magneticField)
            try append(.attitude, numbers: sample.attitude.map { [$0.w, $0.x, $0.y, $0.z] })
        case .step(let step):
            begin(.step, at: step.instant)
            try append(.length, step.length)
            try append(.heading, step.heading)
        case .pressure(let sample):
            begin(.pressure, at: sample.instant)
            try append(.hPa, sample.hectopascals)
        case .gnss(let fix):
            begin(.gnss, at: fix.instant)
            try append(.latitude, fix.coordinate.latitude)
            try append(.longitude, fix.coordinate.longitude)
            try append(.accuracy, fix.accuracy)
            try append(.altitude, fix.altitude)
            try append(.speed, fix.speed)
            try append(.course, fix.course)
        case .fix(let fix):
            begin(.fix, at: fix.instant)
            append(.mapId, text: fix.mapID.description)
            try append(fix.point)
            try append(.radius, fix.radius)
            if fix.isSoft { append(.soft, text: "true") }
        case .range(let range):
            begin(.range, at: range.instant)
            append(.anchor, string: range.anchor)
            try append(.distance, range.distance)
            try append(.deviation, range.deviation)
            append(.technology, string: range.technology.rawValue)
        case .radio(let event):
            begin(.radio, at: event.instant)
            append(.status, string: event.status.rawValue)
            append(.adapter, string: event.adapter)
            append(.detail, string: event.detail)
        }
    }

    private mutating func encode(_ sighting: Sighting) throws(RecordProblem) {
        begin(.beacon, at: sighting.instant)
        append(.uuid, string: sighting.beacon.uuid.description)
        append(.major, text: String(sighting.beacon.major))
        append(.minor, text: String(sighting.beacon.minor))
        try append(.rssi, sighting.rssi)
        try append(.measuredPower, sighting.measuredPower)
        append(.address, string: sighting.address?.description)
        append(.addressType, string: sighting.address?.kind?.rawValue)
    }

    private mutating func encode(_ advertisement: Advertisement) throws(RecordProblem) {
        begin(.advertisement, at: advertisement.instant)
        append(.address, string: advertisement.address.description)
        append(.addressType, string: advertisement.address.kind?.rawValue)
        try append(.rssi, advertisement.rssi)
        append(.data, string: HexDigits.text(of: advertisement.data, uppercase: true))
    }

    private mutating func encode(_ truth: Truth) throws(RecordProblem) {
        begin(.truth, at: truth.instant)
        append(.mapId, text: truth.mapID?.description)
        if let point = truth.point { try append(point) }
        append(.room, string: truth.room)
        if truth.isHold { append(.hold, text: "true") }
    }

    // MARK: - Members

    private mutating func begin(_ type: RecordType, at instant: Instant) {
        bytes.append(
            contentsOf: "{\"t\":\(ShortestNumber.text(billionths: instant.nanoseconds)),\"type\":\"\(type.text)\"".utf8)
    }

    private mutating func append(_ field: RecordField) {
        bytes.append(contentsOf: ",\"\(field.text)\":".utf8)
    }

    private mutating func append(_ field: RecordField, text: String?) {
        guard let text else { return }
        append(field)
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func append(_ field: RecordField, string: String?) {
        guard let string else { return }
        append(field)
        JSONEscapes.append(string, to: &bytes, style: .digits)
    }

    private mutating func append(_ field: RecordField, _ number: Double?) throws(RecordProblem) {
        append(field, text: try number.map { (number) throws(RecordProblem) in try text(number, field) })
    }

    private mutating func append(_ field: RecordField, _ vector: Vector3?) throws(RecordProblem) {
        try append(field, numbers: vector.map { [$0.x, $0.y, $0.z] })
    }

    private mutating func append(_ point: MapPoint) throws(RecordProblem) {
        try append(.x, point.x)
        try append(.y, point.y)
    }

    private mutating func append(_ field: RecordField, numbers: [Double]?) throws(RecordProblem) {
        guard let numbers else { return }
        append(field)
        for (index, number) in numbers.enumerated() {
            bytes.append(index == 0 ? UInt8(ascii: "[") : UInt8(ascii: ","))
            bytes.append(contentsOf: try text(number, field).utf8)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    private func text(_ number: Double, _ field: RecordField) throws(RecordProblem) -> String {
        guard number.isFinite else {
            throw RecordProblem(field, .outOfRange(value: number.description, allowed: "a finite number"))
        }
        return ShortestNumber.text(number)
    }
}
