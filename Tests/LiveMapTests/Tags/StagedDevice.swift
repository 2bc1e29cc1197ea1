import Dispatch
import Foundation
import IndoorLocalizationTesting
import IndoorPositioning
import IndoorVocabulary
import LiveMap
import LiveSurvey
import LocalizationSession
import ScanRecording
import VenueModel
import VenuePackets
import XCTest

/// A session in the office of `Fixtures/office` on simulated walks, with a folder for surveys and a packet that gets the radio
/// map.
final class StagedDevice: StagedWalks {
    /// The readings of the source begin at this instant.
    private static let origin = 5_000.0

    let packet: String
    let folder: String
    let venue: Venue
    let carrier = SurveyCarrier.device
    let device: SurveyedDevice
    let desk: SurveyDesk
    let maps: SurveyMapDesk
    let localizer: Localizer
    let content: LiveMapSession
    private let clock = ManualClock()
    private let source = ScriptedSource()
    /// The number of receptions that the source has sent, which a session counts as readings.
    private let receptionCount = Guarded(0)
    private let tasks: [Task<Void, Never>]

    /// - Parameters:
    ///   - folder: an empty folder.
    ///   - place: where the packet is written; nil for its folder.
    init(in folder: String, limits: SurveyDesk.Limits = SurveyDesk.Limits(), walks: String? = nil) throws {
        packet = folder + "/office"
        self.folder = walks ?? folder + "/walks"
        try FileManager.default.copyItem(atPath: try FixtureFolder("office").path, toPath: packet)
        try Self.removePlans(of: packet)
        if walks == nil {
            try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
        }
        venue = try VenuePacketReader().read(packet).venue
        let settings = SettingsStack()
        let device = SurveyedDevice(
            venue: venue, settings: settings, seed: 1, start: TagStage.start, clock: clock)
        var mapLimits = SurveyMapJob.Limits()
        mapLimits.judging = nil
        maps = SurveyMapDesk(
            device, folder: self.folder, place: .folder(packet), limits: mapLimits, priority: .usual)
        desk = SurveyDesk(device, folder: self.folder, limits: limits, maps: maps, priority: .usual) { device.now }
        self.device = device
        localizer = Localizer(source: source, venues: device, settings: settings, clock: clock, seed: 1)
        content = LiveMapSession(localizer, title: "Office", venues: [venue], clock: clock)
        device.begin(localizer)
        tasks = [
            Task { [content] in await content.run() },
            Task { [desk] in await device.pass(to: desk) },
        ]
        try ask { [localizer, source] in
            await localizer.start()
            try? await source.waitForScans(1)
            // A session that doesn't know its venues yet searches for none.
            try? await Bounded.poll(for: "the search for a venue") { await localizer.state == .searchVenue }
        }
        try walk([(3, 10), (7, 10)], seed: 99)
        // The time of walks goes on while the session prepares the venue.
        try ask { [localizer] in
            try? await Bounded.poll(for: "the prepared venue") {
                if case .getPacket = await localizer.state { return false }
                return true
            }
        }
    }

    deinit { for task in tasks { task.cancel() } }

