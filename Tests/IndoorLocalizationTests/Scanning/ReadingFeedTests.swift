import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// The bounded buffer of sources that wrap others, and its reports of lost readings.
final class ReadingFeedTests: XCTestCase {
    private struct Broken: Error, Equatable {}

    /// All readings of a stream that has ended, or is about to end.
    private func all(_ stream: ReadingFeed.Stream) async throws -> [SensorReading] {
        try await Bounded.wait(for: "the end of a stream") {
            var readings: [SensorReading] = []
            for try await reading in stream { readings.append(reading) }
            return readings
        }
    }

    private func event(_ reading: SensorReading?) -> RadioEvent? {
        guard case .radio(let event) = reading else { return nil }
        return event
    }

    func testAFeedWhoseReaderKeepsUpReportsNothing() async throws {
        let (stream, feed) = ReadingFeed.makeStream(capacity: 3)
        let readings = (0..<3).map { ScannerStage.sighting(at: Double($0)) }
        for reading in readings { feed.yield(reading) }
        feed.finish()
        let heard = try await all(stream)
        XCTAssertEqual(heard, readings)
    }

    func testAFeedKeepsTheNewestReadingsAndReportsLossesOnceASecond() async throws {
        let (stream, feed) = ReadingFeed.makeStream(capacity: 4)
        let off = RadioEvent(instant: .zero, status: .sharing, adapter: "hci7", detail: "another scan runs")
        feed.yield(.radio(off))
        // The fifth element is the first to displace another one, at 0.4 s; the report is due at 1.4 s.
        for step in 1...14 { feed.yield(ScannerStage.sighting(at: Double(step) / 10)) }
        var iterator = stream.makeAsyncIterator()
        for second in [1.2, 1.3, 1.4] {
            let reading = try await iterator.next()
            XCTAssertEqual(reading, ScannerStage.sighting(at: second))
        }
        let report = event(try await iterator.next())
        XCTAssertEqual(report?.instant, Instant(seconds: 1.4))
        XCTAssertEqual(report?.status, .sharing, "the radio's status is repeated")
        XCTAssertEqual(report?.adapter, "hci7")
        XCTAssertEqual(report?.detail, "11 readings were lost because they were not read in time.")
    }

    func testAFeedReportsTheLastLossesWhenItEnds() async throws {
        for isBroken in [false, true] {
            let (stream, feed) = ReadingFeed.makeStream(capacity: 2)
            for step in 1...3 { feed.yield(ScannerStage.sighting(at: Double(step) / 10)) }
            feed.finish(throwing: isBroken ? Broken() : nil)
            var heard: [SensorReading] = []
            do {
                for try await reading in stream { heard.append(reading) }
                XCTAssertFalse(isBroken)
            } catch { XCTAssertTrue(error is Broken && isBroken, "\(error)") }
            XCTAssertEqual(heard.first, ScannerStage.sighting(at: 0.3))
            XCTAssertEqual(event(heard.last)?.status, .scanning)
            XCTAssertEqual(event(heard.last)?.detail, "1 reading was lost because it was not read in time.")
        }
    }

    func testAFeedWithoutARadioReportsLossesWithTheRadiosFirstReading() async throws {
        let (stream, feed) = ReadingFeed.makeStream(capacity: 2)
        for second in 0..<9 { feed.yield(SessionStage.motion(at: Double(second))) }
        feed.yield(ScannerStage.sighting(at: 9))
        var iterator = stream.makeAsyncIterator()
        let sighting = try await iterator.next()
        XCTAssertEqual(sighting, ScannerStage.sighting(at: 9))
        let report = event(try await iterator.next())
        XCTAssertEqual(report?.detail, "8 readings were lost because they were not read in time.")
    }

    func testAReadingBehindAFailureShowsThatTheRadioScansAgain() async throws {
        let (stream, feed) = ReadingFeed.makeStream(capacity: 1)
        feed.yield(ScannerStage.radio(.poweredOff, at: 0))
        feed.yield(ScannerStage.sighting(at: 1))
        feed.finish()
        let heard = try await all(stream)
        XCTAssertEqual(heard.map { event($0)?.status }, [.scanning])
    }

    // MARK: - The wrapping sources

    /// A source that counts how many of its readings, 10 ms apart, were fetched.
    private struct CountedSource: ScanSource, GNSSSource {
        let pace: ScanPace
        let count: Int
        let fetched = WatchedState(0)

        func readings() -> AsyncThrowingStream<SensorReading, any Error> {
            AsyncThrowingStream { [count, fetched] in
                let number = fetched.update {
                    $0 += 1; return $0
                }
                return number > count ? nil : ScannerStage.sighting(at: Double(number) / 100)
            }
        }

        func fixes() -> AsyncThrowingStream<GNSSFix, any Error> {
            readings().transformed { reading in
                [GNSSFix(instant: reading.instant, coordinate: Coordinate(latitude: 52, longitude: 13), accuracy: 5)]
            }
        }
    }

    /// A wrapper without a buffer leaves unfetched readings to its source, which counts its own losses.
    func testWrappersWithoutABufferFetchNoReadingBeforeItsReaderDoes() async throws {
        let layout = BeaconLayout.eddystoneTLM
        let wrappers: [(String, ScanPace, (CountedSource) -> any ScanSource)] = [
            ("layouts", .live, { $0.decoding([layout]) }),
            ("satellites", .live, { GNSSReadings($0) }),
            ("duty cycle", .recorded, { $0.dutyCycled(DutyCycle()) }),
            ("steered", .recorded, { $0.dutyCycledBySettings() }),
            ("combination", .recorded, { CombinedSource($0, with: []) }),
        ]
        for (name, pace, wrap) in wrappers {
            let source = CountedSource(pace: pace, count: 1000)
            var iterator = wrap(source).readings().makeAsyncIterator()
            for number in 1...3 {
                let reading = try await iterator.next()
                XCTAssertEqual(reading?.instant, Instant(seconds: Double(number) / 100), name)
                for _ in 0..<100 { await Task.yield() }
                XCTAssertEqual(source.fetched.value, number, name)
            }
        }
    }

    func testWrappersWithABufferBoundItAndReportTheReadingsThatTheyLose() async throws {
        let clock = ManualClock()
        let wrappers: [(String, Int, (CountedSource) -> any ScanSource)] = [
            ("duty cycle", ReadingFeed.capacity, { $0.dutyCycled(.continuous, clock: clock) }),
            ("combination", ReadingFeed.capacity, { CombinedSource($0, with: [], clock: clock) }),
            ("shared", SharedScanSource.capacity, { SharedScanSource($0) }),
        ]
        for (name, capacity, wrap) in wrappers {
            let count = capacity + 1000
            let source = CountedSource(pace: .live, count: count)
            let wrapper = wrap(source)
            let stream = wrapper.readings()
            try await Bounded.wait(for: "the end of \(name)") { try await source.fetched.wait { $0 == count + 1 } }
            let heard = try await all(stream)
            // The reader may fetch one reading before the last report displaces another.
            XCTAssertTrue(
                (capacity...(capacity + 1)).contains(heard.count), "\(name): \(heard.count)")
            let reports = heard.compactMap { event($0)?.detail }
            let reported = reports.reduce(0) { $0 + (Int($1.prefix { $0.isNumber }) ?? 0) }
            XCTAssertGreaterThan(reports.count, 1, name)
            let known = heard.count - reports.count + reported
            XCTAssertTrue(
                ((count - 1)...count).contains(known), "\(name): \(known) readings were delivered or reported as lost")
        }
    }
}
