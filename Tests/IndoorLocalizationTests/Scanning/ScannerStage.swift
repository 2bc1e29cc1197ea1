import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// A scanner with everything around it in the hands of a test.
struct ScannerStage {
    let clock = ManualClock(now: Instant(seconds: 777))
    let source: ScriptedSource
    let scanner: BeaconScanner

    /// The instant that the source gives when the scanner is started: far from the clock's.
    static let beginning = 5000.0
    static let uuid = BeaconUUID(high: 0xB5B1_82C7_EAB1_4988, low: 0xAA99_B5C1_5170_08D9)
    static let otherUUID = BeaconUUID(high: 1, low: 2)

    /// By default 10 s of every 100 s, so that passes and rests are there to be seen.
    init(
        _ source: ScriptedSource = ScriptedSource(),
        _ settings: ScannerSettings = ScannerSettings(dutyCycle: DutyCycle())
    ) {
        self.source = source
        scanner = BeaconScanner(source: source, settings: settings, clock: clock, seed: 1)
    }

    static func beacon(_ major: UInt16 = 1, _ minor: UInt16 = 1, uuid: BeaconUUID = uuid) -> BeaconIdentity {
        BeaconIdentity(uuid: uuid, major: major, minor: minor)
    }

    static func sighting(
        _ beacon: BeaconIdentity = beacon(), at seconds: Double, rssi: Double = -60, power: Double? = -59
    ) -> SensorReading {
        .sighting(
            Sighting(instant: Instant(seconds: seconds), beacon: beacon, rssi: rssi, measuredPower: power))
    }

    static func advertisement(
        _ beacon: BeaconIdentity = beacon(), at seconds: Double, rssi: Double = -60
    ) throws -> Advertisement {
        let frame = BeaconFrame(format: .iBeacon, beacon: beacon, measuredPower: -59)
        return Advertisement(
            instant: Instant(seconds: seconds), address: DeviceAddress(rawValue: 0x1234), rssi: rssi,
            data: try frame.advertisingData())
    }

    static func radio(_ status: RadioEvent.Status, at seconds: Double) -> SensorReading {
        .radio(RadioEvent(instant: Instant(seconds: seconds), status: status, adapter: "hci0"))
    }

    /// Seconds since the scanner was started, as the clock tells.
    var seconds: Double { Instant(seconds: 777).duration(to: clock.now).seconds }

    /// Starts, and waits until the source is scanned.
    func start() async throws {
        await scanner.start()
        try await source.waitUntilScanning()
    }

    /// Lets a beacon be heard now, and returns when the scanner has told of it.
    func hear(_ beacon: BeaconIdentity = beacon(), rssi: Double = -60) async throws {
        let beacons = scanner.beacons
        source.send(Self.sighting(beacon, at: Self.beginning + seconds, rssi: rssi))
        _ = try await Bounded.first(1, of: beacons)
    }

    /// Waits for the alarm that is due at so many seconds since the start, and lets it ring.
    func ring(at seconds: Double) async throws {
        let due = Instant(seconds: 777 + seconds)
        // The scanner may be about to replace the alarm by another one of the same time, so it isn't looked at again.
        let first = try await Bounded.wait(for: "an alarm at \(seconds) s") {
            try await clock.waitForSleeper(dueBy: due)
        }
        XCTAssertEqual(first.seconds, due.seconds, "the first alarm")
        clock.advance(to: due)
    }

    /// Lets time pass alarm by alarm until an element of the stream satisfies a condition; returns all up to it.
    func passTime<Element: Sendable>(
        until awaited: String, of stream: AsyncStream<Element>, _ condition: @escaping @Sendable (Element) -> Bool
    ) async throws -> [Element] {
        let alarms = Task { [clock] in
            while true { clock.advance(to: try await clock.waitForSleeper()) }
        }
        defer { alarms.cancel() }
        return try await Bounded.elements(of: stream, until: awaited, condition)
    }
}

extension AdvertisingEventDecoder {
    /// Hands over what an event holds in order, as a source's stream does.
    mutating func decode(_ event: Span<UInt8>, at instant: Instant, _ body: (SensorReading) -> Void) {
        decode(event, at: instant) {
            body(.advertisement($0))
        } sighting: {
            body(.sighting($0))
        }
    }
}
