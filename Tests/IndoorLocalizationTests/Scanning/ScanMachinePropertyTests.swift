import IndoorLocalization
import XCTest

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
        case .emitRoomEvent: complain("a room without a classifier")
        case .startSource, .stopSource, .passOn, .report: break
        }
    }
}
