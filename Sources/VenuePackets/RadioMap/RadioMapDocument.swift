import IndoorVocabulary
import VenueModel

/// The JSON structure of a radio map file.
struct RadioMapDocument: Encodable {
    struct Beacon: Encodable {
        var uuid: String
        var major: Int
        var minor: Int
        var mapId: Int
        var x: Double
        var y: Double
        var z: Double?
        var power: Double
    }

    struct Reading: Encodable {
        /// The index into `beacons`.
        var beacon: Int
        var rssi: Double
        var count: Int
        var weight: Double?
    }

    struct Fingerprint: Encodable {
        var mapId: Int
        var x: Double
        var y: Double
        var duration: Double
        var deviation: Double?
        var readings: [Reading]
    }

    struct Fit: Encodable {
        var floorLoss: Double?
        var rateLength: Double?
        var ratePriorDetections: Double?
        var supportWidth: Double?
        var unsupportedShare: Double?
        var coverage: Double?
        var bodyDeviation: Double?
        var receiverDeviation: Double?
        var devices: [String: Receiver]?
    }

    struct Receiver: Encodable {
        var offset: Double
        var deviation: Double
    }

    var format = RadioMapFile.format
    var version = RadioMapFile.version
    var pathLossExponent: Double
    var readingDeviation: Double?
    var fit: Fit?
    var beacons: [Beacon]
    var fingerprints: [Fingerprint]
}

extension RadioMapDocument {
    init(_ radioMap: RadioMap) {
        pathLossExponent = radioMap.pathLossExponent
        readingDeviation = radioMap.readingDeviation
        fit = radioMap.fit == RadioMap.Fit() ? nil : Fit(radioMap.fit)
        beacons = radioMap.beacons.map { beacon in
            Beacon(
                uuid: beacon.identity.uuid.description, major: Int(beacon.identity.major),
                minor: Int(beacon.identity.minor),
                mapId: beacon.mapID.rawValue, x: beacon.point.x, y: beacon.point.y, z: beacon.z, power: beacon.power)
        }
        fingerprints = radioMap.fingerprints.map { fingerprint in
            Fingerprint(
                mapId: fingerprint.mapID.rawValue, x: fingerprint.point.x, y: fingerprint.point.y,
                duration: fingerprint.duration, deviation: fingerprint.deviation == 0 ? nil : fingerprint.deviation,
                readings: fingerprint.readings.map { reading in
                    Reading(
                        beacon: reading.beacon, rssi: reading.rssi, count: reading.count,
                        weight: reading.weight == 0 ? nil : reading.weight)
                })
        }
    }

    /// Returns the radio map after a check of its values.
    ///
    /// - Throws: `PacketFileError` with the path of the first problem.
    func radioMap() throws(PacketFileError) -> RadioMap {
        guard pathLossExponent.isFinite, pathLossExponent > 0 else {
            throw PacketFileError(message: "is \(pathLossExponent); give a number above 0", path: "$.pathLossExponent")
        }
        var seen: Set<BeaconIdentity> = []
        var knownBeacons: [RadioMap.Beacon] = []
        for (index, entry) in beacons.enumerated() {
            let beacon = try beacon(entry, at: "$.beacons[\(index)]")
            guard seen.insert(beacon.identity).inserted else {
                throw PacketFileError(message: "is a duplicate; survey again", path: "$.beacons[\(index)]")
            }
            knownBeacons.append(beacon)
        }
        var knownFingerprints: [RadioMap.Fingerprint] = []
        for (index, entry) in fingerprints.enumerated() {
            knownFingerprints.append(try fingerprint(entry, at: "$.fingerprints[\(index)]"))
        }
        if let readingDeviation, !readingDeviation.isFinite || readingDeviation < 0 {
            throw PacketFileError(message: "is \(readingDeviation); give 0 or more dB", path: "$.readingDeviation")
        }
        var radioMap = RadioMap(
            beacons: knownBeacons, fingerprints: knownFingerprints, pathLossExponent: pathLossExponent,
            readingDeviation: readingDeviation)
        if let fit { radioMap.fit = try fit.checked() }
        return radioMap
    }

    private func beacon(_ entry: Beacon, at path: String) throws(PacketFileError) -> RadioMap.Beacon {
        guard let uuid = BeaconUUID(entry.uuid) else {
            throw PacketFileError(
                message: "is not a UUID; give 32 hexadecimal digits as 8-4-4-4-12", path: path + ".uuid")
        }
        guard let major = UInt16(exactly: entry.major), let minor = UInt16(exactly: entry.minor) else {
            throw PacketFileError(message: "needs a major and a minor in [0, 65535]", path: path)
        }
        guard entry.x.isFinite, entry.y.isFinite, entry.z?.isFinite ?? true, entry.power.isFinite else {
            throw PacketFileError(message: "has a number that is not finite; survey again", path: path)
        }
        return RadioMap.Beacon(
            identity: BeaconIdentity(uuid: uuid, major: major, minor: minor),
            mapID: MapID(rawValue: entry.mapId), point: MapPoint(x: entry.x, y: entry.y), z: entry.z,
            power: entry.power)
    }

