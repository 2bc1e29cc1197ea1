import IndoorLocalization
import Synchronization
import XCTest

/// What a scanner decides, without tasks: passes, retries, records.
final class ScanMachineTests: XCTestCase {
    private func at(_ seconds: Double) -> Instant { Instant(seconds: seconds) }

    private func machine(
        _ pace: ScanPace = .live, _ settings: ScannerSettings = ScannerSettings(dutyCycle: DutyCycle())
    ) -> ScanMachine {
        ScanMachine(settings: settings, pace: pace, seed: 1)
    }

    private func heard(_ seconds: Double, rssi: Double = -60) -> ScanMachine.Event {
        .reading(ScannerStage.sighting(at: seconds, rssi: rssi))
    }

    private func started(_ elapsed: Double, _ instant: Double? = nil) -> ScanMachine.Directive {
        .publish(ScanEvent(kind: .started, elapsed: .seconds(elapsed), instant: instant.map(at)))
    }

    private func stopped(_ elapsed: Double, _ instant: Double? = nil) -> ScanMachine.Directive {
        .publish(ScanEvent(kind: .stopped, elapsed: .seconds(elapsed), instant: instant.map(at)))
    }

    private func beacons(_ directives: [ScanMachine.Directive]) -> [BeaconRecord] {
        directives.compactMap { if case .emitBeacon(let record) = $0 { record } else { nil } }
    }

    // MARK: - Passes

    func testALiveSourceIsStartedAndStoppedWithEachPass() {
        var machine = machine()
        XCTAssertEqual(machine.handle(.start, at: .zero), [started(0), .startSource(nil)])
        XCTAssertEqual(machine.handle(.tick, at: at(10)), [.stopSource, stopped(10)])
        XCTAssertFalse(machine.isScanning)
        XCTAssertEqual(machine.nextWake, at(100))
        XCTAssertEqual(machine.handle(.tick, at: at(100)), [started(100), .startSource(nil)])
        XCTAssertTrue(machine.isScanning)
    }

    func testARecordingRunsThroughAndIsCycledByItsInstants() {
        var machine = machine(.recorded)
        XCTAssertEqual(machine.handle(.start, at: .zero), [.startSource(nil), started(0)])
        machine.shift(by: .seconds(5000))
        XCTAssertEqual(beacons(machine.handle(heard(5000), at: at(5000))).count, 1)
        XCTAssertEqual(machine.handle(heard(5050), at: at(5050)), [stopped(10, 5010)])
        let second = machine.handle(heard(5105), at: at(5105))
        XCTAssertEqual(second.first, started(100, 5100))
        XCTAssertEqual(beacons(second).count, 1)
    }

    func testAPassIncludesItsFirstInstantAndExcludesItsLast() {
        var machine = machine(.recorded)
        _ = machine.handle(.start, at: .zero)
        for (second, isHeard) in [(0.0, true), (9.999, true), (10, false), (99.999, false), (100, true)] {
            XCTAssertEqual(beacons(machine.handle(heard(second), at: at(second))).count, isHeard ? 1 : 0, "\(second) s")
        }
    }

    func testNothingIsEmittedBetweenTwoPasses() throws {
        var machine = machine(.recorded)
        _ = machine.handle(.start, at: .zero)
        _ = machine.handle(heard(10), at: at(10))
        let advertisement = SensorReading.advertisement(try ScannerStage.advertisement(at: 11))
        XCTAssertEqual(machine.handle(.reading(advertisement), at: at(11)), [])
    }

    func testALiveScanDoesNotCatchUpAfterTheComputerSlept() {
        var machine = machine()
        _ = machine.handle(.start, at: .zero)
        XCTAssertEqual(machine.handle(.tick, at: at(3600)), [.stopSource, stopped(3600)])
        XCTAssertEqual(machine.nextWake, at(3690))
    }

    func testAnAlarmThatRingsALittleLateMovesNoBoundary() {
        var machine = machine()
        _ = machine.handle(.start, at: .zero)
        XCTAssertEqual(machine.handle(.tick, at: at(10.5)), [.stopSource, stopped(10)])
        XCTAssertEqual(machine.nextWake, at(100))
    }

