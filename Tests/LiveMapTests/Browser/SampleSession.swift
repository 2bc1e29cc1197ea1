import Foundation
import IndoorVocabulary
import LiveMap

/// A played session in a building of two floors, whose every figure a test can compute.
///
/// For 5 s the session hears only unknown beacons. Then it walks 1 m/s to the right on the ground floor, and from
/// `ascent` on to the left on the upper floor.
struct SampleSession {
    static let start = 100.0
    static let end = 140.0
    /// The first instant with a position.
    static let firstFix = 105.0
    static let ascent = 125.0
    /// The size of both maps in metres.
    static let (width, height) = (40.0, 20.0)
    static let unknownBeacon = "0A0B0C0D-0000-4000-8000-000000000001/9/1"
    static let diagnosis = "The session hears 1 beacon, but it belongs to no known venue."
    static let help = "Add the venue of this beacon to the session."
    /// The 68 % radius of each estimate in metres.
    static let radius = 2.5

    /// The number of particles of each frame with a position.
    var particleCount = 200
    var framesPerSecond = 1

    /// Returns the estimated place at the instant of a frame; nil without one.
    static func place(at t: Double) -> LiveMapFrame.Place? {
        if t < firstFix { return nil }
        if t < ascent { return .init(mapId: 1, x: 8 + (t - firstFix), y: 12.5) }
        return .init(mapId: 2, x: 28 - (t - ascent), y: 6.25)
    }

    /// The document of a page that needs no server.
    var document: LiveMapDocument {
        let count = Int(Self.end - Self.start) * framesPerSecond
        let frames = (0...count).map { frame(id: $0, at: Self.start + Double($0) / Double(framesPerSecond)) }
        return LiveMapDocument(overview: Self.overview, frames: frames, events: Self.events(from: count + 1))
    }

    private static func beacon(_ minor: Int) -> String { "0A0B0C0D-0000-4000-8000-000000000001/1/\(minor)" }

    private static var overview: LiveMapOverview {
        let outline = [0, 0, width, 0, width, height, 0, height, 0, 0]
        let maps = [(1, "Ground floor", 0), (2, "Upper floor", 1)].map { id, name, level in
            LiveMapVenue.Map(
                id: id, name: name, level: level, width: width, height: height, hasImage: false,
                walls: [outline, [15, 0, 15, 8]], walkable: [outline])
        }
        let rooms = [
            (1, "Lobby", 1, 0.0, 15.0), (2, "Workshop", 1, 15, 40), (3, "Library", 2, 0, 15), (4, "Archive", 2, 15, 40),
        ]
        let venue = LiveMapVenue(
            id: 7, name: "Test building", version: 3, maps: maps,
            rooms: rooms.map { id, name, map, left, right in
                .init(id: id, name: name, mapId: map, polygon: [left, 0, right, 0, right, 8, left, 8])
            },
            fences: [.init(id: 5, name: "Entrance", mapId: 1, circle: .init(x: 3, y: 17, radius: 2))],
            pointsOfInterest: [.init(id: 6, name: "Desk", mapId: 1, x: 34, y: 16)],
            beacons: (1...4).map { minor in
                .init(id: beacon(minor), mapId: minor < 3 ? 1 : 2, x: Double(minor) * 8, y: minor % 2 == 0 ? 3 : 17)
            })
        return LiveMapOverview(
            mode: .recording, title: "Sample walk", start: start, end: end, acceptsMarks: false, venues: [venue])
    }

    private func frame(id: Int, at t: Double) -> LiveMapFrame {
        guard let place = Self.place(at: t) else {
            return LiveMapFrame(
                id: id, t: t, state: "searchVenue", text: "Searching for a venue.",
                beacons: [.init(id: Self.unknownBeacon, rssi: -71, age: 0.5, isKnown: false)],
                diagnosis: .init(
                    reason: "unknownBeacons", text: Self.diagnosis, help: Self.help, beacons: [Self.unknownBeacon]))
        }
        let isGround = place.mapId == 1
        let certainty = isGround ? 0.75 : 0.875
        return LiveMapFrame(
            id: id, t: t, state: "localizationRunning", text: "Emitting positions.", venueId: 7, mapId: place.mapId,
            estimate: .init(
                t: t, mapId: place.mapId, x: place.x, y: place.y, radius: Self.radius, course: isGround ? 90 : 270,
                speed: 1, label: isGround ? nil : place.x < 15 ? "Library" : "Archive", floorCertainty: certainty),
            levels: [
                .init(mapId: place.mapId, probability: certainty),
                .init(mapId: 3 - place.mapId, probability: 1 - certainty),
            ],
            particles: [.init(mapId: place.mapId, points: particles(around: place, seed: UInt64(id)))],
            beacons: (1...4).map { minor in
                .init(
                    id: Self.beacon(minor), rssi: Double(-60 - 3 * minor), age: 0.25 * Double(minor),
                    expected: Double(-62 - 3 * minor), deviation: 4, isKnown: true)
            },
            truth: .init(mapId: place.mapId, x: place.x + 3, y: place.y + 4), error: 5)
    }

