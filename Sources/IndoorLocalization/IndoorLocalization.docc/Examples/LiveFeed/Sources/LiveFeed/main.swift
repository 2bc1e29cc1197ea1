// A source of your own on a live feed: … | LiveFeed VENUE
//
// The feed has one line for each advertisement: UUID, MAJOR, MINOR and RSSI, separated by spaces, as a serial port or a socket
// could send them. The program prints positions until the feed ends.
import Foundation
import IndoorLocalization
import VenuePackets

/// Prints an error and ends the program.
func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(1)
}

/// A live source of lines from standard input.
struct LineSource: ScanSource {
    /// Time also passes between the lines: the session finds out that the device has left the venue.
    var pace: ScanPace { .live }

    func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        // Keeps the newest readings if the session is slow, instead of more and more memory.
        let (stream, continuation) = AsyncThrowingStream<SensorReading, any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(4096))
        // readLine blocks, so it has a thread of its own.
        Thread.detachNewThread {
            while let line = readLine() {
                // The instant is that of the reception, not of the processing: take it first. All live sources of a session
                // need instants of one clock; those of this package count from boot, including sleep.
                let instant = Instant.now
                guard let sighting = Sighting(line, at: instant) else {
                    FileHandle.standardError.write(
                        Data("LiveFeed: '\(line)' is not UUID MAJOR MINOR RSSI; the line is ignored\n".utf8))
                    continue
                }
                continuation.yield(.sighting(sighting))
            }
            continuation.finish()
        }
        return stream
    }
}

extension Instant {
    /// The time since boot, including sleep.
    static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}

extension Sighting {
    /// Creates a sighting from a line of the feed; nil if the line is malformed.
    init?(_ line: String, at instant: Instant) {
        let words = line.split(separator: " ")
        guard words.count == 4, let uuid = BeaconUUID(String(words[0])), let major = UInt16(words[1]),
            let minor = UInt16(words[2]), let rssi = Double(words[3]), Sighting.isMeasurement(rssi: rssi)
        else { return nil }
        self.init(instant: instant, beacon: BeaconIdentity(uuid: uuid, major: major, minor: minor), rssi: rssi)
    }
}

/// Prints the positions of a session until its source ends.
func printPositions(of localizer: Localizer) async {
    let outputs = localizer.outputs
    await localizer.start()
    var hasBegun = false
    for await output in outputs {
        switch output.content {
        case .position(let position):
            // Unlike `print`, without a buffer: another program gets each position at once.
            let line = "x \(position.x) y \(position.y) ± \(position.radius) m\n"
            FileHandle.standardOutput.write(Data(line.utf8))
        case .state(.error(let error)): fail("LiveFeed: \(error)")
        case .state(let state):
            if hasBegun, state.isOver { return }
            hasBegun = hasBegun || !state.isOver
        default: break
        }
    }
}

guard let venue = CommandLine.arguments.dropFirst().first else { fail("usage: … | LiveFeed VENUE") }
await printPositions(of: Localizer(source: LineSource(), venues: LocalVenueSource(paths: [venue])))
