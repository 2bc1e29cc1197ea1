import IndoorVocabulary
import VenueModel

/// A radio map as its file holds it.
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
        /// Index into `beacons`.
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

    /// The radio map, if positioning can rely on it.
    ///
    /// - Throws: `PacketFileError` with the path of the first thing that is wrong.
    func radioMap() throws(PacketFileError) -> RadioMap {
        guard pathLossExponent.isFinite, pathLossExponent > 0 else {
            throw PacketFileError(message: "is \(pathLossExponent); give a number above 0", path: "$.pathLossExponent")
        }
        var seen: Set<BeaconIdentity> = []
        var knownBeacons: [RadioMap.Beacon] = []
        for (index, entry) in beacons.enumerated() {
            let beacon = try beacon(entry, at: "$.beacons[\(index)]")
            guard seen.insert(beacon.identity).inserted else {
                throw PacketFileError(message: "is given twice; survey anew", path: "$.beacons[\(index)]")
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
            throw PacketFileError(message: "is no UUID; give 32 hexadecimal digits as 8-4-4-4-12", path: path + ".uuid")
        }
        guard let major = UInt16(exactly: entry.major), let minor = UInt16(exactly: entry.minor) else {
            throw PacketFileError(message: "needs a major and a minor in [0, 65535]", path: path)
        }
        guard entry.x.isFinite, entry.y.isFinite, entry.z?.isFinite ?? true, entry.power.isFinite else {
            throw PacketFileError(message: "has a number that is not finite; survey anew", path: path)
        }
        return RadioMap.Beacon(
            identity: BeaconIdentity(uuid: uuid, major: major, minor: minor),
            mapID: MapID(rawValue: entry.mapId), point: MapPoint(x: entry.x, y: entry.y), z: entry.z,
            power: entry.power)
    }

    private func fingerprint(_ entry: Fingerprint, at path: String) throws(PacketFileError) -> RadioMap.Fingerprint {
        guard entry.x.isFinite, entry.y.isFinite, entry.duration.isFinite, entry.duration > 0 else {
            throw PacketFileError(message: "needs finite x and y and a duration above 0; survey anew", path: path)
        }
        guard (0...1000).contains(entry.deviation ?? 0) else {
            throw PacketFileError(message: "needs a deviation from 0 to 1000 m; survey anew", path: path)
        }
        var readings: [RadioMap.Reading] = []
        for (index, reading) in entry.readings.enumerated() {
            let weight = reading.weight ?? 0
            guard beacons.indices.contains(reading.beacon) else {
                throw PacketFileError(
                    message: "there is no beacon \(reading.beacon); survey anew",
                    path: "\(path).readings[\(index)].beacon")
            }
            guard reading.rssi.isFinite, weight.isFinite, reading.count > 0 else {
                throw PacketFileError(
                    message: "needs a finite rssi and weight and a count above 0; survey anew",
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