    func testAGapOfYearsInARecordingTakesABoundedNumberOfSteps() {
        var settings = ScannerSettings(dutyCycle: DutyCycle(scanDuration: .milliseconds(10), interval: .zero))
        settings.regions.exitTimeout = .milliseconds(10)
        var machine = machine(.recorded, settings)
        _ = machine.regions.track(BeaconRegion(uuid: ScannerStage.uuid), id: "hall")
        _ = machine.handle(.start, at: .zero)
        _ = machine.handle(heard(0), at: .zero)
        XCTAssertLessThan(machine.handle(heard(3e9), at: at(3e9)).count, 300_000)
        XCTAssertEqual(machine.regions.insideRegions.count, machine.isScanning ? 1 : 0)
        XCTAssertGreaterThan(machine.nextWake ?? .zero, at(3e9))
    }

    func testStopEmitsTheEndOfThePassAndNothingElse() {
        var machine = machine()
        _ = machine.regions.track(BeaconRegion(uuid: ScannerStage.uuid), id: "hall")
        _ = machine.handle(.start, at: .zero)
        _ = machine.handle(heard(3), at: at(3))
        XCTAssertEqual(machine.handle(.stop, at: at(3.5)), [.stopSource, stopped(3.5, 3.5)])
        XCTAssertNil(machine.nextWake)
        for event in [.stop, .tick, heard(5), .sourceEnded] as [ScanMachine.Event] {
            XCTAssertEqual(machine.handle(event, at: at(200)), [], "\(event)")
        }
        XCTAssertFalse(machine.isStarted)
    }

    func testAChangedCycleAppliesFromTheNextBoundaryAndItsTimingFromTheNextPass() {
        var machine = machine()
        _ = machine.handle(.start, at: .zero)
        let mode = PowerMode.normal
        XCTAssertEqual(machine.handle(.change(mode.dutyCycle, mode.timing), at: at(5)), [])
        XCTAssertEqual(machine.handle(.tick, at: at(10)), [.stopSource, stopped(10)])
        XCTAssertEqual(machine.handle(.tick, at: at(30)), [started(30), .startSource(mode.timing)])
    }

    func testACycleCanBeChangedWhileStopped() {
        var machine = machine()
        XCTAssertEqual(machine.handle(.change(.continuous, nil), at: .zero), [])
        _ = machine.handle(.start, at: .zero)
        XCTAssertNil(machine.nextWake)
    }

    // MARK: - Failures

    private let failure = LocalizationError(code: .generic, message: "the antenna fell off")

    func testAFailedSourceIsStartedAgainAfterTwoSeconds() {
        var machine = machine()
        _ = machine.handle(.start, at: .zero)
        XCTAssertEqual(
            machine.handle(.sourceFailed(failure), at: at(3)), [.report(failure), .stopSource, stopped(3)])
        XCTAssertFalse(machine.isScanning)
        XCTAssertEqual(machine.nextWake, at(5))
        XCTAssertEqual(machine.handle(.tick, at: at(5)), [started(5), .startSource(nil)])
    }

    func testPausesGrowToAMinuteUntilTheRadioReceives() throws {
        var machine = machine(.live, ScannerSettings(dutyCycle: .continuous))
        _ = machine.handle(.start, at: .zero)
        var now = Instant.zero
        var pauses: [Double] = []
        for _ in 0..<10 {
            _ = machine.handle(.sourceFailed(failure), at: now)
            let wake = try XCTUnwrap(machine.nextWake)
            pauses.append(now.duration(to: wake).seconds)
            now = wake
            _ = machine.handle(.tick, at: now)
        }
        XCTAssertEqual(pauses[0], 2)
        for (number, pause) in pauses.enumerated().dropFirst() {
            let full = min(60, 2 * Double(1 << number))
            XCTAssertTrue((full / 2...full).contains(pause), "pause \(number): \(pause) s")
        }
        let phone = Advertisement(instant: now, address: DeviceAddress(rawValue: 1), rssi: -60, data: [2, 1, 6])
        for reading in [ScannerStage.sighting(at: now.seconds), .advertisement(phone)] {
            _ = machine.handle(.reading(reading), at: now)
            _ = machine.handle(.sourceFailed(failure), at: now)
            XCTAssertEqual(now.duration(to: try XCTUnwrap(machine.nextWake)), .seconds(2), "\(reading)")
            now = now.advanced(by: .seconds(2))
            _ = machine.handle(.sourceFailed(failure), at: now)
            let second = now.duration(to: try XCTUnwrap(machine.nextWake)).seconds
            XCTAssertTrue((2...4).contains(second), "\(reading): \(second) s")
            now = now.advanced(by: .seconds(second))
            _ = machine.handle(.tick, at: now)
        }
    }

