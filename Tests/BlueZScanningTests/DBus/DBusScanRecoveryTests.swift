import BlueZScanning
import IndoorLocalization
import XCTest

/// Interruptions of a running scan, and its automatic recovery.
final class DBusScanRecoveryTests: XCTestCase {
    private let path = DBusStage.adapterPath

    func testALossOfPowerIsReportedAndTheScanWaitsForPower() {
        var stage = DBusStage()
        stage.begin()
        stage.adapterChanges(["Powered": .boolean(false)])
        XCTAssertEqual(stage.statuses, [.poweredOff])
        XCTAssertNil(stage.call)
        stage.adapterChanges(["Powered": .boolean(true)])
        XCTAssertEqual(stage.call, .setFilter(adapter: path, duplicates: true))
        stage.answer()
        stage.answer()
        XCTAssertEqual(stage.statuses, [.scanning])
    }

    func testARadioSwitchIsReportedAsBlocked() {
        var stage = DBusStage()
        stage.begin()
        stage.adapterChanges(["Powered": .boolean(false), "PowerState": .string("off-blocked")])
        XCTAssertEqual(stage.statuses, [.blocked])
    }

    func testALossOfPowerThatEndsDiscoveryFirstIsReportedOnce() {
        var stage = DBusStage()
        stage.begin()
        stage.adapterChanges(["Discovering": .boolean(false)])
        XCTAssertEqual(stage.statuses, [])
        stage.adapterChanges(["Powered": .boolean(false)])
        XCTAssertEqual(stage.statuses, [.poweredOff])
    }

    func testDiscoveryThatTheServiceStopsIsRestartedAfterAPause() {
        var stage = DBusStage()
        stage.begin()
        stage.adapterChanges(["Discovering": .boolean(false)])
        stage.wait(BlueZScanSettings.firstPause)
        XCTAssertEqual(stage.call, .startDiscovery(adapter: path))
    }

    func testAnUnpluggedAdapterIsReportedAndFoundAgainUnderAnotherName() throws {
        let address = try XCTUnwrap(DeviceAddress("C0:05:04:03:02:01"))
        var stage = DBusStage(adapter: .address(address))
        stage.begin()
        stage.wait(.seconds(60))
        stage.signal(
            "InterfacesRemoved", [.objectPath(path), .array([.string("org.bluez.Adapter1")], of: "s")])
        XCTAssertEqual(stage.statuses, [.unplugged])
        let back = DBusStage.interfaces(DBusStage.adapter())
        stage.signal("InterfacesAdded", [.objectPath("/org/bluez/hci1"), back])
        XCTAssertEqual(stage.call, .setFilter(adapter: "/org/bluez/hci1", duplicates: true))
        stage.answer()
        stage.answer()
        XCTAssertEqual(stage.events.map(\.adapter), ["hci1"])
    }

    func testTheDevicesOfAnUnpluggedAdapterAreRemoved() {
        var stage = DBusStage()
        stage.begin()
        stage.deviceAppears(DBusStage.beacon(rssi: -60))
        stage.signal(
            "InterfacesRemoved", [.objectPath(path), .array([.string("org.bluez.Adapter1")], of: "s")])
        XCTAssertEqual(stage.machine.memory.objects.devices, [:])
    }

    func testAnotherAdapterDoesNotDisturbTheOneThatScans() {
        var stage = DBusStage()
        stage.begin()
        let before = stage.machine.state
        stage.signal(
            "InterfacesAdded", [.objectPath("/org/bluez/hci1"), DBusStage.interfaces(DBusStage.adapter())])
        XCTAssertEqual(stage.directives, [])
        XCTAssertEqual(stage.machine.state, before)
    }

    func testAServiceRestartIsReportedAndTheScanResumes() {
        var stage = DBusStage()
        stage.begin()
        stage.ownerChanges(to: "")
        XCTAssertEqual(stage.statuses, [.serviceLost])
        XCTAssertNil(stage.machine.dueTime)
        stage.ownerChanges(to: DBusStage.owner)
        XCTAssertEqual(stage.call, .listObjects)
        stage.answer([DBusStage.objects([:])])
        XCTAssertEqual(stage.statuses, [])
        stage.signal("InterfacesAdded", [.objectPath(path), DBusStage.interfaces(DBusStage.adapter(isPowered: false))])
        XCTAssertEqual(stage.call, .setPower(adapter: path, true))
        stage.answer()
        stage.answer()
        stage.answer()
        XCTAssertEqual(stage.statuses, [.scanning])
    }

    func testTheScanReconnectsToALostBusAfterPausesOfOneToThirtySeconds() {
        var stage = DBusStage()
        stage.begin()
        stage.happen(.disconnected)
        XCTAssertEqual(stage.statuses, [.serviceLost])
        var pauses: [Duration] = []
        for _ in 1...7 {
            guard let due = stage.machine.dueTime else { return XCTFail("the scan doesn't retry") }
            pauses.append(stage.now.duration(to: due))
            stage.wait(stage.now.duration(to: due))
            XCTAssertEqual(stage.directives, [.connect])
            stage.happen(.connectionFailed(reason: "no such socket", isDenied: false))
        }
        XCTAssertEqual(pauses, [1, 2, 4, 8, 16, 30, 30].map(Duration.seconds))
        stage.begin()
        XCTAssertEqual(stage.statuses, [.scanning])
    }

