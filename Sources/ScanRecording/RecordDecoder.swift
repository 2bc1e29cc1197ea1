import IndoorVocabulary

/// The content of a decoded line.
package enum DecodedLine {
    case entry(RecordingEntry)
    /// A sighting or advertisement whose RSSI is not a measurement.
    case notAMeasurement(Instant)
    /// A type that this package doesn't know.
    case unknownType
}

/// A decoder that turns a line of a recording into an entry, and checks every field against the file format.
package struct RecordDecoder {
    private var fields = RecordFields()
    private let anyNumber = -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude
    private let identifiers = -(1 << 53)...(1 << 53)

    /// Creates a decoder, which can be used for many lines.
    package init() {}

    /// Decodes one line, or throws the problem with it.
    package mutating func decode(_ line: Span<UInt8>) throws(RecordProblem) -> DecodedLine {
        try fields.scan(line)
        guard let type = try fields.recordType(line) else { return .unknownType }
        switch type {
        case .header: return .entry(.header(try header(line)))
        case .beacon: return try beacon(line)
        case .advertisement: return try advertisement(line)
        case .motion: return .entry(.measurement(.motion(try motion(line))))
        case .step: return .entry(.measurement(.step(try step(line))))
        case .pressure: return .entry(.measurement(.pressure(try pressure(line))))
        case .gnss: return .entry(.measurement(.gnss(try gnss(line))))
        case .fix: return .entry(.measurement(.fix(try fix(line))))
        case .truth: return .entry(.truth(try truth(line)))
        case .radio: return try radio(line)
        case .range: return .entry(.measurement(.range(try range(line))))
        }
    }

    private func header(_ line: Span<UInt8>) throws(RecordProblem) -> RecordingHeader {
        guard try fields.string(.format, line) == RecordingHeader.format else {
            throw RecordProblem(.format, .notARecording)
        }
        let version = try fields.integer(.version, in: 1...Int(Int32.max), line)
        guard version <= RecordingHeader.newestVersion else {
            throw RecordProblem(.version, .unsupportedVersion(version))
        }
        var header = RecordingHeader(
            startedAt: try fields.optionalString(.startedAt, line), device: try fields.optionalString(.device, line),
            venueID: try fields.optionalInteger(.venueId, in: identifiers, line).map(VenueID.init(rawValue:)),
            name: try fields.optionalString(.name, line),
            // A trace identifier in another form doesn't make the recording unreadable.
            traceID: try fields.optionalString(.traceId, line).flatMap { TraceID($0) })
        header.version = version
        return header
    }

    // MARK: - Radio

    /// Returns the RSSI that the radio reported: a signed byte. 127 and values of 0 or above are not measurements.
    private func rssi(_ line: Span<UInt8>) throws(RecordProblem) -> Double {
        try fields.number(.rssi, in: -128...127, line)
    }

    private func beacon(_ line: Span<UInt8>) throws(RecordProblem) -> DecodedLine {
        let instant = try fields.instant(line)
        guard let uuid = BeaconUUID(try fields.string(.uuid, line)) else {
            throw RecordProblem(.uuid, .wrongType(expected: "a UUID of 32 hexadecimal digits"))
        }
        let identity = BeaconIdentity(
            uuid: uuid, major: UInt16(try fields.integer(.major, in: 0...65535, line)),
            minor: UInt16(try fields.integer(.minor, in: 0...65535, line)))
        let sighting = Sighting(
            instant: instant, beacon: identity, rssi: try rssi(line),
            measuredPower: try fields.optionalNumber(.measuredPower, in: -128...127, line),
            address: try optionalAddress(line))
        guard sighting.hasMeasurement else { return .notAMeasurement(instant) }
        return .entry(.measurement(.sighting(sighting)))
    }

    private func advertisement(_ line: Span<UInt8>) throws(RecordProblem) -> DecodedLine {
        let instant = try fields.instant(line)
        guard let address = try optionalAddress(line) else { throw RecordProblem(.address, .missingField) }
        let advertisement = Advertisement(
            instant: instant, address: address, rssi: try rssi(line), data: try fields.hexBytes(.data, line))
        guard advertisement.hasMeasurement else { return .notAMeasurement(instant) }
        return .entry(.measurement(.advertisement(advertisement)))
    }

    private func radio(_ line: Span<UInt8>) throws(RecordProblem) -> DecodedLine {
        let instant = try fields.instant(line)
        // This version cannot interpret a status that a later version defines.
        guard let status = RadioEvent.Status(rawValue: try fields.string(.status, line)) else { return .unknownType }
        return .entry(
            .measurement(
                .radio(
                    RadioEvent(
                        instant: instant, status: status, adapter: try fields.optionalString(.adapter, line),
                        detail: try fields.optionalString(.detail, line)))))
    }

    private func optionalAddress(_ line: Span<UInt8>) throws(RecordProblem) -> DeviceAddress? {
        guard let text = try fields.optionalString(.address, line) else { return nil }
        guard var address = DeviceAddress(text) else {
            throw RecordProblem(.address, .wrongType(expected: "six hexadecimal pairs with colons"))
        }
        if let kind = try fields.optionalString(.addressType, line) {
            address.kind = DeviceAddress.Kind(rawValue: kind)
            guard address.kind != nil else {
                throw RecordProblem(.addressType, .wrongType(expected: "\"public\" or \"random\""))
            }
        }
        return address
    }

    // MARK: - Device

    private func motion(_ line: Span<UInt8>) throws(RecordProblem) -> MotionSample {
        MotionSample(
            instant: try fields.instant(line), acceleration: try fields.vector(.acceleration, line),
            rotationRate: try fields.vector(.rotationRate, line),
            magneticField: try fields.vector(.magneticField, line), attitude: try fields.quaternion(.attitude, line))
    }

    private func step(_ line: Span<UInt8>) throws(RecordProblem) -> Step {
        Step(
            instant: try fields.instant(line), length: try fields.optionalNumber(.length, in: 0...10, line),
            heading: try fields.optionalNumber(.heading, in: 0...(360.0).nextDown, line))
    }

    private func pressure(_ line: Span<UInt8>) throws(RecordProblem) -> PressureSample {
        // The range includes mountains and pressure chambers, but rejects values in pascals or bars.
        PressureSample(instant: try fields.instant(line), hectopascals: try fields.number(.hPa, in: 100...2000, line))
    }

    // MARK: - Places

    private func gnss(_ line: Span<UInt8>) throws(RecordProblem) -> GNSSFix {
        GNSSFix(
            instant: try fields.instant(line),
            coordinate: Coordinate(
                latitude: try fields.number(.latitude, in: -90...90, line),
                longitude: try fields.number(.longitude, in: -180...180, line)),
            accuracy: try fields.number(.accuracy, in: 0...1e8, line),
            altitude: try fields.optionalNumber(.altitude, in: anyNumber, line),
            speed: try fields.optionalNumber(.speed, in: 0...1e6, line),
            course: try fields.optionalNumber(.course, in: 0...(360.0).nextDown, line))
    }

    private func fix(_ line: Span<UInt8>) throws(RecordProblem) -> Fix {
        Fix(
            instant: try fields.instant(line),
            mapID: MapID(rawValue: try fields.integer(.mapId, in: identifiers, line)),
            point: MapPoint(
                x: try fields.number(.x, in: anyNumber, line), y: try fields.number(.y, in: anyNumber, line)),
            radius: try fields.number(.radius, in: Double.leastNonzeroMagnitude...1e8, line),
            isSoft: try fields.optionalBool(.soft, line) ?? false)
    }

    private func range(_ line: Span<UInt8>) throws(RecordProblem) -> RangeReading {
        RangeReading(
            instant: try fields.instant(line),
            anchor: try fields.name(.anchor, upTo: RangeReading.longestName, line),
            distance: try fields.number(.distance, in: RangeReading.distances, line),
            deviation: try fields.optionalNumber(.deviation, in: RangeReading.deviations, line),
            technology: RangeTechnology(
                rawValue: try fields.name(.technology, upTo: RangeReading.longestName, line)))
    }

    private func truth(_ line: Span<UInt8>) throws(RecordProblem) -> Truth {
        var truth = Truth(
            instant: try fields.instant(line),
            mapID: try fields.optionalInteger(.mapId, in: identifiers, line).map(MapID.init(rawValue:)),
            room: try fields.optionalString(.room, line), isHold: try fields.optionalBool(.hold, line) ?? false)
        if truth.room == nil || fields.has(.x) || fields.has(.y) {
            guard truth.mapID != nil else { throw RecordProblem(.mapId, .missingField) }
            truth.point = MapPoint(
                x: try fields.number(.x, in: anyNumber, line), y: try fields.number(.y, in: anyNumber, line))
        }
        return truth
    }
}
