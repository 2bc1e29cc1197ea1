import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

final class SharedScanSourceTests: XCTestCase {
    private typealias Reading = SensorReading

    func testAllReadersGetAllReadingsOfOneScan() async throws {
        let radio = ScriptedSource()
        let shared = SharedScanSource(radio)
        let streams = (0..<3).map { _ in shared.readings() }
        XCTAssertEqual(radio.scanCount, 1)
        let walk = LocalizerStage.walk(from: 0, for: 1)
        for reading in walk { radio.send(reading) }
        radio.finish()
        for stream in streams {
            let heard = try await Self.all(stream)
            XCTAssertEqual(heard, walk)
        }
    }

    func testTheLastReaderEndsTheScanAndTheNextOneBeginsAnother() async throws {
        let radio = ScriptedSource()
        let shared = SharedScanSource(radio)
        for round in 1...3 {
            let tasks = (0..<2).map { _ in
                let stream = shared.readings()
                return Task { try await Self.all(stream) }
            }
            XCTAssertEqual(radio.scanCount, round)
            tasks[0].cancel()
            _ = try? await tasks[0].value
            XCTAssertEqual(radio.runningScanCount, 1, "one still listens")
            tasks[1].cancel()
            _ = try? await tasks[1].value
            try await Bounded.wait(for: "the end of the scan") { try await radio.waitUntilNothingRuns() }
        }
    }

    func testWhoJoinsLaterHearsFromThenOn() async throws {
        let radio = ScriptedSource()
        let shared = SharedScanSource(radio)
        let early = shared.readings()
        radio.send(SessionStage.heard(1, at: 1))
        var iterator = early.makeAsyncIterator()
        let first = try await iterator.next()
        XCTAssertEqual(first, SessionStage.heard(1, at: 1))
        let late = shared.readings()
        radio.send(SessionStage.heard(1, at: 2))
        radio.finish()
        let heard = try await Self.all(late)
        XCTAssertEqual(heard, [SessionStage.heard(1, at: 2)])
    }

    func testAFailureIsOneForAllReaders() async throws {
        let radio = ScriptedSource()
        let shared = SharedScanSource(radio)
        let streams = (0..<2).map { _ in shared.readings() }
        radio.fail(SessionStage.network)
        for stream in streams {
            do {
                _ = try await Self.all(stream)
                XCTFail("the failure was not told")
            } catch {
                XCTAssertEqual(error as? LocalizationError, SessionStage.network)
            }
        }
        _ = shared.readings()
        XCTAssertEqual(radio.scanCount, 2)
    }

    func testEachReaderPlaysARecordingFromItsBeginning() async throws {
        let walk = LocalizerStage.walk(from: 0, for: 1)
        let shared = SharedScanSource(ScriptedSource(walk))
        XCTAssertEqual(shared.pace, .recorded)
        for _ in 0..<2 {
            let heard = try await Self.all(shared.readings())
            XCTAssertEqual(heard, walk)
        }
    }

    private static func all(_ stream: AsyncThrowingStream<Reading, any Error>) async throws -> [Reading] {
        try await Bounded.wait(for: "the end of a scan") {
            var readings: [Reading] = []
            for try await reading in stream { readings.append(reading) }
            return readings
        }
    }
}
