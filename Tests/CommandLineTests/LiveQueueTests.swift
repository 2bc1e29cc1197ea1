import IndoorLocalization
import IndoorLocalizationTesting
import XCTest
@testable import indoorloc

/// Queues for a slow reader are bounded, and lost items are counted.
final class LiveQueueTests: XCTestCase {
    func testAFullQueueLosesWholeLines() {
        var queue = LineQueue()
        let line = String(repeating: "x", count: 1023)
        for _ in 0..<2000 { queue.append(line) }
        XCTAssertLessThanOrEqual(queue.count, LineQueue.room)
        XCTAssertEqual(queue.lines + queue.lost, 2000)
        XCTAssertGreaterThan(queue.lines, 1000)
        XCTAssertEqual(queue.count % 1024, 0, "a line was torn")
        let lost = queue.lost
        XCTAssertEqual(queue.drainLosses(), lost)
        XCTAssertEqual(queue.drainLosses(), 0)
        queue.consume(1024 * 10)
        queue.append(line)
        XCTAssertEqual(queue.lost, 0, "the queue has room again")
    }

    func testTheQueueReturnsBytesInOrder() {
        var queue = LineQueue()
        var given: [UInt8] = []
        for index in 0..<50_000 {
            queue.append("line \(index)")
            let piece = queue.next(index % 31)
            given += piece
            queue.consume(piece.count)
        }
        while !queue.isEmpty {
            let piece = queue.next(4096)
            given += piece
            queue.consume(piece.count)
        }
        let lines = String(decoding: given, as: UTF8.self).split(separator: "\n")
        XCTAssertEqual(lines.count + queue.lost, 50_000)
        XCTAssertEqual(lines.first, "line 0")
        XCTAssertEqual(lines.map { Int($0.dropFirst(5)) ?? -1 }, lines.map { Int($0.dropFirst(5)) ?? -1 }.sorted())
    }

    func testDroppedLinesCountAsLost() {
        var queue = LineQueue()
        for _ in 0..<3 { queue.append("abc") }
        queue.consume(5)
        queue.drop()
        XCTAssertEqual(queue.drainLosses(), 2, "the line that was begun, and the last one")
        XCTAssertTrue(queue.isEmpty)
    }

    func testElementsAreBoundedAndTheEndIsNeverLost() async {
        let mailbox = LiveMailbox<Int>()
        let room = LiveMailbox<Int>.room
        for index in 0..<room + 100 {
            mailbox.put(.element(index))
            mailbox.put(.tick)
        }
        mailbox.put(.interrupted)
        XCTAssertEqual(mailbox.lost, 100)
        var elements: [Int] = []
        var ticks = 0
        loop: for await occurrence in mailbox {
            switch occurrence {
            case .element(let element): elements.append(element)
            case .tick: ticks += 1
            case .ended, .limitReached: XCTFail("unexpected occurrence")
            case .interrupted: break loop
            }
        }
        XCTAssertEqual(elements, Array(0..<room))
        XCTAssertEqual(ticks, 1)
        mailbox.put(.element(7))
        var rest = mailbox.makeAsyncIterator()
        let next = await rest.next()
        guard case .element(7) = next else {
            return XCTFail("the queue has room again, but gives \(String(describing: next))")
        }
    }
}

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
