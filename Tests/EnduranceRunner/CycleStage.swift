import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LiveMap
import LoopbackServers
import MQTTSharing

/// A part of the package that can be started and stopped.
enum CycleSubject: String, CaseIterable {
    case localizer, scanner, plugins, liveMap, sharing
}

/// The surroundings of the cycles, which stay from one cycle to the next.
///
/// The program limits its time as a whole. A limit for each wait would need a sleeping task each, and the runtime keeps
/// a cancelled sleep until its deadline, so the measured memory would grow.
struct CycleStage {
    private let subject: CycleSubject
    private let source = ScriptedSource()
    private let clock = ManualClock(now: Instant(seconds: 777))
    private let broker: MosquittoBroker?
    private let folder: URL

    init(_ subject: CycleSubject) async throws {
        self.subject = subject
        folder = FileManager.default.temporaryDirectory.appending(path: "endurance-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        broker = subject == .sharing ? try MosquittoBroker(folder: folder.path) : nil
    }

    /// Removes the surroundings.
    func end() {
        broker?.kill()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Runs cycles, and registers their objects.
    func run(_ count: Int, _ remains: Remains) async throws {
        switch subject {
        case .localizer: try await runLocalizers(count, remains)
        case .scanner: try await runScanners(count, remains)
        case .plugins: for _ in 0..<count { try await runPlugins(remains) }
        case .liveMap: for _ in 0..<count { try await runLiveMap(remains) }
        case .sharing: for cycle in 0..<count { try await runSharing(cycle, remains) }
        }
    }

    private static let beacons = (1...3).map {
        BeaconIdentity(uuid: BeaconUUID(high: 0xF00D, low: 0xBEEF), major: 1, minor: UInt16($0))
    }

    private static let venue = Venue(
        id: 1, name: "office", coordinate: Coordinate(latitude: 52, longitude: 13), radius: 50,
        maps: [VenueMap(id: 10, name: "ground", level: 0, width: 40, height: 30)],
        beacons: beacons.map { VenueBeacon(identity: $0, mapID: 10, point: MapPoint(x: 5, y: 5)) },
        rooms: [Room(id: 1, name: "hall", mapID: 10, area: .circle(center: MapPoint(x: 20, y: 15), radius: 200))])

    private func localizer() -> Localizer {
        var settings = LocalizationSettings()
        settings.positioning.particleCount = 100
        settings.areaDwell = .zero
        return Localizer(source: source, venues: VenueLibrary([Self.venue]), settings: settings, clock: clock, seed: 1)
    }

    /// Waits until the scans and the alarms of a cycle have ended.
    private func settle() async throws {
        try await source.waitUntilNothingRuns()
        try await clock.waitUntilNobodySleeps()
    }

    private func hear(_ index: Int, at instant: Instant) {
        source.send(.sighting(Sighting(instant: instant, beacon: Self.beacons[index % 3], rssi: -60)))
    }

    // MARK: - Subjects

    /// Every localizer runs ten sessions; the last one has a position.
    private func runLocalizers(_ count: Int, _ remains: Remains) async throws {
        for first in stride(from: 0, to: count, by: 10) {
            let localizer = localizer()
            remains.watch(localizer)
            for cycle in first..<min(first + 10, count) {
                let scans = source.scanCount
                // One subscriber never reads, one reads until it is cancelled.
                let absent = (localizer.outputs, localizer.states, localizer.visits)
                let (states, positions) = (localizer.states, localizer.positions)
                let reader = Task { for await _ in states {} }
                await localizer.start()
                try await source.waitForScans(scans + 1)
                if cycle % 10 == 9 {
                    // Earlier readings would not identify the venue.
                    for await state in localizer.states where state == .searchVenue { break }
                    for tick in 0..<30 { hear(tick, at: clock.now.advanced(by: .milliseconds(100 * tick))) }
                    for await _ in positions { break }
                }
                await localizer.stop()
                reader.cancel()
                await reader.value
                try await settle()
                _ = absent
            }
        }
    }

    private func runScanners(_ count: Int, _ remains: Remains) async throws {
        for first in stride(from: 0, to: count, by: 10) {
            let scanner = BeaconScanner(source: source, clock: clock, seed: 1)
            remains.watch(scanner)
            await scanner.track(BeaconRegion(uuid: Self.beacons[0].uuid), id: "hall")
            for cycle in first..<min(first + 10, count) {
                let scans = source.scanCount
                let absent = (scanner.events, scanner.rangings)
                let (beacons, regions) = (scanner.beacons, scanner.regionEvents)
                let reader = Task { for await _ in regions {} }
                await scanner.start()
                try await source.waitForScans(scans + 1)
                hear(cycle, at: clock.now)
                for await _ in beacons { break }
                await scanner.stop()
                reader.cancel()
                await reader.value
                try await settle()
                _ = absent
            }
        }
    }

    private func runPlugins(_ remains: Remains) async throws {
        let host = PluginHost(localizer: localizer(), clock: clock)
        remains.watch(host)
        guard let map = await host.add(MapFeed(), arguments: .init()) else { throw CycleError("the plugin refused") }
        remains.watch(map)
        let items = await map.items()
        let reader = Task { for await _ in items {} }
        let scans = source.scanCount
        await host.localizer.start()
        try await source.waitForScans(scans + 1)
        guard await host.stopAll() else { throw CycleError("the host did not stop") }
        await reader.value
        try await settle()
    }

    private func runLiveMap(_ remains: Remains) async throws {
        let localizer = localizer()
        remains.watch(localizer)
        let session = LiveMapSession(localizer, title: "office", venues: [Self.venue])
        remains.watch(session)
        let work = Task { await session.run() }
        let server = try LiveMapServer(content: session, address: try LiveMapAddress("127.0.0.1:0"))
        remains.watch(server)
        let reply = try LoopbackClient.get("/api/v1/venue", port: server.address.port)
        guard reply.hasPrefix("HTTP/1.1 200") else { throw CycleError("the live map replied \(reply.prefix(200))") }
        server.stop()
        work.cancel()
        await work.value
    }

    private func runSharing(_ cycle: Int, _ remains: Remains) async throws {
        guard let broker else { throw CycleError("no broker") }
        var settings = MQTTSharingSettings()
        settings.interval = .zero
        let sharing = try MQTTPositionSharing(
            MQTTBroker(host: "127.0.0.1", port: broker.port), device: DeviceID("device-\(cycle % 10)"),
            settings: settings)
        remains.watch(sharing)
        let events = sharing.events
        try await sharing.connect()
        try await sharing.join("hall")
        for await event in events where event == .joined(room: "hall") { break }
        await sharing.disconnect()
    }
}

/// The error of a cycle.
struct CycleError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