    func testAPassThatEndsBeforeTheRetryIsOver() {
        var machine = machine()
        _ = machine.handle(.start, at: .zero)
        _ = machine.handle(.sourceFailed(failure), at: at(9))
        XCTAssertEqual(machine.handle(.tick, at: at(10)), [], "it has stopped already")
        XCTAssertEqual(machine.nextWake, at(100), "no retry between two passes")
        XCTAssertEqual(machine.handle(.tick, at: at(100)), [started(100), .startSource(nil)])
    }

    func testACriticalErrorAndAnyErrorOfARecordingEndTheScan() {
        let critical = LocalizationError(code: .critical, message: "no Bluetooth")
        var live = machine()
        _ = live.handle(.start, at: .zero)
        XCTAssertEqual(
            live.handle(.sourceFailed(critical), at: at(1)), [.report(critical), .stopSource, stopped(1)])
        XCTAssertFalse(live.isStarted)
        var recorded = machine(.recorded)
        _ = recorded.handle(.start, at: .zero)
        var final = failure
        final.code = .critical
        XCTAssertEqual(
            recorded.handle(.sourceFailed(failure), at: .zero), [.report(final), stopped(0), .stopSource])
        XCTAssertFalse(recorded.isStarted)
    }

    func testSettingsOutOfRangeAreTheFirstError() {
        let settings = ScannerSettings(dutyCycle: DutyCycle(scanDuration: .zero, interval: .zero))
        var machine = machine(.live, settings)
        let directives = machine.handle(.start, at: .zero)
        guard case .report(let error)? = directives.first else { return XCTFail("\(directives)") }
        XCTAssertEqual(error.code, .critical)
        XCTAssertTrue(error.message.contains("dutyCycle.scanDuration"), error.message)
        XCTAssertFalse(machine.isStarted)
    }

    // MARK: - Records

    func testAnAdvertisementWithItsSightingBehindItIsOneBeacon() throws {
        var machine = machine()
        _ = machine.handle(.start, at: .zero)
        let advertisement = try ScannerStage.advertisement(at: 1)
        var decoder = ReadingDecoder()
        let first = machine.handle(.reading(decoder.decode(.advertisement(advertisement))), at: at(1))
        XCTAssertEqual(first.first, .emitAdvertisement(advertisement))
        XCTAssertEqual(beacons(first).map(\.beacon), [ScannerStage.beacon()])
        let sighting = try XCTUnwrap(try advertisement.sighting())
        XCTAssertEqual(machine.handle(.reading(decoder.decode(.sighting(sighting))), at: at(1)), [])
        let second = machine.handle(.reading(decoder.decode(.sighting(sighting))), at: at(1))
        XCTAssertEqual(beacons(second).count, 1, "a second one")
    }

    func testAMalformedAdvertisementIsEmittedWithoutABeacon() throws {
        var machine = machine()
        _ = machine.handle(.start, at: .zero)
        var advertisement = try ScannerStage.advertisement(at: 1)
        advertisement.data.removeLast()
        XCTAssertEqual(
            machine.handle(.reading(.advertisement(advertisement)), at: at(1)), [.emitAdvertisement(advertisement)])
    }

    func testReadingsWithAnInvalidRSSIAreDiscardedAndCounted() throws {
        var machine = machine()
        _ = machine.handle(.start, at: .zero)
        for rssi in [127.0, 0, 5, .nan, -128] {
            XCTAssertEqual(machine.handle(heard(1, rssi: rssi), at: at(1)), [], "\(rssi) dBm")
            let advertisement = try ScannerStage.advertisement(at: 1, rssi: rssi)
            XCTAssertEqual(machine.handle(.reading(.advertisement(advertisement)), at: at(1)), [], "\(rssi) dBm")
        }
        XCTAssertEqual(machine.discarded, 10)
    }

