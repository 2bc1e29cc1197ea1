import BlueZScanning
import IndoorLocalization
import XCTest

/// Restarts of discovery if the controller filters duplicates.
final class DBusRenewalTests: XCTestCase {
    private let path = DBusStage.adapterPath

    /// Returns a running scan with a number of reports of a beacon.
    private func scanningStage(reports: Int, supportsMonitors: Bool = false) -> DBusStage {
        var stage = DBusStage()
        stage.begin(supportsMonitors: supportsMonitors)
        for number in 0..<reports {
            number == 0
                ? stage.deviceAppears(DBusStage.beacon(rssi: -60)) : stage.deviceChanges(["RSSI": .int16(-61)])
        }
        return stage
    }

    func testOneReportOfADeviceInAScanIndicatesADuplicateFilter() {
        var stage = scanningStage(reports: 1)
        stage.wait(DuplicateFilterDetector.observation)
        XCTAssertEqual(stage.machine.memory.duplicates.verdict, .filters)
        XCTAssertEqual(stage.call, .stopDiscovery(adapter: path))
        stage.answer()
        XCTAssertEqual(stage.call, .startDiscovery(adapter: path))
        stage.answer()
        XCTAssertEqual(stage.machine.dueTime, stage.now.advanced(by: DuplicateFilterDetector.renewal))
        XCTAssertEqual(stage.statuses, [])
        stage.wait(DuplicateFilterDetector.renewal)
        XCTAssertEqual(stage.call, .stopDiscovery(adapter: path))
    }

    func testDiscoveryContinuesIfADeviceIsReportedRepeatedly() {
        var stage = scanningStage(reports: 3)
        XCTAssertEqual(stage.machine.memory.duplicates.verdict, .repeats)
        stage.wait(DuplicateFilterDetector.observation)
        XCTAssertNil(stage.call)
        let heardAt = stage.now.advanced(by: .zero - DuplicateFilterDetector.observation)
        XCTAssertEqual(stage.machine.dueTime, heardAt.advanced(by: BlueZScanSettings.longestSilence))
    }

    func testSilenceGivesNoVerdictAndTheObservationContinues() {
        var stage = scanningStage(reports: 0)
        stage.wait(DuplicateFilterDetector.observation)
        XCTAssertNil(stage.call)
        XCTAssertEqual(stage.machine.memory.duplicates.verdict, .undecided)
        XCTAssertEqual(stage.machine.dueTime, stage.now.advanced(by: DuplicateFilterDetector.observation))
    }

    func testWithAMonitorOnlySilenceRestartsDiscovery() {
        var stage = scanningStage(reports: 1, supportsMonitors: true)
        XCTAssertEqual(stage.machine.dueTime, stage.now.advanced(by: BlueZScanSettings.longestSilence))
        stage.now = stage.now.advanced(by: .seconds(59))
        stage.deviceChanges(["RSSI": .int16(-62)])
        stage.wait(.seconds(1))
        XCTAssertNil(stage.call)
        XCTAssertEqual(stage.machine.dueTime, stage.now.advanced(by: .seconds(59)))
    }

    func testDiscoveryIsRestartedAfterAMinuteOfSilence() {
        var stage = scanningStage(reports: 1, supportsMonitors: true)
        stage.wait(BlueZScanSettings.longestSilence)
        XCTAssertEqual(stage.call, .stopDiscovery(adapter: path))
        stage.answer()
        XCTAssertEqual(stage.call, .startDiscovery(adapter: path))
        stage.answer()
        XCTAssertEqual(stage.statuses, [])
        XCTAssertEqual(stage.machine.dueTime, stage.now.advanced(by: BlueZScanSettings.longestSilence))
    }

    func testReportsAreDeliveredWhileDiscoveryRestarts() {
        var stage = scanningStage(reports: 1)
        stage.wait(DuplicateFilterDetector.observation)
        stage.deviceChanges(["RSSI": .int16(-62)])
        XCTAssertEqual(stage.sightings.map(\.rssi), [-62])
    }

    func testASignalOfTheEndDoesNotDisturbARestart() {
        var stage = scanningStage(reports: 1)
        stage.wait(DuplicateFilterDetector.observation)
        stage.adapterChanges(["Discovering": .boolean(false)])
        XCTAssertEqual(stage.call, .stopDiscovery(adapter: path))
        stage.answer()
        XCTAssertEqual(stage.call, .startDiscovery(adapter: path))
        stage.adapterChanges(["Discovering": .boolean(true)])
        stage.answer()
        XCTAssertEqual(stage.machine.state, .resting(until: stage.now.advanced(by: DuplicateFilterDetector.renewal)))
    }

    func testAnAdapterThatIsPluggedInAgainIsObservedAgain() {
        var stage = scanningStage(reports: 3)
        stage.signal("InterfacesRemoved", [.objectPath(path), .array([.string("org.bluez.Adapter1")], of: "s")])
        XCTAssertEqual(stage.machine.memory.duplicates.verdict, .undecided)
    }

    func testStoppingDuringARestartEndsTheScan() {
        var stage = scanningStage(reports: 1)
        stage.wait(DuplicateFilterDetector.observation)
        stage.happen(.stop)
        XCTAssertEqual(stage.call, .stopDiscovery(adapter: path))
        stage.answer()
        XCTAssertEqual(stage.directives, [.close])
    }
}
