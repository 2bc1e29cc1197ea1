import Foundation
import GeofenceLogging
import IndoorLocalization
import MQTTSharing
import RecordUpload
import VenuePackets

/// An argument that isn't a number.
struct ArgumentError: Error {
    let argument: String

    static func number<Number: LosslessStringConvertible>(_ argument: String) throws -> Number {
        guard let number = Number(argument) else { throw ArgumentError(argument: argument) }
        return number
    }
}

/// Writes a line with one system call, so that the reader never receives half a line.
private func report(_ line: String, to descriptor: Int32 = STDOUT_FILENO) {
    let bytes = Array("\(line)\n".utf8)
    guard write(descriptor, bytes, bytes.count) == bytes.count else { exit(1) }
}

/// Stores newer and newer versions of one venue in a cache, and prints each version once it is stored, until it is killed
/// or has stored COUNT versions.
@Sendable func storeVersions(_ arguments: [String]) async throws {
    let (cache, scratch) = (arguments[0], arguments[1])
    let (first, count): (Int, Int) = (try ArgumentError.number(arguments[2]), try ArgumentError.number(arguments[3]))
    for version in first..<first + count {
        let map = VenueMap(id: 1, name: "Ground", level: 0, width: 10, height: 10, imagePath: "plan.txt")
        try VenuePacketWriter().write(Venue(id: 1, name: "Kiosk", version: version, maps: [map]), toFolder: scratch)
        // Long enough to be cut in the middle.
        let plan = String(repeating: "\(version) ", count: 10_000)
        try Data(plan.utf8).write(to: URL(filePath: scratch + "/plan.txt"))
        let packet = BundledPacket(path: scratch, venueID: 1, version: version)
        let venue = try await VenueRepository(cache: cache, bundled: [packet]).venue(1)
        guard venue.version >= version else {
            print("version \(venue.version) instead of \(version)")
            exit(1)
        }
        report("\(version)")
    }
}

/// Adopts a radio map in a packet's folder and takes it back COUNT times, or until it is killed.
@Sendable func changeEditions(_ arguments: [String]) async throws {
    let packet = SurveyedPacket(folder: arguments[0])
    for _ in 0..<(try ArgumentError.number(arguments[1]) as Int) {
        let edition = try packet.current
        let map = RadioMap(
            beacons: [
                .init(identity: VenueReceiver.identity(for: "a"), mapID: 1, point: MapPoint(x: 2, y: 3), power: -60)
            ],
            fingerprints: (0..<200).map { index in
                RadioMap.Fingerprint(
                    mapID: 1, point: MapPoint(x: Double(index % 20), y: 5), duration: Double(edition.venue.version),
                    readings: [.init(beacon: 0, rssi: -50 - Double(index) / 100, count: 4)])
            }, pathLossExponent: 2)
        let next = try packet.adopt(map, after: edition.venue)
        _ = try packet.takeBack(from: next.venue)
    }
}

/// Appends records to a geofence log until it is killed, and prints the number of each record once it is written. Prints
/// an error of a write to standard error, and then tries again.
@Sendable func writeFences(_ arguments: [String]) async throws {
    var settings = GeofenceLogSettings()
    settings.recordLimit = try ArgumentError.number(arguments[1])
    let log = try GeofenceLog(path: arguments[0], settings: settings)
    while true {
        let time = GeofenceLogger.deviceTime()
        // Two at once: both are written, or none.
        let records = [true, false].map { isEntry in
            GeofenceRecord(
                time: time, instant: Instant(seconds: time), venueID: 1, kind: .fence, areaID: "7", name: "door",
                isEntry: isEntry)
        }
        var numbers: [Int64] = []
        do { numbers = try await log.append(records) } catch { report("\(error)", to: STDERR_FILENO) }
        for number in numbers { report("\(number)") }
    }
}

/// Adds records to an upload queue until it is killed, and prints the number of each record once it is written.
@Sendable func queueUploads(_ arguments: [String]) async throws {
    let queue = try UploadQueue(path: arguments[0], limit: try ArgumentError.number(arguments[1]))
    let place = OutdoorPosition(instant: .zero, coordinate: Coordinate(latitude: 48, longitude: 11), radius: 5)
    while true {
        // Two at once: both are written, or none.
        let records = [1, 2].map { UploadRecord(.outdoorPosition(place), unixTime: UnixTime(milliseconds: $0)) }
        for number in try await queue.append(records) { report("\(number)") }
    }
}

/// Shares positions with other devices, and prints the events of the room, until its input ends. Each line of its input
/// is the x of the next position.
@MainActor @Sendable func sharePositions(_ arguments: [String]) async throws {
    var settings = MQTTSharingSettings()
    settings.interval = .zero
    settings.firstPause = .milliseconds(50)
    // Limits that no busy machine reaches.
    (settings.patience, settings.keepAlive) = (.seconds(180), .seconds(600))
    let sharing = try MQTTPositionSharing(
        MQTTBroker(host: "127.0.0.1", port: try ArgumentError.number(arguments[0])), device: DeviceID(arguments[1]),
        settings: settings)
    let events = sharing.events
    // The main thread waits for lines.
    Task.detached {
        for await event in events {
            switch event {
            case .joined(let room): report("joined \(room)")
            case .position(let position): report("position \(position.device) \(position.x)")
            case .message(let message): report("message \(message.device) \(message.tag) \(message.text)")
            case .occupancy(let room, let devices): report("occupancy \(room) \(devices)")
            default: break
            }
        }
    }
    try await sharing.connect()
    try await sharing.join(arguments[2])
    while let line = readLine() {
        guard let x = Double(line) else { continue }
        try await sharing.share(
            Position(instant: .zero, venueID: 1, mapID: 2, point: MapPoint(x: x, y: 0), radius: 1))
    }
    await sharing.disconnect()
}
