import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

@testable import indoorloc

/// The readings that wait between a tapped source and a session are bounded, and lost ones are counted.
final class TappedSourceTests: XCTestCase {
    /// Live readings with the air pressures 1, 2, … hectopascals.
    private func source(_ count: Int, pace: ScanPace = .live) -> ScriptedSource {
        let readings = (1...count).map { number in
            SensorReading.pressure(
                PressureSample(instant: Instant(seconds: Double(number)), hectopascals: Double(number)))
        }
        return ScriptedSource(readings, pace: pace)
    }

    /// Reads a tapped source only after its tap has received all readings; returns the air pressures read.
    private func pressures(
        _ source: ScriptedSource, count: Int, limit: Int, _ lost: LostReadings
    ) async throws -> [Double] {
        let (tapped, continuation) = AsyncStream.makeStream(of: SensorReading.self)
        let stream = TappedSource(source: source, lost: lost, limit: limit) { continuation.yield($0) }.readings()
        var received = 0
        for await _ in tapped {
            received += 1
            if received == count { break }
        }
        var pressures: [Double] = []
        for try await reading in stream {
            if case .pressure(let sample) = reading { pressures.append(sample.hectopascals) }
        }
        return pressures
    }

    func testATappedSourceDiscardsTheOldestReadingsOfASlowSessionAndCountsThem() async throws {
        let lost = LostReadings()
        let read = try await pressures(source(100), count: 100, limit: 10, lost)
        // The last reading may arrive after the first one is read.
        XCTAssertTrue([89, 90].contains(lost.total), "\(lost.total)")
        XCTAssertEqual(read, (lost.total + 1...100).map(Double.init), "the newest readings stay, in their order")
    }

    func testATappedRecordingLosesNoReading() async throws {
        let lost = LostReadings()
        let tapped = Guarded(0)
        let recording = TappedSource(source: source(100, pace: .recorded), lost: lost, limit: 10) { _ in
            tapped.withLock { $0 += 1 }
        }
        var read = 0
        for try await _ in recording.readings() {
            read += 1
            XCTAssertEqual(tapped.withLock { $0 }, read, "the recording waits for its reader")
        }
        XCTAssertEqual(read, 100)
        XCTAssertEqual(lost.total, 0)
    }

    func testALossIsReportedOnce() {
        let lost = LostReadings()
        XCTAssertNil(lost.drainWarning())
        lost.add()
        XCTAssertEqual(
            lost.drainWarning(), "1 reading lost before the session, which is slower than the source")
        XCTAssertNil(lost.drainWarning())
        lost.add()
        lost.add()
        XCTAssertEqual(
            lost.drainWarning(), "2 readings lost before the session, which is slower than the source")
    }
}