    private func fingerprint(_ entry: Fingerprint, at path: String) throws(PacketFileError) -> RadioMap.Fingerprint {
        guard entry.x.isFinite, entry.y.isFinite, entry.duration.isFinite, entry.duration > 0 else {
            throw PacketFileError(message: "needs finite x and y and a duration above 0; survey again", path: path)
        }
        guard (0...1000).contains(entry.deviation ?? 0) else {
            throw PacketFileError(message: "needs a deviation from 0 to 1000 m; survey again", path: path)
        }
        var readings: [RadioMap.Reading] = []
        for (index, reading) in entry.readings.enumerated() {
            let weight = reading.weight ?? 0
            guard beacons.indices.contains(reading.beacon) else {
                throw PacketFileError(
                    message: "there is no beacon \(reading.beacon); survey again",
                    path: "\(path).readings[\(index)].beacon")
            }
            guard reading.rssi.isFinite, weight.isFinite, reading.count > 0 else {
                throw PacketFileError(
                    message: "needs a finite rssi and weight and a count above 0; survey again",
                    path: "\(path).readings[\(index)]")
            }
            readings.append(
                RadioMap.Reading(beacon: reading.beacon, rssi: reading.rssi, count: reading.count, weight: weight))
        }
        return RadioMap.Fingerprint(
            mapID: MapID(rawValue: entry.mapId), point: MapPoint(x: entry.x, y: entry.y), duration: entry.duration,
            deviation: entry.deviation ?? 0, readings: readings)
    }
}

extension RadioMapDocument.Fit {
    init(_ fit: RadioMap.Fit) {
        floorLoss = fit.floorLoss
        rateLength = fit.rateLength
        ratePriorDetections = fit.ratePriorDetections
        supportWidth = fit.supportWidth
        unsupportedShare = fit.unsupportedShare
        coverage = fit.coverage
        bodyDeviation = fit.bodyDeviation
        receiverDeviation = fit.receiverDeviation
        devices =
            fit.devices.isEmpty
            ? nil : fit.devices.mapValues { RadioMapDocument.Receiver(offset: $0.offset, deviation: $0.deviation) }
    }

    /// Returns the fit after a check of its values.
    ///
    /// - Throws: `PacketFileError` with the path of the first invalid number.
    func checked() throws(PacketFileError) -> RadioMap.Fit {
        try check(floorLoss, "floorLoss", in: 0...100, unit: "dB")
        try check(rateLength, "rateLength", in: 0.01...1000, unit: "m")
        try check(ratePriorDetections, "ratePriorDetections", in: 0.001...1_000_000, unit: "detections")
        try check(supportWidth, "supportWidth", in: 0.01...1000, unit: "m")
        try check(unsupportedShare, "unsupportedShare", in: 1e-9...1, unit: "of 1")
        try check(coverage, "coverage", in: 0...1, unit: "of 1")
        try check(bodyDeviation, "bodyDeviation", in: 0...50, unit: "dB")
        try check(receiverDeviation, "receiverDeviation", in: 0...50, unit: "dB")
        for (name, receiver) in devices?.sorted(by: { $0.key < $1.key }) ?? [] {
            try check(receiver.offset, "devices.\(name).offset", in: -50...50, unit: "dB")
            try check(receiver.deviation, "devices.\(name).deviation", in: 0...50, unit: "dB")
        }
        var fit = RadioMap.Fit()
        fit.floorLoss = floorLoss
        fit.rateLength = rateLength
        fit.ratePriorDetections = ratePriorDetections
        fit.supportWidth = supportWidth
        fit.unsupportedShare = unsupportedShare
        fit.coverage = coverage
        fit.bodyDeviation = bodyDeviation
        fit.receiverDeviation = receiverDeviation
        fit.devices =
            devices?.mapValues { RadioMap.Receiver(offset: $0.offset, deviation: $0.deviation) } ?? [:]
        return fit
    }

    private func check(
        _ number: Double?, _ name: String, in range: ClosedRange<Double>, unit: String
    ) throws(PacketFileError) {
        guard let number, !range.contains(number) else { return }
        throw PacketFileError(
            message: "is \(number); give \(range.lowerBound) to \(range.upperBound) \(unit), or survey again",
            path: "$.fit.\(name)")
    }
}