    /// Returns a square of particles as base64.
    ///
    /// - Parameter spread: the side of the square in metres.
    func particles(around place: LiveMapFrame.Place, seed: UInt64, spread: Double = 4) -> String {
        // The linear congruential generator of D. Knuth, MMIX: the same points on each run.
        var state = seed
        func next() -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 33) / Double(1 << 31)
        }
        var bytes = Data(capacity: 4 * particleCount)
        for _ in 0..<particleCount {
            let point = [
                (place.x + spread * (next() - 0.5)) / Self.width, (place.y + spread * (next() - 0.5)) / Self.height,
            ]
            for part in point {
                let value = UInt16(65_535 * min(1, max(0, part)))
                bytes.append(contentsOf: [UInt8(value & 255), UInt8(value >> 8)])
            }
        }
        return bytes.base64EncodedString()
    }

    private static func events(from id: Int) -> [LiveMapEvent] {
        [
            .init(id: id, t: start, kind: .diagnosis, text: diagnosis),
            .init(id: id + 1, t: firstFix, kind: .state, text: "Emitting positions.", mapId: 1),
            .init(id: id + 2, t: ascent, kind: .floor, text: "Upper floor", mapId: 2),
            .init(id: id + 3, t: 138.5, kind: .area, text: "Entered Library", mapId: 2),
        ]
    }
}

/// The content of a server that shows the sample: as a recording, or as a running session whose frames a test emits.
final class SampleContent: LiveMapContent {
    private struct State {
        var updates: [LiveMapUpdate] = []
        var readers: [Int: AsyncStream<LiveMapUpdate>.Continuation] = [:]
        var started = 0
        var marks: [LiveMapFrame.Place] = []
    }

    private let document: LiveMapDocument
    private let isLive: Bool
    private let state = Guarded(State())

    init(isLive: Bool, _ document: LiveMapDocument = SampleSession().document) {
        self.isLive = isLive
        self.document = document
    }

    /// The places that the page has submitted.
    var marks: [LiveMapFrame.Place] { state.withLock { $0.marks } }

    /// Emits the frames of the sample with these numbers.
    func emit(_ numbers: ClosedRange<Int>) {
        for frame in document.frames[numbers] {
            let readers = state.withLock { state in
                state.updates.append(.frame(frame))
                return Array(state.readers.values)
            }
            for reader in readers { reader.yield(.frame(frame)) }
        }
    }

    func overview() async -> LiveMapOverview {
        guard isLive else { return document.overview }
        let venues = document.overview.venues
        return LiveMapOverview(mode: .live, title: "Sample session", acceptsMarks: true, venues: venues)
    }

    func plan(venue: Int, map: Int) async -> LiveMapImage? { nil }

    func tile(venue: Int, map: Int, level: Int, column: Int, row: Int) async -> LiveMapImage? { nil }

    private var frames: [LiveMapFrame] {
        guard isLive else { return document.frames }
        return state.withLock { $0.updates }.compactMap { if case .frame(let frame) = $0 { frame } else { nil } }
    }

    func frames(from start: Double, to end: Double, limit: Int) async -> [LiveMapFrame] {
        Array(frames.filter { $0.t >= start && $0.t <= end }.prefix(limit))
    }

    func events() async -> [LiveMapEvent] { isLive ? [] : document.events }

    func radioMap() async -> LiveMapRadioMap? { nil }

    func updates(after id: Int?) async -> AsyncStream<LiveMapUpdate> {
        let (stream, continuation) = AsyncStream<LiveMapUpdate>.makeStream()
        state.withLock { state in
            state.started += 1
            let number = state.started
            state.readers[number] = continuation
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { _ = $0.readers.removeValue(forKey: number) }
            }
            let missed = state.updates.filter { update in
                if case .frame(let frame) = update, let id { frame.id > id } else { true }
            }
            for update in id == nil ? missed.suffix(1) : missed[...] { continuation.yield(update) }
        }
        return stream
    }

    func mark(_ place: LiveMapFrame.Place) async -> String? {
        state.withLock { $0.marks.append(place) }
        return nil
    }
}
