import CBench
import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LiveMap
import LoopbackServers
import MQTTSharing

/// A part of the package that can be started and stopped.
enum CycleSubject: String, CaseIterable {
    case localizer, scanner, plugins, liveMap, sharing

    /// The longest time that a task of this part sleeps on the machine's clock.
    fileprivate var longestSleep: Duration {
        switch self {
        case .localizer, .scanner, .plugins: .zero
        case .liveMap, .sharing: Self.patience
        }
    }

    /// The limit of the server and of the device for the other end: a busy machine may exceed the usual ones.
    fileprivate static let patience = Duration.seconds(60)
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
        var limits = LiveMapServer.Limits()
        (limits.head, limits.silence) = (CycleSubject.patience, CycleSubject.patience)
        let server = try LiveMapServer(content: session, address: try LiveMapAddress("127.0.0.1:0"), limits: limits)
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
        (settings.interval, settings.patience) = (.zero, CycleSubject.patience)
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

/// What remains after many cycles of a subject.
struct CycleReport: Codable {
    var subject: String
    var cycles: Int
    var seconds: Double
    /// After a tenth of the cycles, when the caches are full.
    var before: Usage
    var after: Usage
    /// The objects of the cycles that still exist.
    var survivors: Int

    init(of subject: CycleSubject, _ count: Int) async throws {
        self.subject = subject.rawValue
        cycles = count
        let begin = ContinuousClock.now
        let remains = Remains()
        let stage = try await CycleStage(subject)
        try await stage.run(max(20, count / 10), remains)
        _ = await remains.settle()
        // The sleeps of few cycles need less memory than the limit of the soak.
        let longestSleep = count >= 1_000 ? subject.longestSleep : .zero
        before = try await Usage(after: longestSleep)
        try await stage.run(count, remains)
        survivors = await remains.settle()
        after = try await Usage(after: longestSleep)
        // Threads and descriptors end a little after the calls that end their use. Two threads of the runtime may stay.
        let end = ContinuousClock.now + Bounded.longest
        while after.descriptors > before.descriptors || after.threads > before.threads + 2, ContinuousClock.now < end {
            await Task.yield()
            after = try Usage()
        }
        seconds = begin.duration(to: .now).seconds
        stage.end()
    }
}

/// Weak references to the objects of cycles.
final class Remains: Sendable {
    private struct Reference: Sendable { weak var object: (any AnyObject & Sendable)? }

    private let references = Guarded<[Reference]>([])

    /// Watches an object. The references of released objects are removed, so that they need no memory themselves.
    func watch(_ object: any AnyObject & Sendable) {
        references.withLock { references in
            if references.count >= 64 { references.removeAll { $0.object == nil } }
            references.append(Reference(object: object))
        }
    }

    /// The number of objects that exist.
    var count: Int { references.withLock { references in references.count { $0.object != nil } } }

    /// Waits, within a limit, until tasks that have been cancelled have released their objects.
    ///
    /// - Returns: the number of objects that still exist.
    func settle() async -> Int {
        let end = ContinuousClock.now + Bounded.longest
        while count > 0, ContinuousClock.now < end { await Task.yield() }
        defer { references.withLock { $0 = [] } }
        return count
    }
}

/// A client for single HTTP requests to this machine.
enum LoopbackClient {
    /// Requests a path, and returns the whole response.
    static func get(_ path: String, port: UInt16) throws -> String {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafeBytes(of: &address) { bytes in
            connect(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        guard status == 0 else { throw CycleError("connect: \(String(cString: strerror(errno)))") }
        let request = Array("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n".utf8)
        guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
            throw CycleError("send: \(String(cString: strerror(errno)))")
        }
        var reply: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 { reply += buffer.prefix(count) }
        return String(decoding: reply, as: UTF8.self)
    }
}

/// The resources that this process uses.
struct Usage: Codable {
    /// The bytes that are allocated and not freed, on all threads.
    var heapBytes: Int
    /// The physical memory that isn't shared with files, in kilobytes.
    var residentKilobytes: Int
    var threads: Int
    var descriptors: Int

    /// Measures the resources when the runtime has released the sleeps of cancelled tasks, which it keeps until their
    /// deadlines.
    init(after longestSleep: Duration) async throws {
        if longestSleep > .zero { try await Task.sleep(for: longestSleep + .seconds(1)) }
        try self.init()
    }

    /// Measures the resources now.
    init() throws {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let field = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") } ?? ""
        residentKilobytes = Int(field.filter(\.isNumber)) ?? 0
        threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
        descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        heapBytes = Int(cbench_heap_bytes())
    }
}