    func testASightingExactlyAtTheThresholdIsKept() {
        var settings = ScannerSettings()
        settings.rssiThreshold = -75
        var machine = machine(.live, settings)
        _ = machine.handle(.start, at: .zero)
        XCTAssertEqual(beacons(machine.handle(heard(1, rssi: -75), at: at(1))).count, 1)
        XCTAssertEqual(beacons(machine.handle(heard(2, rssi: -75.1), at: at(2))).count, 0)
    }

    /// Immediate below 0.5 m, near to 3 m, far beyond.
    func testProximityComesFromTheDistanceAndIsNilIfThatIsUnknown() throws {
        // In free space, 6 dB are a factor of two: half a metre is 6 dB above the measured power, 3 m are 9.54 below.
        for (rssi, expected) in [(-52.9, Proximity.immediate), (-53.1, .near), (-68.5, .near), (-68.6, .far)] {
            var machine = machine()
            _ = machine.handle(.start, at: .zero)
            let record = try XCTUnwrap(beacons(machine.handle(heard(1, rssi: rssi), at: at(1))).first)
            XCTAssertEqual(record.proximity, expected, "\(rssi) dBm")
            XCTAssertEqual(record.distance?.proximity, expected)
            XCTAssertEqual(record.rssi, rssi)
            XCTAssertEqual(record.instant, at(1))
        }
        var machine = machine()
        _ = machine.handle(.start, at: .zero)
        let unknown = ScannerStage.sighting(at: 1, power: nil)
        let record = try XCTUnwrap(beacons(machine.handle(.reading(unknown), at: at(1))).first)
        XCTAssertNil(record.proximity)
        XCTAssertNil(record.distance)
    }

    func testAFailureOfTheRadioIsNotSilenceOfABeacon() {
        var machine = machine(.live, ScannerSettings(dutyCycle: .continuous))
        _ = machine.regions.track(BeaconRegion(uuid: ScannerStage.uuid), id: "hall")
        _ = machine.handle(.start, at: .zero)
        _ = machine.handle(heard(1), at: at(1))
        let off = RadioEvent(instant: at(2), status: .poweredOff)
        XCTAssertTrue(machine.handle(.reading(.radio(off)), at: at(2)).contains(.passOn(off)))
        XCTAssertNil(machine.nextWake)
        XCTAssertEqual(machine.handle(.tick, at: at(500)), [])
        XCTAssertEqual(machine.trackingState.insideRegions, ["hall"])
        _ = machine.handle(.reading(ScannerStage.radio(.scanning, at: 600)), at: at(600))
        let exit = RegionEvent(instant: at(629), regionID: "hall", kind: .exit)
        var directives: [ScanMachine.Directive] = []
        while let wake = machine.nextWake { directives += machine.handle(.tick, at: wake) }
        XCTAssertTrue(directives.contains(.emitRegionEvent(exit)), "a second was silent before, 29 afterwards")
    }

    func testAFailureOfARecordedRadioLastsIntoTheNextPass() {
        var machine = machine(.recorded)
        _ = machine.regions.track(BeaconRegion(uuid: ScannerStage.uuid), id: "hall")
        _ = machine.handle(.start, at: .zero)
        _ = machine.handle(heard(1), at: at(1))
        _ = machine.handle(.reading(ScannerStage.radio(.poweredOff, at: 2)), at: at(2))
        _ = machine.handle(.tick, at: at(999))
        XCTAssertEqual(machine.trackingState.insideRegions, ["hall"])
    }

    func testALiveRadioIsAssumedToReceiveInEachPassUntilItReportsAFailure() {
        var machine = machine()
        _ = machine.regions.track(BeaconRegion(uuid: ScannerStage.uuid), id: "hall")
        _ = machine.handle(.start, at: .zero)
        _ = machine.handle(heard(1), at: at(1))
        _ = machine.handle(.reading(ScannerStage.radio(.poweredOff, at: 2)), at: at(2))
        var directives: [ScanMachine.Directive] = []
        while let wake = machine.nextWake, wake < at(400) { directives += machine.handle(.tick, at: wake) }
        let exit = RegionEvent(instant: at(309), regionID: "hall", kind: .exit)
        XCTAssertTrue(directives.contains(.emitRegionEvent(exit)), "1 s in the first pass, 28 s in three, and 9 s")
    }