    func testARefusedDiscoveryIsReportedOnceAndRetriedAfterAStop() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter()])])
        stage.answer()
        stage.refuse("org.bluez.Error.InProgress")
        XCTAssertEqual(stage.statuses, [.refused])
        stage.wait(.seconds(1))
        XCTAssertEqual(stage.call, .stopDiscovery(adapter: path))
        stage.refuse("org.bluez.Error.Failed")
        XCTAssertEqual(stage.call, .startDiscovery(adapter: path))
        stage.refuse("org.bluez.Error.InProgress")
        XCTAssertEqual(stage.statuses, [])
        stage.wait(.seconds(2))
        stage.answer()
        stage.answer()
        XCTAssertEqual(stage.statuses, [.scanning])
    }

    func testADiscoveryWithoutAnAnswerIsStartedAgain() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter()])])
        stage.answer()
        XCTAssertEqual(stage.call, .startDiscovery(adapter: path))
        stage.wait(BlueZScanSettings.timeout)
        XCTAssertEqual(stage.statuses, [.refused])
        stage.wait(BlueZScanSettings.firstPause)
        XCTAssertEqual(stage.call, .stopDiscovery(adapter: path))
        stage.answer()
        stage.answer()
        XCTAssertEqual(stage.statuses, [.scanning])
    }

    func testTheScanUsesAnotherProgramsDiscoveryWhileItsOwnIsRefused() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter()])])
        stage.answer()
        stage.adapterChanges(["Discovering": .boolean(true)])
        stage.refuse("org.bluez.Error.InProgress")
        XCTAssertEqual(stage.statuses, [.sharing])
        stage.deviceAppears(DBusStage.beacon(rssi: -60))
        XCTAssertEqual(stage.sightings.count, 1)
        stage.wait(.seconds(1))
        stage.answer()
        stage.refuse("org.bluez.Error.InProgress")
        XCTAssertEqual(stage.statuses, [])
        stage.deviceChanges(["RSSI": .int16(-61)])
        XCTAssertEqual(stage.sightings.count, 1)
        // The other program's discovery has ended: the scan soon tries its own.
        stage.adapterChanges(["Discovering": .boolean(false)])
        stage.wait(.seconds(1))
        stage.answer()
        stage.answer()
        XCTAssertEqual(stage.statuses, [.scanning])
    }

    func testSignalsCausedByAFailedCallDoNotShortenThePause() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter(isPowered: false, state: "off")])])
        stage.refuse("org.bluez.Error.Failed")
        XCTAssertEqual(stage.statuses, [.refused])
        let resting = stage.machine.state
        let noise: [BusProperties] = [
            ["PowerState": .string("off-enabling")], ["PowerState": .string("off")], ["Discovering": .boolean(true)],
            ["Discovering": .boolean(false)], ["Powered": .boolean(false)],
        ]
        for changes in noise {
            stage.adapterChanges(changes)
            XCTAssertEqual(stage.directives, [], "\(changes)")
            XCTAssertEqual(stage.machine.state, resting, "\(changes)")
        }
    }

    func testTheMonitorContinuesWhenDiscoveryIsRefused() {
        var stage = DBusStage()
        stage.happen(.connected)
        stage.answer([DBusStage.objects([path: DBusStage.adapter(supportsMonitors: true)])])
        stage.answer()
        stage.answer()
        stage.refuse("org.bluez.Error.NotReady")
        XCTAssertEqual(stage.statuses, [.sharing])
        stage.deviceAppears(DBusStage.beacon(rssi: -60))
        XCTAssertEqual(stage.sightings.count, 1)
    }

    func testAReleasedMonitorIsNotRegisteredAgainAndDiscoveryContinues() {
        var stage = DBusStage()
        stage.begin(supportsMonitors: true)
        var release = BusMessage.call(
            "Release", of: AdvertisementMonitor.interface, on: AdvertisementMonitor.path, at: ":1.9", serial: 4)
        release.sender = DBusStage.owner
        stage.happen(.received(release))
        XCTAssertEqual(stage.machine.memory.monitor, .refused)
        XCTAssertEqual(stage.statuses, [.scanning])
        XCTAssertNil(stage.call)
    }

    // MARK: - The end

    func testTheEndStopsOnlyWhatTheScanStarted() {
        var stage = DBusStage()
        stage.begin(supportsMonitors: true)
        stage.happen(.stop)
        XCTAssertEqual(stage.sentMembers, ["StopDiscovery"])
        stage.answer()
        XCTAssertEqual(stage.sentMembers, ["UnregisterMonitor"])
        stage.answer()
        XCTAssertEqual(stage.directives, [.close])
        XCTAssertEqual(stage.machine.state, .ended)
    }

    func testTheEndWaitsOnlyBrieflyForAServiceThatDoesNotAnswer() {
        var stage = DBusStage()
        stage.begin()
        stage.happen(.stop)
        stage.wait(BlueZScanSettings.timeoutAtEnd)
        XCTAssertEqual(stage.directives, [.close])
    }

    func testNothingHappensAfterTheEnd() {
        var stage = DBusStage()
        stage.begin()
        stage.happen(.stop)
        stage.answer()
        let events: [BlueZScanMachine.Event] = [
            .connected, .disconnected, .connectionFailed(reason: "", isDenied: true), .tick, .stop,
            .received(BusMessage(kind: .signal)),
        ]
        for event in events {
            stage.happen(event)
            XCTAssertEqual(stage.directives, [], "\(event)")
            XCTAssertEqual(stage.machine.state, .ended, "\(event)")
        }
    }

    func testAScanThatIsStoppedBeforeTheBusIsReachedJustCloses() {
        var stage = DBusStage()
        stage.happen(.stop)
        XCTAssertEqual(stage.directives, [.close])
    }
}
