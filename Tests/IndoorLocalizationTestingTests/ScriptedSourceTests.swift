import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

final class ScriptedSourceTests: XCTestCase {
    private struct Broken: Error {}

    private let readings = (0..<3).map {
        SensorReading.pressure(PressureSample(instant: Instant(seconds: Double($0)), hectopascals: 1000))
    }

    private func collect(_ stream: AsyncThrowingStream<SensorReading, any Error>) async -> ([SensorReading], Bool) {
        var seen: [SensorReading] = []
        do { for try await reading in stream { seen.append(reading) } } catch { return (seen, error is Broken) }
        return (seen, false)
    }

    func testEachScanDeliversTheArrayAndThenEnds() async {
        let source = ScriptedSource(readings)
        XCTAssertEqual(source.pace, .recorded)
        for _ in 0..<2 {
            let (seen, isBroken) = await collect(source.readings())
            XCTAssertEqual(seen, readings)
            XCTAssertFalse(isBroken)
        }
        XCTAssertEqual(source.scanCount, 2)
        XCTAssertEqual(source.runningScanCount, 0)
    }

    func testAnArrayCanEndWithAnError() async {
        let (seen, isBroken) = await collect(ScriptedSource(readings, pace: .live, failure: Broken()).readings())
        XCTAssertEqual(seen, readings)
        XCTAssertTrue(isBroken)
    }

    func testAReadingThatIsSentGoesToAllRunningScans() async throws {
        let source = ScriptedSource()
        XCTAssertEqual(source.pace, .live)
        source.send(readings[0])
        let scans = (source.readings(), source.readings())
        try await source.waitForScans(2)
        source.send(readings[1])
        source.finish()
        let seen = await (collect(scans.0), collect(scans.1))
        XCTAssertEqual(seen.0.0, [readings[1]])
        XCTAssertEqual(seen.1.0, [readings[1]])
        try await source.waitUntilNothingRuns()
    }

    func testAScanCanFail() async {
        let source = ScriptedSource()
        let scan = source.readings()
        source.send(readings[0])
        source.fail(Broken())
        let (seen, isBroken) = await collect(scan)
        XCTAssertEqual(seen, [readings[0]])
        XCTAssertTrue(isBroken)
    }

    func testACancelledScanEnds() async throws {
        let source = ScriptedSource()
        let scan = Task { for try await _ in source.readings() {} }
        try await source.waitForScans()
        scan.cancel()
        try await source.waitUntilNothingRuns()
        XCTAssertEqual(source.runningScanCount, 0)
    }
}