    func testARestartDiscardsEarlierRanges() throws {
        var machine = machine()
        _ = machine.handle(.start, at: .zero)
        for tenth in 0..<50 { _ = machine.handle(heard(Double(tenth) / 10, rssi: -40), at: at(Double(tenth) / 10)) }
        _ = machine.handle(.stop, at: at(5))
        _ = machine.handle(.start, at: at(5))
        let record = try XCTUnwrap(beacons(machine.handle(heard(5.1, rssi: -90), at: at(5.1))).first)
        XCTAssertEqual(record.range.rssi, -90)
    }

    func testSilentBeaconsAreDiscarded() {
        var machine = machine(.live, ScannerSettings(dutyCycle: .continuous))
        _ = machine.handle(.start, at: .zero)
        for number in 0..<10_000 {
            let second = Double(number) / 100
            let beacon = ScannerStage.beacon(1, UInt16(number))
            _ = machine.handle(.reading(ScannerStage.sighting(beacon, at: second)), at: at(second))
        }
        XCTAssertLessThanOrEqual(machine.rangedBeacons, 1001, "those of 10 s at most, at 100 a second")
    }

    func testTheEndOfARecordingEmitsTheLastRanging() {
        var machine = machine(.recorded)
        _ = machine.regions.track(BeaconRegion(uuid: ScannerStage.uuid), id: "hall")
        _ = machine.handle(.start, at: .zero)
        _ = machine.handle(heard(0.5), at: at(0.5))
        let directives = machine.handle(.sourceEnded, at: at(0.5))
        guard case .emitRanging(let ranging)? = directives.first else { return XCTFail("\(directives)") }
        XCTAssertEqual(ranging.ranges.map(\.beacon), [ScannerStage.beacon()])
        XCTAssertEqual(Array(directives.dropFirst()), [stopped(0.5, 0.5), .stopSource])
    }
}

/// Random events by the ten thousand: what a scanner keeps to whatever happens.
final class ScanMachinePropertyTests: XCTestCase {
    private let failure = LocalizationError(code: .generic, message: "the antenna fell off")

    func testTheEventsMatchTheScanForRandomEvents() {
        for seed in [1, 2, 3, 0xC0FFEE] as [UInt64] {
            for pace in [ScanPace.live, .recorded] {
                var generator = SeededGenerator(seed: seed)
                var machine = ScanMachine(
                    settings: ScannerSettings(dutyCycle: DutyCycle()), pace: pace, seed: seed)
                _ = machine.regions.track(BeaconRegion(uuid: ScannerStage.uuid), id: "hall")
                _ = machine.regions.track(BeaconRegion(uuid: ScannerStage.uuid, major: 1), id: "room")
                var witness = ScanWitness()
                var now = 0.0
                for step in 0..<10_000 {
                    now += generator.uniform() < 0.02 ? 100 * generator.uniform() : 2 * generator.uniform()
                    let told = now - (generator.uniform() < 0.1 ? generator.uniform() : 0)
                    let instant = Instant(seconds: told)
                    let directives = machine.handle(event(&generator, at: told), at: instant)
                    for directive in directives { witness.see(directive) }
                    if witness.isScanning != machine.isScanning { witness.complain("isScanning does not match") }
                    if !machine.isStarted, machine.nextWake != nil { witness.complain("wakes while stopped") }
                    if let wake = machine.nextWake, wake < instant { witness.complain("leaves work undone") }
                    XCTAssertEqual(witness.complaints, [], "seed \(seed), \(pace), step \(step)")
                    if !witness.complaints.isEmpty { return }
                }
                XCTAssertGreaterThan(witness.passes, 100)
                XCTAssertGreaterThan(witness.records, 500)
                XCTAssertGreaterThan(witness.regionEvents, 20)
            }
        }
    }

    private func event(_ generator: inout SeededGenerator, at seconds: Double) -> ScanMachine.Event {
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<3: return .start
        case 3: return .stop
        case 4: return generator.uniform() < 0.5 ? .sourceEnded : .sourceFailed(failure)
        case 5: return .change(DutyCycle(scanDuration: .seconds(5), interval: .seconds(3)), nil)
        case 6: return .change(generator.uniform() < 0.2 ? .continuous : DutyCycle(), .half)
        case 7: return .reading(ScannerStage.radio(.poweredOff, at: seconds))
        case 8..<12: return .reading(ScannerStage.radio(.scanning, at: seconds))
        case 12..<30: return .tick
        default:
            let beacon = ScannerStage.beacon(UInt16.random(in: 1...2, using: &generator))
            let rssi = generator.uniform() < 0.05 ? 127 : -100 + 60 * generator.uniform()
            return .reading(ScannerStage.sighting(beacon, at: seconds, rssi: rssi))
        }
    }
}

