// A robot that adds its odometry to the radio: RobotOdometry VENUE RECORDING
//
// The engine uses displacements as it uses the steps of a person: each has a length and, if the robot knows it, a direction
// relative to the plan. Here, the wheels are simulated from the ground truth of the recording; a robot reads its own.
import Foundation
import IndoorLocalization
import ScanRecording
import VenuePackets

/// Prints an error and ends the program.
func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(1)
}

/// The displacements that the wheels measure, with the robot's clock.
struct Odometry: ScanSource {
    /// The way points that the robot passes, by time.
    let route: [Truth]
    /// The factor of a wheel that is larger than assumed.
    let slip = 1.03

    var pace: ScanPace { .recorded }

    func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        AsyncThrowingStream { continuation in
            for (from, to) in zip(route, route.dropFirst()) {
                guard from.mapID == to.mapID, let start = from.point, let end = to.point, !from.isHold else { continue }
                let seconds = from.instant.duration(to: to.instant).seconds
                let parts = max(1, Int(seconds / 0.2))
                let way = Displacement(from: start, to: end)
                for part in 1...parts {
                    let instant = from.instant.advanced(by: .seconds(seconds * Double(part) / Double(parts)))
                    continuation.yield(
                        .step(
                            Step(
                                instant: instant, length: slip * way.length / Double(parts), heading: way.heading)))
                }
            }
            continuation.finish()
        }
    }
}

/// The beacons of a recording, without the sensors of the person who carried the device.
struct Radio: ScanSource {
    let recording: RecordingSource

    var pace: ScanPace { .recorded }

    func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        let readings = recording.readings()
        return AsyncThrowingStream {
            var iterator = readings.makeAsyncIterator()
            while let reading = try await iterator.next() {
                switch reading {
                case .motion, .step: continue
                default: return reading
                }
            }
            return nil
        }
    }
}

/// A way on a plan, whose y axis points down.
struct Displacement {
    let length: Double
    /// Degrees clockwise from the top of the plan.
    let heading: Double

    init(from start: MapPoint, to end: MapPoint) {
        length = start.distance(to: end)
        heading = atan2(end.x - start.x, start.y - end.y) * 180 / .pi
    }
}

/// Returns the mean error in metres of the positions of a source.
func meanError(of source: some ScanSource, in venue: Venue, route: [Truth]) async throws -> Double {
    let localizer = Localizer(source: source, venues: VenueLibrary([venue]))
    let (positions, states) = (localizer.positions, localizer.states.dropFirst())
    await localizer.start()
    Task {
        for await state in states where state.isOver { localizer.finishStreams() }
    }
    var errors: [Double] = []
    for await position in positions {
        guard let next = route.firstIndex(where: { $0.instant > position.instant }), next > 0 else { continue }
        let (before, after) = (route[next - 1], route[next])
        guard before.mapID == position.mapID, let start = before.point, let end = after.point else { continue }
        let whole = before.instant.duration(to: after.instant).seconds
        let share = before.isHold ? 0 : before.instant.duration(to: position.instant).seconds / max(whole, 1e-9)
        let place = MapPoint(x: start.x + share * (end.x - start.x), y: start.y + share * (end.y - start.y))
        errors.append(position.point.distance(to: place))
    }
    return errors.reduce(0, +) / Double(max(1, errors.count))
}

let arguments = CommandLine.arguments.dropFirst()
guard let folder = arguments.first, let recording = arguments.dropFirst().first else {
    fail("usage: RobotOdometry VENUE RECORDING")
}
do {
    let venue = try VenuePacketReader().read(folder).venue
    var route: [Truth] = []
    var reader = try RecordingReader(path: recording)
    while let entry = try reader.next() {
        if case .truth(let truth) = entry { route.append(truth) }
    }
    let radio = Radio(recording: RecordingSource(path: recording))
    let alone = try await meanError(of: radio, in: venue, route: route)
    // A live radio and live wheels need instants of one clock, see the example LiveFeed.
    let both = CombinedSource(radio, with: [Odometry(route: route)])
    let combined = try await meanError(of: both, in: venue, route: route)
    print(
        "mean error: \((alone * 100).rounded() / 100) m by radio,",
        "\((combined * 100).rounded() / 100) m with odometry")
} catch {
    fail("RobotOdometry: \(error)")
}