    /// Removes the images of plans from a packet, as the server of the tests has none.
    private static func removePlans(of packet: String) throws {
        let file = URL(filePath: packet + "/venue.json")
        var document = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any] ?? [:]
        document["maps"] = (document["maps"] as? [[String: Any]])?.map { map in
            map.filter { !["image", "tiles"].contains($0.key) }
        }
        try JSONSerialization.data(withJSONObject: document).write(to: file)
    }

    /// Walks with the device on the ground floor.
    ///
    /// - Parameter mark: called when the carrier is at a point of the path.
    /// - Returns: the errors of the session's positions in metres on the right floor, at each second from 5 s on.
    @discardableResult
    func walk(
        _ points: [(Double, Double)], seed: UInt64, mark: (MapPoint) throws -> Void = { _ in }
    ) throws -> [Double] {
        var settings = SimulationSettings()
        settings.radio.advertisingInterval = 0.5
        // Strong shadowing, of which only a survey knows.
        settings.radio.shadowing = 6
        settings.sensors.pressureInterval = 0
        let path = WalkPath(points: points.map { WalkPath.Point(mapID: 1, point: MapPoint(x: $0.0, y: $0.1)) })
        let entries = try WalkSimulator(venue: venue, path: path, settings: settings, seed: seed).entries()
        let start = clock.now
        var truths: [SurveyRecording.Waypoint] = []
        var readings: [SensorReading] = []
        for entry in entries {
            switch entry {
            case .truth(let truth): if let waypoint = truth.waypoint { truths.append(waypoint) }
            case .measurement(let reading): readings.append(reading)
            default: break
            }
        }
        var corners = truths.filter { truth in points.contains { MapPoint(x: $0.0, y: $0.1) == truth.point } }[...]
        var errors: [Double] = []
        let last = try XCTUnwrap(truths.last).instant.seconds + 1
        for step in 1...Int(last * 4) {
            let seconds = Double(step) / 4
            clock.advance(by: .seconds(0.25))
            let end = readings.firstIndex { $0.instant.seconds > seconds } ?? readings.count
            for reading in readings[..<end] {
                var reading = reading
                reading.instant = Instant(seconds: Self.origin + start.seconds + reading.instant.seconds)
                device.receive(reading)
                source.send(reading)
                switch reading {
                case .sighting, .advertisement: receptionCount.withLock { $0 += 1 }
                default: break
                }
            }
            let latest = readings[..<end].last.map {
                Instant(seconds: Self.origin + start.seconds + $0.instant.seconds)
            }
            readings.removeFirst(end)
            let place = try ask { [localizer, desk] in
                await self.settle(upTo: latest)
                await desk.save { XCTFail($0) }
                return await localizer.latestPlace
            }
            while let corner = corners.first, corner.instant.seconds <= seconds {
                corners.removeFirst()
                try mark(corner.point)
            }
            guard step % 4 == 0, seconds >= 5, let truth = truths.place(at: seconds),
                case .indoors(let position)? = place,
                truth.mapID == position.mapID
            else { continue }
            errors.append(truth.point.distance(to: position.point))
        }
        return errors
    }

    /// Waits until the session and the desk have what was sent, and the session has done what is due: the time of walks must
    /// not go on without them, and a walk must not end without its readings.
    ///
    /// - Parameter latest: the instant of the latest reading; nil for none.
    private func settle(upTo latest: Instant?) async {
        let count = receptionCount.withLock(\.self)
        do {
            try await Bounded.poll(for: "the readings of the session and of the walk") { [localizer, device] in
                guard device.waitingCount == 0 else { return false }
                return await localizer.activityCounts.readings >= count
            }
            if let latest { await localizer.waitForReadings(upTo: latest) }
            try await Bounded.poll(for: "the ticks of the session") { [localizer] in await !localizer.isTickDue }
        } catch { XCTFail("\(error)") }
    }
}

extension XCTestCase {
    /// A session in the office, whose folder is removed after the test.
    func stagedDevice(limits: SurveyDesk.Limits = SurveyDesk.Limits(), walks: String? = nil) throws -> StagedDevice {
        let folder = FileManager.default.temporaryDirectory.appending(path: "device-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(atPath: folder) }
        return try StagedDevice(in: folder, limits: limits, walks: walks)
    }

    /// Starts the server of a session with surveys, which stops after the test.
    func surveyServer(_ stage: StagedDevice, token: String? = nil) throws -> LiveMapServer {
        let server = try LiveMapServer(
            routes: SurveyedMapRoutes(content: stage.content, desk: stage.desk),
            listener: try LiveMapListener(try LiveMapAddress("127.0.0.1:0"), token: token))
        addTeardownBlock { server.stop() }
        return server
    }
}