/// Follows what a scanner tells and complains about what must not be.
private struct ScanWitness {
    var isScanning = false
    var inside: Set<String> = []
    var passes = 0
    var records = 0
    var regionEvents = 0
    var complaints: [String] = []
    private var lastInstant: Instant?

    mutating func complain(_ text: String) { complaints.append(text) }

    mutating func see(_ directive: ScanMachine.Directive) {
        switch directive {
        case .publish(let event):
            if (event.kind == .started) == isScanning { complain("\(event.kind) twice") }
            isScanning = event.kind == .started
            if isScanning { passes += 1 }
        case .emitAdvertisement, .emitBeacon:
            records += 1
            if !isScanning { complain("a record between two passes") }
        case .emitRegionEvent(let event):
            regionEvents += 1
            if !isScanning { complain("a region event between two passes") }
            // Stopping forgets without an exit, so that entering again is no fault.
            if event.kind == .exit, inside.remove(event.regionID) == nil { complain("left without entering") }
            if event.kind == .enter { inside.insert(event.regionID) }
        case .emitRanging(let ranging):
            if !isScanning { complain("a ranging between two passes") }
            if !inside.contains(ranging.regionID) { complain("ranges of a region that it is not in") }
        case .emitRoomEvent, .emitRoomEstimate: complain("a room without a classifier")
        case .startSource, .stopSource, .passOn, .report: break
        }
    }
}

final class RecentReadingsTests: XCTestCase {
    /// Counts how often somebody looks at the instant of an element.
    private final class Looks: Sendable {
        private let count = Mutex(0)
        var total: Int { count.withLock { $0 } }
        func add() { count.withLock { $0 += 1 } }
    }

    private struct Element: Timed, Hashable, Sendable {
        let seconds: Double
        let looks: Looks

        var instant: Instant {
            looks.add()
            return Instant(seconds: seconds)
        }

        static func == (left: Element, right: Element) -> Bool { left.seconds == right.seconds }
        func hash(into hasher: inout Hasher) { hasher.combine(seconds) }
    }

    private func recent(rate: Double, seconds: Double, looks: Looks) -> RecentElements<Element> {
        var recent = RecentElements<Element>()
        for index in 0..<Int(rate * seconds) { recent.add(Element(seconds: Double(index) / rate, looks: looks)) }
        return recent
    }

    /// Two looks at each addition, and one or two for the clean-up that it pays for.
    func testAnAdditionHasABoundedCostAtAnyRate() {
        for rate in [1.0, 50, 499, 501, 1_000, 5_000] {
            let looks = Looks()
            let seconds = 60.0
            _ = recent(rate: rate, seconds: seconds, looks: looks)
            XCTAssertLessThanOrEqual(Double(looks.total) / (rate * seconds), 5, "\(rate) elements a second")
        }
    }

    func testTheLatestReadingsAreStoredAtAHighRate() {
        for count in [5_001, 9_999, 10_000, 10_001, 23_456] {
            let recent = recent(rate: 10_000, seconds: Double(count) / 10_000, looks: Looks())
            XCTAssertEqual(recent.readings.count, 5_000, "\(count)")
            XCTAssertEqual(recent.readings.last?.seconds, Double(count - 1) / 10_000)
            XCTAssertEqual(recent.readings.first?.seconds, Double(count - 5_000) / 10_000)
        }
    }

    func testReadingsOlderThanTwiceTheSpanAreDiscarded() {
        let recent = recent(rate: 2, seconds: 60, looks: Looks())
        XCTAssertEqual(recent.readings.last?.seconds, 59.5)
        XCTAssertGreaterThanOrEqual(recent.readings.first?.seconds ?? 0, 59.5 - 20)
        XCTAssertLessThanOrEqual(recent.readings.first?.seconds ?? 0, 59.5 - 10)
    }

    func testClearDiscardsAllReadings() {
        var recent = recent(rate: 1, seconds: 5, looks: Looks())
        recent.clear()
        XCTAssertEqual(recent.readings, [])
    }
}
